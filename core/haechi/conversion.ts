/**
 * Token conversion: refill target of the pool at time t of a period (step T2, spec/haechi 7).
 *
 * Default `ledger` never grants more than omega in a period (A7); `literal` is the paper's max(C_G (T - t) - L, 0), which ignores tokens
 * already granted; `budget` bounds by completions instead of grants; `deadline` bounds `ledger` by `releasable` (`deadline.ts`).
 */
import { grantedBetween } from './claim.ts'
import { proportion } from './proportion.ts'
import type { ConversionRule } from '../controllers/settings.ts'

export interface ConversionInput {
  /** I/Os the node can still serve in this period: `remainingCapacity`. */
  readonly timeCap: number
  /** L: sum of the last reported residual reservations. */
  readonly residual: number
  /** Tokens of this period. */
  readonly omega: number
  /** Sum of the reservations granted in this period. */
  readonly reserved: number
  /** Reservation tokens that engines yielded in this period. */
  readonly yielded: number
  /** Global tokens claimed by FAAs in this period. */
  readonly claimed: number
  /** U so far: sum of the last reported completions. */
  readonly completed: number
  /** Upper bound of `deadline`; Infinity where that rule falls back to `ledger`. */
  readonly releasable: number
}

/** floor(omega (T - t) / T), 0 past the end. */
export const remainingCapacity = (omega: number, elapsedNs: number, periodNs: number): number =>
  elapsedNs >= periodNs ? 0 : proportion(omega, periodNs - elapsedNs, periodNs)

export function conversionTarget(rule: Exclude<ConversionRule, 'none'>, c: ConversionInput): number {
  const byTime = c.timeCap - c.residual
  if (rule === 'literal') return Math.max(0, byTime)
  const unclaimed =
    rule === 'budget' ? c.omega - c.completed - c.residual : c.omega - c.reserved + c.yielded - c.claimed
  return Math.max(0, Math.min(byTime, unclaimed, rule === 'deadline' ? c.releasable : Infinity))
}

/** A CAS expected `expected` and found less: subtracts the tokens granted to FAAs in between from the target (A8). */
export const lowerTarget = (target: number, expected: number, found: number): number =>
  Math.max(0, target - grantedBetween(expected, found))
