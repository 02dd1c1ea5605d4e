/**
 * One period of one server under a controller: what is decided for it, the rules that this comes to within the fences, the plan that
 * brings the server there, and what is to become of the plan. The live loop and the sandbox take the same steps; they differ in how they
 * read a server and how they write its rules.
 *
 * A server of which some targets were not measured is held: its rules are never tightened blind. Plans are shown for a while before the
 * first of them is written. Rules of any other owner are planned around (plan.ts).
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

/** One server at the end of a period. */
export interface ServerSeen {
  readonly server: string
  /** Rules in force as they were read; none where the server does not run TBF. */
  readonly rules: readonly RuleLine[]
  /** `deltas` is undefined where a target was not measured. */
  readonly targets: readonly {
    readonly target: string
    readonly deltas: unknown
  }[]
  /** RPC/s that a job was served in the period, all targets. */
  readonly servedPerSec: (jobId: string) => number
  /** Whether a job is the system's own, which is never limited. */
  readonly isSystem: (jobId: string) => boolean
}

/** Source of decisions, one per target. */
export interface Deciding {
  /** Decides the period; every target was measured. */
  decide(): readonly Decision[]
  /** The last decisions again, which move no record. */
  hold(): readonly Decision[]
}

/** Rules and timers of this session on a server. */
export interface Standing {
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
export interface LeftOut {
  readonly unmatchable: number
  readonly overCap: number
  /** The system's own, which are never limited. */
  readonly exempt: number
  /** With no place behind rules of somebody else. */
  readonly shut: number
}

/** Controller, its fences and its period. */
export interface StepTerms {
  readonly controller: ControllerName
  readonly fences: Fences
  readonly periodNs: number
  /** A rate that differs by no more than this from the one in force is not sent, %. */
  readonly deadbandPercent: number
}

/** One step; its rules and its plan are computed when they are asked for. */
export class ServerStep {
  readonly sight: Sight
  readonly decisions: readonly Decision[]
  readonly #seen: ServerSeen
  readonly #terms: StepTerms
  #within: ReturnType<typeof fenced> | undefined
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

  /** Rules that the decisions come to within the fences, highest priority first. */
  get rules(): readonly DesiredRule[] {
    return this.#fenced().rules
  }

  /** From the rules in force to those wanted. Rates within the deadband stay: every change hands each class a fresh bucket. */
  get plan(): Plan {
    if (!this.#plan) {
      const { server, rules } = this.#seen
      // A server without TBF takes no rule.
      this.#plan = planRules(server, rules, rules.length > 0 ? this.#settled() : [])
    }
    return this.#plan
  }

  /** Jobs that the controller wants a rule for and that get none. */
  get left(): LeftOut {
    const { exempt, overCap } = this.#fenced().left
    return { unmatchable: this.#unmatchable, overCap, exempt, shut: this.plan.shut.length }
  }

  #fenced(): ReturnType<typeof fenced> {
    if (this.#within) return this.#within
    const seen = this.#seen
    const { controller, fences } = this.#terms
    const { rules, left } = desiredRules(controller, seen.server, this.decisions)
    const jobOf = new Map(this.decisions.flatMap((d) => d.allocations).map((a) => [`jobid={${a.jobId}}`, a.jobId]))
    const jobOfRule = (r: DesiredRule): string => jobOf.get(r.conditions) ?? ''
    const within = fenced(rules, fences, {
      inForce: this.#inForce(),
      servedBy: (r) => seen.servedPerSec(jobOfRule(r)),
      isExempt: (r) => seen.isSystem(jobOfRule(r)),
    })
    this.#unmatchable = left.unmatchable
    this.#within = { rules: within.rules, left: { ...within.left, overCap: left.overCap + within.left.overCap } }
    return this.#within
  }

  /** Rates by rule name. */
  #inForce(): Map<string, number> {
    const present = this.#seen.rules.filter((r) => r.queue === 'reg' && r.cpt === 0)
    return new Map(present.map((r) => [r.name, r.rate]))
  }

