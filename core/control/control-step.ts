/**
 * Control step: one period of one server under a controller, from decisions to rules within the fences, the plan to reach them, and the
 * action on the plan. The live loop and the sandbox share it; they differ in how they read and write a server's rules.
 *
 * A server with unmeasured targets is held: rules are never tightened without data. Plans are shown for a while before the first of them
 * is written. Rules of other owners are left in place (plan.ts).
 */
import type { ControllerName } from '../controllers/registry.ts'
import { NS_PER_S } from '../base/units.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { Decision, Mode } from './controller.ts'
import { desiredRules, type DesiredRule } from './desired-rule.ts'
import { fenced, type Fences } from './fences.ts'
import { planRules, type Plan } from './plan.ts'
import { withDeadband } from './rule-changes.ts'
import { Watchdog, type Sight } from './watchdog.ts'
import { WriteLimit, type LimitedRules } from './write-limit.ts'

/** One server at the end of a period. */
export interface ServerSeen {
  readonly server: string
  /** Rules in force as read; empty if the server does not run TBF. */
  readonly rules: readonly RuleLine[]
  /** `deltas` is undefined if a target was not measured. */
  readonly targets: readonly {
    readonly target: string
    readonly deltas: unknown
  }[]
  /** RPC/s served to a job in the period, all targets. */
  readonly servedPerSec: (jobId: string) => number
  /** True for a job of the system, which is never limited. */
  readonly isSystem: (jobId: string) => boolean
}

/** Source of decisions, one per target. */
export interface DecisionSource {
  /** Decides the period; requires measurements of every target. */
  decide(): readonly Decision[]
  /** Returns the last decisions again; no record moves. */
  hold(): readonly Decision[]
}

/** Rules and timers of this session on a server. */
export interface SessionRules {
  /** Rules of this session may be in force. */
  readonly isWritten: boolean
  /** A timer of this session is open. */
  readonly isCovered: boolean
}

/**
 * Action on the plan of one step.
 *
 * - `none`: no action.
 * - `show`: shown, not written.
 * - `announce`: shown, and the lease is created that tells other consoles that this session enforces.
 * - `write`: written.
 * - `relax`: rules are removed, because some targets of the server have not been measured for too long.
 * - `withdraw`: rules are removed, because the mode or the controller changed.
 */
export type Action = 'none' | 'show' | 'announce' | 'write' | 'relax' | 'withdraw'

/** Jobs without the rule that the controller wants for them, on one server. */
export interface UnthrottledJobs {
  readonly unmatchable: number
  readonly overCap: number
  /** Jobs of the system, which are never limited. */
  readonly exempt: number
  /** Jobs whose rule cannot be placed, because a foreign rule is last. */
  readonly unplaceable: number
}

/** Controller, its fences and its period. */
export interface StepTerms {
  readonly controller: ControllerName
  readonly fences: Fences
  readonly periodNs: number
  /** Deadband: a rate that differs by at most this from the one in force is not sent, %. */
  readonly deadbandPercent: number
}

/** Plan of one period within the write limit of the server. */
export interface LimitedPlan {
  readonly plan: Plan
  /** Starts and changes that were put off to a later period. */
  readonly putOff: number
}

/** One step; its rules and its plan are computed on demand. */
export class ServerStep {
  readonly sight: Sight
  readonly decisions: readonly Decision[]
  readonly #seen: ServerSeen
  readonly #terms: StepTerms
  #within: ReturnType<typeof fenced> | undefined
  #rates: ReadonlyMap<string, number> | undefined
  #unmatchable = 0
  #plan: Plan | undefined

  constructor(seen: ServerSeen, terms: StepTerms, sight: Sight, decisions: readonly Decision[]) {
    this.#seen = seen
    this.#terms = terms
    this.sight = sight
    this.decisions = decisions
  }

  get server(): string {
    return this.#seen.server
  }

