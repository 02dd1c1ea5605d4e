/** Static limits: every job that a policy names gets what the policy says. Paper V-A, V-B; spec/padll 5 (STATIC). */
import type { JobDemand, Rates } from './algorithm.ts'
import { type Oversubscription, scaled } from './scaled.ts'

/**
 * The limits of the policies. Jobs without one are left out: nothing limits them, so that the sum below covers named jobs
 * only.
 *
 * Deviation: spec/padll 6 row 9 lets a missing demand count as 1 op/s; for a limit that would stop jobs that nobody meant.
 * Row 10: limits beyond `maxRate` in sum are scaled down, unless `oversubscription` is `allow`.
 *
 * @param maxRate  op/s; may be Infinity.
 */
export function staticLimits(maxRate: number, jobs: readonly JobDemand[], oversubscription: Oversubscription): Rates {
  const limits = new Map(jobs.flatMap(({ id, demand }) => (demand === null ? [] : [[id, demand] as const])))
  return oversubscription === 'allow' ? limits : scaled(limits, maxRate)
}
