/**
 * Control loop of one OSS inside the model: the controllers of its OSTs are fed from the emulator's own counters, and
 * their decisions become rules of its scheduler, without the console's reading and writing of text.
 *
 * As in the console, the first reading is the baseline, and values from server counters need one more.
 */
import { AdapTbfController } from '../adaptbf/controller.ts'
import { makeController } from '../adaptbf/make-controller.ts'
import type { JobMeasure } from '../adaptbf/demand.ts'
import { measuresOf } from '../adaptbf/loop-options.ts'
import type { Controller, Decision, Observation } from '../control/controller.ts'
import { ControlSteps, type DecisionSource, type ServerSeen } from '../control/control-step.ts'
import { haveLapsed } from '../control/desired-rule.ts'
import { ADAPTBF, isControllerRule } from '../controllers/registry.ts'
import { NS_PER_S } from '../base/units.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { EmulatedOss, EmulatedOst, JobFlow } from '../emulator/oss.ts'
import type { Regime } from './control-regime.ts'
import type { JobQueue } from './control-queue.ts'
import { isSystemJob, ruleWriter, planWriter, type Remark, type RuleWriter } from './control-writer.ts'

/** Demand measures that need only job_stats. */
const FROM_JOB_STATS: ReadonlySet<string> = new Set(measuresOf({ backlog: false, deviceBusy: false }))
/** Readings before server counters are used: the baseline, and the baseline of the counters. */
const COUNTERS_FROM = 2

/** A job on one OST, with its counters at the last reading. */
interface Seen {
  readonly jobId: string
  nodes: number | undefined
  readonly flow: JobFlow
  arrived: number
  dispatched: number
  served: number
}

/** One OST, with its state at the last reading. */
interface Watched {
  readonly ost: EmulatedOst
  readonly controller: Controller
  /** Jobs seen, in the order of the OST's counters. */
  readonly seen: Seen[]
  /** Jobs with tokens in the last decision. */
  ruled: readonly string[]
  busyNs: number
  atNs: number
}

/** Inputs of ServerControl. */
export interface ServerControlParts {
  readonly regime: Regime
  /** Start of the regime. */
  readonly nowNs: number
  readonly jobs: JobQueue
  /** Called for each refusal of the server. */
  readonly remark: Remark
  /** Set to write plans as text, even where the server allows a faster writer. */
  readonly asText: boolean
}

export class ServerControl {
  readonly #oss: EmulatedOss
  readonly #regime: Regime
  readonly #jobs: JobQueue
  readonly #targets: readonly Watched[]
  readonly #readsCounters: boolean
  readonly #steps: ControlSteps
  readonly #writer: RuleWriter
  /** Set while rules of a controller may be in force. */
  #isWritten: boolean
  #readings = 0

  constructor(oss: EmulatedOss, { regime, nowNs, jobs, remark, asText }: ServerControlParts) {
    this.#oss = oss
    this.#regime = regime
    this.#jobs = jobs
    this.#readsCounters = regime.options.autoT || !FROM_JOB_STATS.has(regime.options.demand)
    this.#targets = oss.osts.map((ost) => ({ ost, controller: this.#make(), seen: [], ruled: [], busyNs: 0, atNs: 0 }))
    const { controller, fences, periodNs, options } = regime
    const terms = { controller, fences, periodNs, deadbandPercent: options.deadbandPercent }
    this.#steps = new ControlSteps(terms, 'enforce', nowNs)
    this.#isWritten = oss.io.nrs.rules().some((r) => isControllerRule(r.name))
    this.#writer = asText ? planWriter(oss, remark) : ruleWriter(oss, regime, jobs, remark)
  }

