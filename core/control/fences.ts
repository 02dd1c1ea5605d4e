/**
 * What a controller may do at most, whatever it decides: a floor under every rate, a largest step from one interval to the next,
 * a number of rules, and jobs that are never limited. Names, queue and place are fenced where commands are planned (plan.ts).
 */
import { RULES_MAX, type DesiredRule } from './desired-rule.ts'

export interface Fences {
  /** No rule below this, RPC/s per class. */
  readonly floorRate: number
  /** Least part of its rate that a rule keeps from one interval to the next; a new rule, of what its job was served. 0: no limit. */
  readonly fall: number
  /** Largest factor by which a rule is raised at once; Infinity: no limit. */
  readonly rise: number
  /** Most rules on one server. */
  readonly rulesMax: number
  /** How long plans of a controller are shown before they are written, ns. */
  readonly shadowNs: number
  /** How long rules are held on a partial observation before they are removed, ns. */
  readonly holdNs: number
}

/** A model is there to show what a controller does: only what keeps it from harm that it cannot show. */
export const MODEL_FENCES: Fences = {
  floorRate: 1,
  fall: 0,
  rise: Infinity,
  rulesMax: RULES_MAX,
  shadowNs: 0,
  holdNs: 10e9,
}

/** Real servers: a wrong decision starves nobody in one step, and is seen before it is written. */
export const LIVE_FENCES: Fences = {
  floorRate: 5,
  fall: 0.5,
  rise: 4,
  rulesMax: RULES_MAX,
  shadowNs: 10e9,
  holdNs: 10e9,
}

/** What the fences are judged by, on one server. */
export interface FencedNow {
  /** Rates in force, by rule name. */
  readonly inForce: ReadonlyMap<string, number>
  /** RPC/s that the job of a rule was served in the last interval; undefined where it is not known. */
  readonly servedBy: (rule: DesiredRule) => number | undefined
  /** Whether the job of a rule is never limited. */
  readonly isExempt: (rule: DesiredRule) => boolean
}

export interface Fenced {
  readonly rules: readonly DesiredRule[]
  readonly left: { readonly exempt: number; readonly overCap: number }
}

/**
 * A wanted rate within the floor and the largest step.
 *
 * @param inForce  rate of the rule as it is; undefined for a new one.
 * @param served   RPC/s that its job was served of late; undefined where it is not known.
 */
export function rateWithin(
  wanted: number,
  fences: Pick<Fences, 'floorRate' | 'fall' | 'rise'>,
  inForce: number | undefined,
  served: number | undefined,
): number {
  const from = inForce ?? served
  const least = Math.max(fences.floorRate, from === undefined ? 0 : Math.ceil(from * fences.fall))
  // A rule that is new limits what was free: there is nothing to be raised from.
  const most =
    inForce === undefined ? Infinity : Math.max(fences.floorRate, Math.floor(inForce * fences.rise), inForce + 1)
  return Math.min(most, Math.max(least, wanted))
}

/** Desired rules within the fences, in their order. */
export function fenced(desired: readonly DesiredRule[], fences: Fences, now: FencedNow): Fenced {
  const free = desired.filter((r) => !now.isExempt(r))
  const rules = free.slice(0, fences.rulesMax).map((r) => {
    const inForce = now.inForce.get(r.name)
    const to = rateWithin(r.rate, fences, inForce, inForce === undefined ? now.servedBy(r) : undefined)
    return to === r.rate ? r : { ...r, rate: to }
  })
  return { rules, left: { exempt: desired.length - free.length, overCap: free.length - rules.length } }
}
