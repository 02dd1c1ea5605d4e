/** Controller of a run: observes the server every period, decides, and applies its rates after a lag. */
import { AdapTbfController, type AdapTbfOptions } from '../../adaptbf/controller.ts'
import type { TargetObservation } from '../../adaptbf/demand.ts'
import { type Deadband, NO_DEADBAND } from '../../control/rule-changes.ts'
import { NS_PER_S, sToNs } from '../../base/units.ts'
import type { Decision } from '../../control/controller.ts'
import { StaticController } from '../../control/static.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Simulation } from '../../sim/simulation.ts'
import type { ExperimentServer, JobCounts } from './server.ts'
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
  readonly #server: ExperimentServer
  readonly #jobs: readonly JobSetup[]

  constructor(sim: Simulation, server: ExperimentServer, jobs: readonly JobSetup[], setup: ControlSetup) {
    this.#sim = sim
    this.#server = server
    this.#jobs = jobs
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
    const observation = { target: TARGET, atNs: 0, periodNs: NS_PER_S, jobs }
    this.#server.plan(observation, controller.step(observation), NO_DEADBAND)()
  }

  #adapt(setup: AdapTbfSetup): void {
    const { dtSeconds, lagSeconds = 0, deadband = NO_DEADBAND } = setup
    const periodNs = sToNs(dtSeconds)
    const controller = new AdapTbfController(setup)
    let before = copied(this.#server.counts)
    let busyBefore = 0
    let tokens: ReadonlyMap<string, number> = new Map()
    const tick = (): void => {
      const { busyNs } = this.#server
      const observation: TargetObservation = {
        target: TARGET,
        atNs: this.#sim.now,
        periodNs,
        jobs: this.#server.activitySince(before),
        deviceBusy: (busyNs - busyBefore) / periodNs,
      }
      before = copied(this.#server.counts)
      busyBefore = busyNs
      const decision = controller.step(observation)
      this.#note(before, decision, controller, tokens)
      tokens = new Map(decision.allocations.map((a) => [a.jobId, a.tokens]))
      const apply = this.#server.plan(observation, decision, deadband)
      if (lagSeconds === 0) apply()
      else this.#sim.after(sToNs(lagSeconds), apply)
      this.#sim.after(periodNs, tick)
    }
    this.#sim.after(periodNs, tick)
  }

  #note(
    counts: readonly JobCounts[],
    { allocations, records }: Decision,
    { report, maxRatePerSec }: AdapTbfController,
    tokensBefore: ReadonlyMap<string, number>,
  ): void {
    const { trace } = this
    const tokens = new Map(allocations.map((a) => [a.jobId, a.tokens]))
    trace.atS.push(this.#sim.now / NS_PER_S)
    trace.maxRates.push(maxRatePerSec)
    for (const [number, { id }] of this.#jobs.entries()) {
      const { arrivals, dispatched } = counts[number]!
      const demand = report.demand.get(id) ?? 0
      trace.records[number]!.push(records.get(id) ?? 0)
      trace.tokens[number]!.push(tokens.get(id) ?? 0)
      trace.demand[number]!.push(demand)
      const had = tokensBefore.get(id)
      if (had === undefined || arrivals === dispatched) continue
      trace.throttled++
      if (demand > had) trace.deficits++
    }
  }
}

const copied = (counts: readonly JobCounts[]): JobCounts[] => counts.map((job) => ({ ...job }))
