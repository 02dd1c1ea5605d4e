/** Token budget of one target per period. */
import { EPS } from './rounding.ts'

/** Largest budget of a period, tokens; records over thousands of such periods are still exact integers in a double. */
export const MAX_BUDGET = 1e12

/**
 * Tokens of one period: M = floor(T * dt), computed as in exact decimals (1000/s * 0.29 s is 290, not 289).
 *
 * Source: AdapTBF III-C1, the constraint of equation (2). Deviations: the lost fraction (< 1 token) is not carried.
 *
 * @param maxRatePerSec  largest token rate of the target, RPC/s, > 0.
 * @param dtSeconds      nominal length of the period, s, > 0.
 */
export function tokenBudget(maxRatePerSec: number, dtSeconds: number): number {
  const product = maxRatePerSec * dtSeconds
  const nearest = Math.round(product)
  // Both factors and their product are each within half a unit in the last place of the intended decimals.
  const tolerance = Math.max(EPS, product * 2 ** -51)
  return Math.abs(product - nearest) <= tolerance ? nearest : Math.floor(product)
}