  #settled(): readonly DesiredRule[] {
    const desired = this.rules
    const percent = this.#terms.deadbandPercent
    if (percent === 0) return desired
    const rates = desired.map((r) => ({ jobId: r.name, ratePerSec: r.rate }))
    const settled = withDeadband(this.#inForce(), rates, { percent, ratePerSec: 0 })
    return desired.map((r, i) => ({ ...r, rate: settled[i]?.ratePerSec ?? r.rate }))
  }
}

/** Pause before a plan that did not come true is sent again; it doubles from the least to the most. */
const PAUSE_NS = { least: NS_PER_S, most: 30 * NS_PER_S } as const

/** The steps of one cluster: its mode, since when plans are shown, which servers are seen in part, and which refused their plans. */
export class ControlSteps {
  readonly #watchdog: Watchdog
  /** Until when a server whose plan did not come true is left alone, and how long that pause is. */
  readonly #pauses = new Map<string, { readonly untilNs: number; readonly pauseNs: number }>()
  #terms: StepTerms
  #mode: Mode
  /** Until then plans are shown and not written: a controller is looked at before it acts. */
  #shadowNs: number
  /** Since when plans have been shown. */
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

  /** What a controller may do at most. */
  get fences(): Fences {
    return this.#terms.fences
  }

  /** Time for which plans are still only shown although the mode is enforce, ns. */
  shadowLeftNs(nowNs: number): number {
    return this.#mode === 'enforce' ? Math.max(0, this.#shadowNs - nowNs) : 0
  }

  /** Whether plans are written now. */
  isWriting(nowNs: number): boolean {
    return this.#mode === 'enforce' && this.shadowLeftNs(nowNs) === 0
  }

  setMode(mode: Mode, nowNs: number): void {
    if (mode === 'advise') this.#shownSinceNs ??= nowNs
    // Time in which its plans were shown already counts.
    if (mode === 'enforce') this.#shadowNs = (this.#shownSinceNs ?? nowNs) + this.fences.shadowNs
    if (mode === 'observe') this.#shownSinceNs = undefined
    this.#mode = mode
    this.#pauses.clear()
  }

  /** Another controller is looked at before it acts. */
  setController(controller: ControllerName, nowNs: number): void {
    this.#terms = { ...this.#terms, controller }
    if (this.#mode === 'advise') this.#shownSinceNs = nowNs
    this.#shadowNs = nowNs + this.fences.shadowNs
  }

  /** Settings that may change between two periods. */
  setTerms(terms: Pick<StepTerms, 'periodNs' | 'deadbandPercent'>): void {
    this.#terms = { ...this.#terms, ...terms }
  }

  /** The step of one server for the period that ended at `nowNs`. */
  take(seen: ServerSeen, deciding: Deciding, nowNs: number): ServerStep {
    // The rules of a server are sums over its targets, so one target without a measure holds all of them, and after a while removes them.
    const sight = this.#watchdog.look(seen.server, seen.targets, nowNs)
    if (this.#mode === 'observe') return new ServerStep(seen, this.#terms, sight, [])
    const decisions = sight === 'act' ? deciding.decide() : deciding.hold()
    return new ServerStep(seen, this.#terms, sight, decisions)
  }

  /** Action that follows from a step in the present mode. */
  actionOf(step: ServerStep, standing: Standing, nowNs: number): Action {
    const isActing = step.sight === 'act'
    if (this.#mode !== 'enforce') {
      if (standing.isWritten || standing.isCovered) return 'withdraw'
      return this.#mode === 'advise' && isActing ? 'show' : 'none'
    }
    if (step.sight === 'relax') return 'relax'
    if (this.shadowLeftNs(nowNs) === 0) return isActing && !this.#isPaused(step.server, nowNs) ? 'write' : 'none'
    // Rules of a controller that was changed for this one.
    if (standing.isWritten) return 'withdraw'
    if (!isActing) return 'none'
    return step.rules.length > 0 ? 'announce' : 'show'
  }

  /** A plan that was written came true. */
  cameTrue(server: string): void {
    this.#pauses.delete(server)
  }

  /** A plan that was written did not come true. @returns  the pause before the next one is, ns */
  refused(server: string, nowNs: number): number {
    const pauseNs = Math.min(PAUSE_NS.most, (this.#pauses.get(server)?.pauseNs ?? PAUSE_NS.least / 2) * 2)
    this.#pauses.set(server, { untilNs: nowNs + pauseNs, pauseNs })
    return pauseNs
  }

  #isPaused(server: string, nowNs: number): boolean {
    return nowNs < (this.#pauses.get(server)?.untilNs ?? -Infinity)
  }
}
