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

/** Desired rules within the fences, in their order. */
export function fenced(desired: readonly DesiredRule[], fences: Fences, now: FencedNow): Fenced {
  const free = desired.filter((r) => !now.isExempt(r))
  const rules = free.slice(0, fences.rulesMax).map((r) => {
    const rate = now.inForce.get(r.name)
    const from = rate ?? now.servedBy(r)
    const least = Math.max(fences.floorRate, from === undefined ? 0 : Math.ceil(from * fences.fall))
    // A rule that is new limits what was free: there is nothing to be raised from.
    const most = rate === undefined ? Infinity : Math.max(fences.floorRate, Math.floor(rate * fences.rise), rate + 1)
    const to = Math.min(most, Math.max(least, r.rate))
    return to === r.rate ? r : { ...r, rate: to }
  })
  return { rules, left: { exempt: desired.length - free.length, overCap: free.length - rules.length } }
}

/**
 * Whether a job is the system's own: what root runs outside the batch system, which flushes, scrubs, backs up and lets people log
 * in. Job ids are taken as `EXECUTABLE.USER` or with the user's number behind the last dot; a batch job begins with its number.
 */
export function isSystemJob(jobId: string, user: string): boolean {
  if (/^\d+(?:[._]|$)/.test(jobId)) return false
  return user === 'root' || user === '0' || /\.(?:0|root)$/.test(jobId)
}
