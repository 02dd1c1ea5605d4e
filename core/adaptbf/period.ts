/** How long an observation period may be. */
import { type Failure, type Result, fail, ok } from '../base/result.ts'
import { NS_PER_MS, NS_PER_S } from '../base/units.ts'

/** Shortest period, ns: half of it is what the paper's prototype needs for one cycle (IV-G, 25 ms). */
export const PERIOD_MIN_NS = 50 * NS_PER_MS
/** Longest period, ns: rules older than that answer to jobs that are gone. */
export const PERIOD_MAX_NS = 10 * NS_PER_S

/** The period itself, or why it is refused. */
export function checkPeriod(periodNs: number): Result<number, Failure> {
  if (periodNs >= PERIOD_MIN_NS && periodNs <= PERIOD_MAX_NS) return ok(periodNs)
  const [least, most] = [PERIOD_MIN_NS / NS_PER_MS, PERIOD_MAX_NS / NS_PER_S]
  const next = `Give ${least} ms to ${most} s; 100 ms is what the paper uses.`
  return fail({ code: 'BAD_PERIOD', what: 'The observation period cannot be used', why: `got ${periodNs} ns`, next })
}
