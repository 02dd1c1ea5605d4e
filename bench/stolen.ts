/**
 * Share of the requested processor time that went to other guests on the same hardware; distinguishes a disturbed result from a
 * slow one.
 */
import { readFileSync } from 'node:fs'

/** Fields of the first line of /proc/stat: idle and iowait are time not requested. */
const IDLE = 3
const IOWAIT = 4
const STEAL = 7

interface Ticks {
  readonly wanted: number
  readonly stolen: number
}

/** Zeros if the system does not report them. */
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

/** Starts measuring. @returns the share since then, 0 to 1 */
export function stolenShare(): () => number {
  const from = ticks()
  return () => {
    const to = ticks()
    const wanted = to.wanted - from.wanted
    return wanted > 0 ? (to.stolen - from.stolen) / wanted : 0
  }
}