  /** Rules that follow from the decisions within the fences, highest priority first. */
  get rules(): readonly DesiredRule[] {
    return this.#fenced().rules
  }

  /**
   * Plan from the rules in force to those wanted. Rates within the deadband stay, because every change hands each class a fresh bucket.
   */
  get plan(): Plan {
    return (this.#plan ??= planRules(this.server, this.#seen.rules, this.#settled()))
  }

  /** Part of the plan within a limit on writes. */
  planWithin(limit: (present: readonly RuleLine[], desired: readonly DesiredRule[]) => LimitedRules): LimitedPlan {
    const { rules: present } = this.#seen
    const { rules, putOff } = limit(present, this.#settled())
    return { plan: putOff === 0 ? this.plan : planRules(this.server, present, rules), putOff }
  }

  /** Jobs that the controller wants a rule for but that get none. */
  get unthrottled(): UnthrottledJobs {
    const { exempt, overCap } = this.#fenced().skipped
    return { unmatchable: this.#unmatchable, overCap, exempt, unplaceable: this.plan.unplaceable.length }
  }

  #fenced(): ReturnType<typeof fenced> {
    if (this.#within) return this.#within
    const seen = this.#seen
    const { controller, fences } = this.#terms
    const { rules, skipped } = desiredRules(controller, seen.server, this.decisions)
    const jobOf = new Map(this.decisions.flatMap((d) => d.allocations).map((a) => [`jobid={${a.jobId}}`, a.jobId]))
    const jobOfRule = (r: DesiredRule): string => jobOf.get(r.conditions) ?? ''
    const within = fenced(rules, fences, {
      inForce: this.#inForce(),
      servedBy: (r) => seen.servedPerSec(jobOfRule(r)),
      isExempt: (r) => seen.isSystem(jobOfRule(r)),
    })
    this.#unmatchable = skipped.unmatchable
    this.#within = {
      rules: within.rules,
      skipped: { ...within.skipped, overCap: skipped.overCap + within.skipped.overCap },
    }
    return this.#within
  }

  /** Rates by rule name. */
  #inForce(): ReadonlyMap<string, number> {
    if (!this.#rates) {
      const present = this.#seen.rules.filter((r) => r.queue === 'reg' && r.cpt === 0)
      this.#rates = new Map(present.map((r) => [r.name, r.rate]))
    }
    return this.#rates
  }

  #settled(): readonly DesiredRule[] {
    // A server without TBF accepts no rules.
    const desired = this.#seen.rules.length > 0 ? this.rules : []
    const percent = this.#terms.deadbandPercent
    if (percent === 0) return desired
    const rates = desired.map((r) => ({ jobId: r.name, ratePerSec: r.rate }))
    const settled = withDeadband(this.#inForce(), rates, { percent, ratePerSec: 0 })
    return desired.map((r, i) => ({ ...r, rate: settled[i]?.ratePerSec ?? r.rate }))
  }
}

/** Pause before a failed plan is sent again; it doubles from the least to the most. */
const PAUSE_NS = { least: NS_PER_S, most: 30 * NS_PER_S } as const

/** Control steps of one cluster: mode, shadow period, partially measured servers, and servers with failed plans. */
export class ControlSteps {
  readonly #watchdog: Watchdog
  /** End and length of the pause after a failed plan, by server. */
  readonly #pauses = new Map<string, { readonly untilNs: number; readonly pauseNs: number }>()
  readonly #limit = new WriteLimit()
  #terms: StepTerms
  #mode: Mode
  /** End of the shadow period, in which plans are shown but not written, so that a controller is reviewed before it acts. */
  #shadowNs: number
  /** Start of showing plans. */
  #shownSinceNs: number | undefined

  constructor(terms: StepTerms, mode: Mode, nowNs: number) {
    this.#terms = terms
    this.#watchdog = new Watchdog(terms.fences.holdNs)
    this.#mode = mode
    this.#shownSinceNs = mode === 'advise' ? nowNs : undefined
    this.#shadowNs = nowNs + terms.fences.shadowNs
  }

