/** Bounds of the observation period. */
import { type Failure, type Result, fail, ok } from '../base/result.ts'
import { NS_PER_MS, NS_PER_S } from '../base/units.ts'

/** Shortest period, ns: twice the time of one cycle of the paper's prototype (IV-G, 25 ms). */
export const PERIOD_MIN_NS = 50 * NS_PER_MS
/** Longest period, ns: older rules would still respond to jobs that have ended. */
export const PERIOD_MAX_NS = 10 * NS_PER_S

/** Validates the period; returns it or the reason for refusing it. */
export function checkPeriod(periodNs: number): Result<number, Failure> {
  if (periodNs >= PERIOD_MIN_NS && periodNs <= PERIOD_MAX_NS) return ok(periodNs)
  const least = PERIOD_MIN_NS / NS_PER_MS
  const most = PERIOD_MAX_NS / NS_PER_S
  const next = `Use ${least} ms to ${most} s; the paper uses 100 ms.`
  return fail({ code: 'BAD_PERIOD', what: 'The observation period cannot be used', why: `got ${periodNs} ns`, next })
}