  #make(): Controller {
    const { controller, maxRate: maxRatePerSec, options } = this.#regime
    const { demand, coefficient, overdraft, autoT } = options
    return makeController(controller, { maxRatePerSec, demand, coefficient, overdraft, autoT, pairLedger: false })
  }

  get keepsRecords(): boolean {
    return this.#targets.some((t) => t.controller instanceof AdapTbfController)
  }

  /** Tokens lent or borrowed by job, over the OSTs of the server; empty without a ledger. */
  records(): Map<string, number> {
    const sums = new Map<string, number>()
    for (const { controller } of this.#targets) {
      if (!(controller instanceof AdapTbfController)) continue
      for (const [id, record] of controller.records()) sums.set(id, (sums.get(id) ?? 0) + record)
    }
    return sums
  }

  /** Performs the step of the period that ended now. */
  step(nowNs: number): void {
    const { controller, periodNs } = this.#regime
    if (controller === 'none') return
    const observations = this.#targets.map((t): Observation & { readonly deviceBusy: number | undefined } => {
      const jobs = this.#read(t)
      return { target: t.ost.name, atNs: nowNs, periodNs, jobs, deviceBusy: this.#busyShare(t, nowNs) }
    })
    // As on a server, the first reading is the baseline and measures nothing.
    if (this.#readings++ === 0) return
    const seen = this.#seen(observations)
    const deciding: DecisionSource = {
      decide: () => this.#targets.map((t, i) => this.#decide(t, observations[i] as Observation, seen)),
      hold: () =>
        this.#targets.flatMap((t) =>
          t.controller instanceof AdapTbfController ? [t.controller.hold(t.ost.name, nowNs)] : [],
        ),
    }
    const step = this.#steps.take(seen, deciding, nowNs)
    const state = { isWritten: this.#isWritten, isCovered: false }
    const action = this.#steps.actionOf(step, state, nowNs)
    if (action === 'write') {
      this.#isWritten = true
      if (this.#writer.write(step)) this.#steps.planApplied(step.server)
      else this.#steps.refused(step.server, nowNs)
    } else if (action === 'withdraw' || action === 'relax') this.withdraw()
  }

  #decide(t: Watched, observation: Observation, seen: ServerSeen): Decision {
    const { controller } = t
    // Rules of a server without other writers do not lapse.
    if (controller instanceof AdapTbfController && !this.#writer.isAlone && this.#steps.isWriting(observation.atNs)) {
      const names = new Set(seen.rules.map((r) => r.name))
      if (haveLapsed(ADAPTBF, seen.server, t.ruled, { names, isSystem: seen.isSystem })) controller.forgetTokens()
    }
    const decision = controller.step(observation)
    t.ruled = decision.allocations.map((a) => a.jobId)
    return decision
  }

  /** Removes all controller rules from the server. */
  withdraw(): void {
    this.#writer.withdraw()
    this.#isWritten = false
  }

  /** The server as input of the step. */
  #seen(observations: readonly Observation[]): ServerSeen {
    const { io, name } = this.#oss
    let rules: readonly RuleLine[] | undefined
    return {
      server: name,
      // The fast writer does not use them.
      get rules() {
        return (rules ??= io.nrs.rules())
      },
      targets: observations.map(({ target, jobs }) => ({ target, deltas: jobs })),
      servedPerSec: (jobId) => {
        const served = observations.flatMap(({ jobs }) => jobs.filter((j) => j.jobId === jobId))
        return served.reduce((sum, j) => sum + j.served, 0) / (this.#regime.periodNs / NS_PER_S)
      },
      isSystem: (jobId) => isSystemJob(this.#jobs, jobId),
    }
  }

  get #hasInside(): boolean {
    return this.#readsCounters && this.#readings >= COUNTERS_FROM
  }

  /** Busy share of the device in the period. */
  #busyShare(t: Watched, nowNs: number): number | undefined {
    const busyNs = t.ost.busyNs
    const share = (busyNs - t.busyNs) / (nowNs - t.atNs)
    t.busyNs = busyNs
    t.atNs = nowNs
    return this.#hasInside ? Math.min(1, Math.max(0, share)) : undefined
  }

  /** Activity of the jobs since the last reading; includes those that only wait, if that is visible. */
  #read({ ost, seen }: Watched): JobMeasure[] {
    if (seen.length < ost.flow.size) this.#meet(ost, seen)
    const jobs: JobMeasure[] = []
    const hasInside = this.#hasInside
    for (const s of seen) {
      const { jobId, flow } = s
      const nodes = (s.nodes ??= this.#jobs.find(jobId)?.nodes)
      const served = flow.served - s.served
      s.served = flow.served
      if (!this.#readsCounters) {
        if (served > 0) jobs.push({ jobId, nodes, served })
        continue
      }
      const arrivals = flow.arrived - s.arrived
      const dispatched = flow.dispatched - s.dispatched
      const queued = flow.arrived - flow.dispatched
      s.arrived = flow.arrived
      s.dispatched = flow.dispatched
      if (!hasInside && served > 0) jobs.push({ jobId, nodes, served })
      else if (hasInside && (served > 0 || queued > 0))
        jobs.push({ jobId, nodes, served, arrivals, dispatched, queued })
    }
    return jobs
  }

  /** Adds jobs whose first RPC came since; the counters keep the order of arrival. */
  #meet(ost: EmulatedOst, seen: Seen[]): void {
    let at = 0
    for (const [jobId, flow] of ost.flow) {
      if (at++ < seen.length) continue
      seen.push({ jobId, nodes: undefined, flow, arrived: 0, dispatched: 0, served: 0 })
    }
  }
}
