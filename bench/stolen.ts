/** How much of the processor time that was wanted went to other machines on the same hardware: what tells a disturbed figure from a slow one. */
import { readFileSync } from 'node:fs'

/** Fields of the first line of /proc/stat: idle and waiting for disks are time that nobody wanted. */
const [IDLE, IOWAIT, STEAL] = [3, 4, 7]

interface Ticks {
  readonly wanted: number
  readonly stolen: number
}

/** Zeros where the system does not tell. */
function ticks(): Ticks {
  try {
    const fields = (readFileSync('/proc/stat', 'latin1').split('\n')[0] ?? '')
      .trim()
      .split(/\s+/)
      .slice(1, 9)
      .map(Number)
    const idle = (fields[IDLE] ?? 0) + (fields[IOWAIT] ?? 0)
    return { wanted: fields.reduce((sum, n) => sum + n, 0) - idle, stolen: fields[STEAL] ?? 0 }
  } catch {
    return { wanted: 0, stolen: 0 }
  }
}

/** Starts looking. @returns the share since then, 0 to 1 */
export function stolenShare(): () => number {
  const from = ticks()
  return () => {
    const to = ticks()
    const wanted = to.wanted - from.wanted
    return wanted > 0 ? (to.stolen - from.stolen) / wanted : 0
  }
}