  get mode(): Mode {
    return this.#mode
  }

  /** Bounds on the controller. */
  get fences(): Fences {
    return this.#terms.fences
  }

  /** Time for which plans are only shown although the mode is enforce, ns. */
  shadowRemainingNs(nowNs: number): number {
    return this.#mode === 'enforce' ? Math.max(0, this.#shadowNs - nowNs) : 0
  }

  /** True while plans are written. */
  isWriting(nowNs: number): boolean {
    return this.#mode === 'enforce' && this.shadowRemainingNs(nowNs) === 0
  }

  setMode(mode: Mode, nowNs: number): void {
    if (mode === 'advise') this.#shownSinceNs ??= nowNs
    // Time in which its plans were already shown counts.
    if (mode === 'enforce') this.#shadowNs = (this.#shownSinceNs ?? nowNs) + this.fences.shadowNs
    if (mode === 'observe') this.#shownSinceNs = undefined
    this.#mode = mode
    this.#pauses.clear()
  }

  /** Changes the controller and starts a new shadow period. */
  setController(controller: ControllerName, nowNs: number): void {
    this.#terms = { ...this.#terms, controller }
    if (this.#mode === 'advise') this.#shownSinceNs = nowNs
    this.#shadowNs = nowNs + this.fences.shadowNs
  }

  /** Changes settings between two periods. */
  setTerms(terms: Pick<StepTerms, 'periodNs' | 'deadbandPercent'>): void {
    this.#terms = { ...this.#terms, ...terms }
  }

  /** Computes the step of one server for the period that ended at `nowNs`. */
  take(seen: ServerSeen, deciding: DecisionSource, nowNs: number): ServerStep {
    // The rules of a server are sums over its targets, so one unmeasured target holds all of them, and after a while removes them.
    const sight = this.#watchdog.look(seen.server, seen.targets, nowNs)
    if (this.#mode === 'observe') return new ServerStep(seen, this.#terms, sight, [])
    const decisions = sight === 'act' ? deciding.decide() : deciding.hold()
    return new ServerStep(seen, this.#terms, sight, decisions)
  }

  /** Returns the action on a step in the current mode. */
  actionOf(step: ServerStep, rules: SessionRules, nowNs: number): Action {
    const isActing = step.sight === 'act'
    if (this.#mode !== 'enforce') {
      if (rules.isWritten || rules.isCovered) return 'withdraw'
      return this.#mode === 'advise' && isActing ? 'show' : 'none'
    }
    if (step.sight === 'relax') return 'relax'
    if (this.shadowRemainingNs(nowNs) === 0) return isActing && !this.#isPaused(step.server, nowNs) ? 'write' : 'none'
    // Rules of the previous controller.
    if (rules.isWritten) return 'withdraw'
    if (!isActing) return 'none'
    return step.rules.length > 0 ? 'announce' : 'show'
  }

  /** Plan to write in this period, within the fence on changes per second. */
  planToWrite(step: ServerStep, nowNs: number): LimitedPlan {
    const { changesPerSec } = this.fences
    return step.planWithin((present, desired) => this.#limit.take(step.server, present, desired, changesPerSec, nowNs))
  }

  /** Records a plan that was applied. */
  planApplied(server: string): void {
    this.#pauses.delete(server)
  }

  /** Records a plan that failed. @returns  the pause before the next one, ns */
  refused(server: string, nowNs: number): number {
    const pauseNs = Math.min(PAUSE_NS.most, (this.#pauses.get(server)?.pauseNs ?? PAUSE_NS.least / 2) * 2)
    this.#pauses.set(server, { untilNs: nowNs + pauseNs, pauseNs })
    return pauseNs
  }

  #isPaused(server: string, nowNs: number): boolean {
    return nowNs < (this.#pauses.get(server)?.untilNs ?? -Infinity)
  }
}
