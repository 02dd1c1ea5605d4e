/** Uniform: the same static rate for every job. Paper IV-A, V-C; spec/padll 6, rows 10 and 11. */
import type { Rates } from './algorithm.ts'
import type { Claim } from './claim.ts'

/**
 * `maxRate` / slots for each job, however many are active; by the number of jobs where more are there than slots, so that the
 * sum keeps the limit.
 *
 * @param slots  most jobs that are expected at a time; left out: the number of jobs.
 */
export function uniform(maxRate: number, claims: readonly Claim[], slots = 1): Rates {
  const rate = maxRate / Math.max(slots, claims.length)
  return new Map(claims.map(({ id }) => [id, rate]))
}
