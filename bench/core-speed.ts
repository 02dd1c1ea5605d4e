/**
 * Speed of a core at the time of a run: the effect of other guests on shared caches and clocks, which no counter here shows.
 */
import { median } from '#core/base/statistics.ts'

const STEPS = 4e6
const LOOPS = 7

/** Time per step of a chain of dependent 32-bit multiplications; ns of processor time, median of seven loops. */
export function stepNs(): number {
  return median(Array.from({ length: LOOPS }, loopNs))
}

function loopNs(): number {
  const from = process.cpuUsage()
  let x = 1
  // All values fit in 32 bits, so code of every compiler tier takes the same time.
  for (let i = 0; i < STEPS; i++) x = Math.imul(x, 1_664_525) ^ i
  const { user, system } = process.cpuUsage(from)
  // Uses the result, so that the chain is not optimized away.
  return x === 0.5 ? NaN : ((user + system) * 1000) / STEPS
}
