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
import type { Controller, Decision } from '../control/controller.ts'
import type { EmulatedOss, EmulatedOst, JobFlow } from '../emulator/oss.ts'
import type { Regime } from './control-regime.ts'
import type { JobQueue } from './control-queue.ts'
import { ownWriter, type RuleWriter } from './control-writer.ts'

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
  busyNs: number
  atNs: number
}

export class ServerControl {
  readonly #regime: Regime
  readonly #jobs: JobQueue
  readonly #targets: readonly Watched[]
  readonly #looksInside: boolean
  readonly #writer: RuleWriter
  #readings = 0

  /**
   * @param writer  what brings the rules of the server to those wanted. @default  the fastest that the server allows
   */
  constructor(
    oss: EmulatedOss,
    regime: Regime,
    jobs: JobQueue,
    remark: (text: string) => void,
    writer: (...options: Parameters<typeof ownWriter>) => RuleWriter = ownWriter,
  ) {
    this.#regime = regime
    this.#jobs = jobs
    this.#looksInside = regime.options.autoT || !FROM_JOB_STATS.has(regime.options.demand)
    this.#targets = oss.osts.map((ost) => ({ ost, controller: this.#make(), seen: [], busyNs: 0, atNs: 0 }))
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

  /** Evaluates the period that ended now. */
  step(nowNs: number): void {
    if (this.#regime.controller === 'none') return
    const { periodNs } = this.#regime
    const decisions: Decision[] = []
    for (const t of this.#targets) {
      const jobs = this.#read(t)
      const deviceBusy = this.#busyShare(t, nowNs)
      if (this.#readings === 0) continue
      const observation = { target: t.ost.name, atNs: nowNs, periodNs, jobs, deviceBusy }
      decisions.push(t.controller.step(observation))
    }
    if (this.#readings++ > 0) this.#writer.write(decisions)
  }

  /** Takes every rule of a controller off the server. */
  withdraw(): void {
    this.#writer.write([])
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
