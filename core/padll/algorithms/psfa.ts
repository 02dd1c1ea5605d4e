/**
 * Proportional sharing without false allocation (PSFA): a job that does not use its demand keeps only its usage and
 * some headroom; the rate that this frees is shared by usage. Paper IV-C, Algorithm 1; spec/padll 6.
 */
import type { Rates } from './algorithm.ts'
import { byDemand, type Claim } from './claim.ts'

/** Default headroom: the paper gives no value, this is the public code's (row 4). */
export const EPSILON = 0.25

/**
 * Rates that sum to `maxRate`. Algorithm 1, with the resolutions of spec/padll 6:
 *
 *     left = Max_R
 *     for each active job                                  by increasing demand (row 1)
 *       fair = left / Active                               Active counts the jobs not served yet (row 2)
 *       if usage <= demand                                 as printed, not the code's 0.95 * demand (row 3)
 *         rate = min(usage + (demand - usage) * epsilon, fair)
 *       else
 *         rate = min(demand, fair)
 *       left -= rate                                       never below 0 (row 18)
 *     for each active job
 *       rate += usage / total_usage * left                 usage is at least 1 (rows 6, 7)
 *
 * @param epsilon  0..1; 1 reserves whole demands.
 */
export function psfa(maxRate: number, claims: readonly Claim[], epsilon: number): Rates {
  const rates = new Map<string, number>()
  let unspent = maxRate
  let jobsLeft = claims.length
  let usages = 0
  for (const { id, demand, usage } of byDemand(claims)) {
    const fair = unspent / jobsLeft--
    const wanted = usage <= demand ? usage + (demand - usage) * epsilon : demand
    const rate = Math.min(wanted, fair)
    rates.set(id, rate)
    unspent = Math.max(0, unspent - rate)
    usages += usage
  }
  for (const { id, usage } of claims) rates.set(id, rates.get(id)! + (usage / usages) * unspent)
  return rates
}
