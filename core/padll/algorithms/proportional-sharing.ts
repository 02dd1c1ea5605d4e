/**
 * Proportional sharing (PSharing): max-min fair up to the demands, then the rest to all. A demand is a reservation, not a
 * cap: rates may exceed it. Paper IV-B; spec/padll 6, rows 1, 2, 12 and 14.
 */
import type { Rates } from './algorithm.ts'
import { byDemand, type Claim } from './claim.ts'

/** Rate that no job demands: shared equally (as in the public code) or by demand (the paper's wording). */
export type Leftover = 'equal' | 'proportional'

/**
 * Rates that sum to `maxRate`:
 *
 *     left = Max_R
 *     for each job by increasing demand, k of them not served yet:
 *       rate = min(demand, left / k);  left -= rate
 *     for each job:  rate += left / n        (or left * demand / sum of demands)
 */
export function proportionalSharing(maxRate: number, claims: readonly Claim[], leftover: Leftover): Rates {
  const rates = new Map<string, number>()
  let unspent = maxRate
  let jobsLeft = claims.length
  let demands = 0
  for (const { id, demand } of byDemand(claims)) {
    const rate = Math.min(demand, unspent / jobsLeft--)
    rates.set(id, rate)
    unspent = Math.max(0, unspent - rate)
    demands += demand
  }
  if (unspent === 0) return rates
  for (const { id, demand } of claims) {
    const share = leftover === 'equal' ? unspent / claims.length : unspent * (demand / demands)
    rates.set(id, rates.get(id)! + share)
  }
  return rates
}
