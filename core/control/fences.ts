/**
 * Fences: bounds on every controller's decisions. They set a minimum rate, a maximum step per interval, a maximum number
 * of rules, and exempt jobs. Names, queue and position are enforced in plan.ts.
 */
import { RULES_MAX, type DesiredRule } from './desired-rule.ts'

export interface Fences {
  /** No rule below this, RPC/s per class. */
  readonly floorRate: number
  /**
   * Smallest fraction of its rate that a rule keeps from one interval to the next; for a new rule, of its job's served rate. 0: no limit.
   */
  readonly fall: number
  /** Largest factor by which a rate rises in one step; Infinity: no limit. */
  readonly rise: number
  /** Most rules on one server. */
  readonly rulesMax: number
  /** Most rules that are started or changed on one server per second; removals are not limited. Infinity: no limit. */
  readonly changesPerSec: number
  /** Shadow period: time for which plans of a controller are shown before they are written, ns. */
  readonly shadowNs: number
  /** Time for which rules are held on a partial observation before they are removed, ns. */
  readonly holdNs: number
}

/** Fences for models, which show the controller's own behavior: only bounds against harm that a model cannot show. */
export const MODEL_FENCES: Fences = {
  floorRate: 1,
  fall: 0,
  rise: Infinity,
  rulesMax: RULES_MAX,
  changesPerSec: Infinity,
  shadowNs: 0,
  holdNs: 10e9,
}

/** Fences for real servers: a wrong decision starves no job in one step, and is visible before it is written. */
export const LIVE_FENCES: Fences = {
  floorRate: 5,
  fall: 0.5,
  rise: 4,
  rulesMax: RULES_MAX,
  changesPerSec: 200,
  shadowNs: 10e9,
  holdNs: 10e9,
}

/** State of one server that the fences are applied to. */
export interface FencedNow {
  /** Rates in force, by rule name. */
  readonly inForce: ReadonlyMap<string, number>
  /** RPC/s served to the job of a rule in the last interval; undefined if unknown. */
  readonly servedBy: (rule: DesiredRule) => number | undefined
  /** True if the job of a rule is never limited. */
  readonly isExempt: (rule: DesiredRule) => boolean
}

export interface Fenced {
  readonly rules: readonly DesiredRule[]
  readonly skipped: { readonly exempt: number; readonly overCap: number }
}

/**
 * Limits a wanted rate to the floor and the largest step.
 *
 * @param inForce  current rate of the rule; undefined for a new one.
 * @param served   recent served RPC/s of its job; undefined if unknown.
 */
export function rateWithin(
  wanted: number,
  fences: Pick<Fences, 'floorRate' | 'fall' | 'rise'>,
  inForce: number | undefined,
  served: number | undefined,
): number {
  const from = inForce ?? served
  const least = Math.max(fences.floorRate, from === undefined ? 0 : Math.ceil(from * fences.fall))
  // A new rule limits a job without a limit: there is no rate to rise from.
  const most =
    inForce === undefined ? Infinity : Math.max(fences.floorRate, Math.floor(inForce * fences.rise), inForce + 1)
  return Math.min(most, Math.max(least, wanted))
}

/** Applies the fences to the desired rules, in their order. */
export function fenced(desired: readonly DesiredRule[], fences: Fences, now: FencedNow): Fenced {
  const free = desired.filter((r) => !now.isExempt(r))
  const rules = free.slice(0, fences.rulesMax).map((r) => {
    const inForce = now.inForce.get(r.name)
    const to = rateWithin(r.rate, fences, inForce, inForce === undefined ? now.servedBy(r) : undefined)
    return to === r.rate ? r : { ...r, rate: to }
  })
  return { rules, skipped: { exempt: desired.length - free.length, overCap: free.length - rules.length } }
}
