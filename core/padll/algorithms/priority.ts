/** Priority: each job has its demand as a static rate, and nobody gets what is left. Paper IV-A; spec/padll 6, row 10. */
import type { Rates } from './algorithm.ts'
import type { Claim } from './claim.ts'
import { type Oversubscription, scaled } from './scaled.ts'

/** The demands, scaled down to `maxRate` in sum unless `oversubscription` is `allow` (as in the public code). */
export function priority(maxRate: number, claims: readonly Claim[], oversubscription: Oversubscription): Rates {
  const demands = new Map(claims.map(({ id, demand }) => [id, demand]))
  return oversubscription === 'allow' ? demands : scaled(demands, maxRate)
}
