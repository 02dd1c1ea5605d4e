/** How fast a core was at the time: what other machines on the hardware do to shared caches and clocks, which no counter here tells. */
import { median } from '#core/base/statistics.ts'

const [STEPS, LOOPS] = [4e6, 7]

/** Time of a step of a chain of 32-bit multiplications, each waiting for the one before; ns of processor time, median of seven loops. */
export function stepNs(): number {
  return median(Array.from({ length: LOOPS }, loopNs))
}

function loopNs(): number {
  const from = process.cpuUsage()
  let x = 1
  // Nothing in it leaves 32 bits: code of every tier of the compiler takes as long.
  for (let i = 0; i < STEPS; i++) x = Math.imul(x, 1_664_525) ^ i
  const { user, system } = process.cpuUsage(from)
  // Used, so that the chain is not left out.
  return x === 0.5 ? NaN : ((user + system) * 1000) / STEPS
}
