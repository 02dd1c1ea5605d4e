/**
 * The control loop of one OSS inside the model: the controllers of its OSTs are fed from the emulator's own books, and their
 * decisions become rules of its scheduler. What the console does by reading and writing text happens here without any.
 *
 * As there, the first reading is a base, and what only the inside of a server tells needs one more.
 */
import { AdapTbfController } from '../adaptbf/controller.ts'
import { makeController } from '../adaptbf/make-controller.ts'
import type { JobMeasure } from '../adaptbf/demand.ts'
import { measuresOf } from '../adaptbf/loop-options.ts'
import type { Controller, Decision, Observation } from '../control/controller.ts'
import { ControlSteps, type Deciding, type ServerSeen } from '../control/control-step.ts'
import { haveLapsed } from '../control/desired-rule.ts'
import { ADAPTBF, isControllerRule } from '../controllers/registry.ts'
import { NS_PER_S } from '../base/units.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { EmulatedOss, EmulatedOst, JobFlow } from '../emulator/oss.ts'
import type { Regime } from './control-regime.ts'
import type { JobQueue } from './control-queue.ts'
import { isSystemJob, ownWriter, type Remark, type RuleWriter } from './control-writer.ts'

/** Demand measures that job_stats alone can tell. */
const FROM_JOB_STATS: ReadonlySet<string> = new Set(measuresOf({ backlog: false, deviceBusy: false }))
/** Readings before what the inside tells is used: the base, and the base of the inside. */
const INSIDE_FROM = 2

/** A job on one OST, and what stood in the books at the last reading. */
interface Seen {
  readonly jobId: string
  nodes: number | undefined
  readonly flow: JobFlow
  arrived: number
  dispatched: number
  served: number
}

/** One OST, and where the last reading of it left off. */
interface Watched {
  readonly ost: EmulatedOst
  readonly controller: Controller
  /** In the order of the OST's books. */
  readonly seen: Seen[]
  /** Jobs that the last decision gives tokens. */
  ruled: readonly string[]
  busyNs: number
  atNs: number
}

/** Inputs of ServerControl. */
export interface ServerControlParts {
  readonly regime: Regime
  /** When the regime begins. */
  readonly nowNs: number
  readonly jobs: JobQueue
  /** Hears what the server refuses. */
  readonly remark: Remark
}

export class ServerControl {
  readonly #oss: EmulatedOss
  readonly #regime: Regime
  readonly #jobs: JobQueue
  readonly #targets: readonly Watched[]
  readonly #looksInside: boolean
  readonly #steps: ControlSteps
  readonly #writer: RuleWriter
  /** Rules of a controller may be in force. */
  #isWritten: boolean
  #readings = 0

  /** @param writer  how rules are brought to those wanted. @default  the fastest that the server allows */
  constructor(
    oss: EmulatedOss,
    { regime, nowNs, jobs, remark }: ServerControlParts,
    writer: (...options: Parameters<typeof ownWriter>) => RuleWriter = ownWriter,
  ) {
    this.#oss = oss
    this.#regime = regime
    this.#jobs = jobs
    this.#looksInside = regime.options.autoT || !FROM_JOB_STATS.has(regime.options.demand)
    this.#targets = oss.osts.map((ost) => ({ ost, controller: this.#make(), seen: [], ruled: [], busyNs: 0, atNs: 0 }))
    const { controller, fences, periodNs, options } = regime
    const terms = { controller, fences, periodNs, deadbandPercent: options.deadbandPercent }
    this.#steps = new ControlSteps(terms, 'enforce', nowNs)
    this.#isWritten = oss.io.nrs.rules().some((r) => isControllerRule(r.name))
    this.#writer = writer(oss, regime, jobs, remark)
  }

  #make(): Controller {
    const { controller, maxRate: maxRatePerSec, options } = this.#regime
    const { demand, coefficient, overdraft, autoT } = options
    return makeController(controller, { maxRatePerSec, demand, coefficient, overdraft, autoT, books: false })
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

