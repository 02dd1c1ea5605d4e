/** Controller of a run: observes the OST every period, decides, and applies its rates after a lag. */
import { AdapTbfController, type AdapTbfOptions } from '../../adaptbf/controller.ts'
import type { JobMeasure, TargetObservation } from '../../adaptbf/demand.ts'
import { type Deadband, NO_DEADBAND, ruleChanges } from '../../control/rule-changes.ts'
import { NS_PER_S, sToNs } from '../../base/units.ts'
import type { Decision } from '../../control/controller.ts'
import { StaticController } from '../../control/static.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Simulation } from '../../sim/simulation.ts'
import type { IdealOst, JobCounts } from './ideal-ost.ts'
import type { JobSetup } from './workload.ts'

/** Controller of a run. */
export type ControlSetup =
  | { readonly kind: 'none' }
  /** Fixed shares of the rate by nodes, for all jobs, from the start. */
  | { readonly kind: 'static'; readonly maxRatePerSec: number }
  | AdapTbfSetup

/** AdapTBF with the options that the controller leaves open. */
export interface AdapTbfSetup extends AdapTbfOptions {
  readonly kind: typeof ADAPTBF
  /** Period, s. */
  readonly dtSeconds: number
  /** Delay from the end of a period until the new rates are in force, s; default 0. */
  readonly lagSeconds?: number | undefined
  /** Rate changes that are not sent; default: none. */
  readonly deadband?: Deadband | undefined
}

/** Observations and decisions of a controller, period by period; empty without one. */
export interface ControlTrace {
  /** End of each period, s. */
  readonly atS: number[]
  /** By job, then by period. A job without an entry yet has a record of 0; an inactive one has no tokens. */
  readonly records: readonly number[][]
  readonly tokens: readonly number[][]
  readonly demand: readonly number[][]
  /** T of each period, RPC/s. */
  readonly maxRates: number[]
  /** (job, period) pairs that had a rule and waiting RPCs at the end, and those of them with a utilization above 1. */
  throttled: number
  deficits: number
}

const TARGET = 'OST0000'

export class Control {
  readonly trace: ControlTrace
  readonly #sim: Simulation
  readonly #ost: IdealOst
  readonly #jobs: readonly JobSetup[]
  readonly #numbers: ReadonlyMap<string, number>
  readonly #inForce = new Map<string, number>()

  constructor(sim: Simulation, ost: IdealOst, jobs: readonly JobSetup[], setup: ControlSetup) {
    this.#sim = sim
    this.#ost = ost
    this.#jobs = jobs
    this.#numbers = new Map(jobs.map(({ id }, number) => [id, number]))
    const byJob = (): number[][] => jobs.map(() => [])
    this.trace = {
      atS: [],
      records: byJob(),
      tokens: byJob(),
      demand: byJob(),
      maxRates: [],
      throttled: 0,
      deficits: 0,
    }
    if (setup.kind === 'static') this.#divide(setup.maxRatePerSec)
    if (setup.kind === ADAPTBF) this.#adapt(setup)
  }

  #divide(maxRatePerSec: number): void {
    const jobs = this.#jobs.map(({ id: jobId, nodes }) => ({ jobId, nodes, served: 1 }))
    const controller = new StaticController({ maxRatePerSec })
    this.#apply(controller.step({ target: TARGET, atNs: 0, periodNs: NS_PER_S, jobs }), NO_DEADBAND)
  }

  #adapt(setup: AdapTbfSetup): void {
    const { dtSeconds, lagSeconds = 0, deadband = NO_DEADBAND } = setup
    const periodNs = sToNs(dtSeconds)
    const controller = new AdapTbfController(setup)
    let before: JobCounts[] = this.#ost.counts.map((counts) => ({ ...counts }))
    let busyBefore = 0
    let tokens: ReadonlyMap<string, number> = new Map()
    const tick = (): void => {
      const { busyNs } = this.#ost
      const observation = this.#observe(before, periodNs, (busyNs - busyBefore) / periodNs)
      before = this.#ost.counts.map((counts) => ({ ...counts }))
      busyBefore = busyNs
      const decision = controller.step(observation)
      this.#note(observation, decision, controller, tokens)
      tokens = new Map(decision.allocations.map((a) => [a.jobId, a.tokens]))
      if (lagSeconds === 0) this.#apply(decision, deadband)
      else this.#sim.after(sToNs(lagSeconds), () => this.#apply(decision, deadband))
      this.#sim.after(periodNs, tick)
    }
    this.#sim.after(periodNs, tick)
  }

  #observe(before: readonly JobCounts[], periodNs: number, deviceBusy: number): TargetObservation {
    const jobs = this.#jobs.map(({ id: jobId, nodes }, number): JobMeasure => {
      const now = this.#ost.counts[number]!
      const then = before[number]!
      return {
        jobId,
        nodes,
        served: now.served - then.served,
        dispatched: now.dispatched - then.dispatched,
        arrivals: now.arrivals - then.arrivals,
        queued: this.#ost.queues.queued(number),
      }
    })
    return { target: TARGET, atNs: this.#sim.now, periodNs, jobs, deviceBusy }
  }

  /** Applies a decision to the rules; the position among the allocations is the priority. */
  #apply({ allocations }: Decision, deadband: Deadband): void {
    const now = this.#sim.now
    const ranks = new Map(allocations.map(({ jobId }, rank) => [jobId, rank]))
    const { stop, lower, raise, start } = ruleChanges(this.#inForce, allocations, deadband)
    for (const jobId of stop) {
      this.#ost.queues.unrule(now, this.#numbers.get(jobId)!)
      this.#inForce.delete(jobId)
    }
    for (const { jobId, ratePerSec } of [...lower, ...raise, ...start]) {
      this.#ost.queues.rule(now, this.#numbers.get(jobId)!, ratePerSec, ranks.get(jobId)!)
      this.#inForce.set(jobId, ratePerSec)
    }
    this.#ost.pump()
  }

  #note(
    { jobs }: TargetObservation,
    { allocations, records }: Decision,
    { report, maxRatePerSec }: AdapTbfController,
    tokensBefore: ReadonlyMap<string, number>,
  ): void {
    const { trace } = this
    const tokens = new Map(allocations.map((a) => [a.jobId, a.tokens]))
    trace.atS.push(this.#sim.now / NS_PER_S)
    trace.maxRates.push(maxRatePerSec)
    for (const [number, { jobId, queued = 0 }] of jobs.entries()) {
      const demand = report.demand.get(jobId) ?? 0
      trace.records[number]!.push(records.get(jobId) ?? 0)
      trace.tokens[number]!.push(tokens.get(jobId) ?? 0)
      trace.demand[number]!.push(demand)
      const had = tokensBefore.get(jobId)
      if (had === undefined || queued === 0) continue
      trace.throttled++
      if (demand > had) trace.deficits++
    }
  }
}