  /** Takes the step of the period that ended now. */
  step(nowNs: number): void {
    const { controller, periodNs } = this.#regime
    if (controller === 'none') return
    const observations = this.#targets.map((t): Observation & { readonly deviceBusy: number | undefined } => {
      const jobs = this.#read(t)
      return { target: t.ost.name, atNs: nowNs, periodNs, jobs, deviceBusy: this.#busyShare(t, nowNs) }
    })
    // As on a server, the first reading is a base: nothing is measured by it.
    if (this.#readings++ === 0) return
    const seen = this.#seen(observations)
    const deciding: Deciding = {
      decide: () => this.#targets.map((t, i) => this.#decide(t, observations[i] as Observation, seen)),
      hold: () =>
        this.#targets.flatMap((t) =>
          t.controller instanceof AdapTbfController ? [t.controller.hold(t.ost.name, nowNs)] : [],
        ),
    }
    const step = this.#steps.take(seen, deciding, nowNs)
    const standing = { isWritten: this.#isWritten, isCovered: false }
    const action = this.#steps.actionOf(step, standing, nowNs)
    if (action === 'write') {
      this.#isWritten = true
      if (this.#writer.write(step)) this.#steps.cameTrue(step.server)
      else this.#steps.refused(step.server, nowNs)
    } else if (action === 'withdraw' || action === 'relax') this.withdraw()
  }

  #decide(t: Watched, observation: Observation, seen: ServerSeen): Decision {
    const { controller } = t
    // Rules that this writer alone writes do not lapse.
    if (controller instanceof AdapTbfController && !this.#writer.isAlone && this.#steps.isWriting(observation.atNs)) {
      const names = new Set(seen.rules.map((r) => r.name))
      if (haveLapsed(ADAPTBF, seen.server, t.ruled, { names, isSystem: seen.isSystem })) controller.forgetTokens()
    }
    const decision = controller.step(observation)
    t.ruled = decision.allocations.map((a) => a.jobId)
    return decision
  }

  /** Takes every rule of a controller off the server. */
  withdraw(): void {
    this.#writer.withdraw()
    this.#isWritten = false
  }

  /** The server as the step takes it. */
  #seen(observations: readonly Observation[]): ServerSeen {
    const { io, name } = this.#oss
    let rules: readonly RuleLine[] | undefined
    return {
      server: name,
      // The fast writer needs none of them.
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
    return this.#looksInside && this.#readings >= INSIDE_FROM
  }

  /** Part of the period in which the device was busy. */
  #busyShare(t: Watched, nowNs: number): number | undefined {
    const busyNs = t.ost.busyNs
    const share = (busyNs - t.busyNs) / (nowNs - t.atNs)
    t.busyNs = busyNs
    t.atNs = nowNs
    return this.#hasInside ? Math.min(1, Math.max(0, share)) : undefined
  }

  /** What the jobs did since the last reading; also those that only wait, where that is seen. */
  #read({ ost, seen }: Watched): JobMeasure[] {
    if (seen.length < ost.flow.size) this.#meet(ost, seen)
    const jobs: JobMeasure[] = []
    const hasInside = this.#hasInside
    for (const s of seen) {
      const { jobId, flow } = s
      const nodes = (s.nodes ??= this.#jobs.find(jobId)?.nodes)
      const served = flow.served - s.served
      s.served = flow.served
      if (!this.#looksInside) {
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

  /** Jobs whose first RPC came since; books keep the order in which jobs came. */
  #meet(ost: EmulatedOst, seen: Seen[]): void {
    let at = 0
    for (const [jobId, flow] of ost.flow) {
      if (at++ < seen.length) continue
      seen.push({ jobId, nodes: undefined, flow, arrived: 0, dispatched: 0, served: 0 })
    }
  }
}
