/** Controller of a run: observes the server every period, decides, and writes its rules with the lag of a real control loop. */
import { AdapTbfController, type AdapTbfOptions } from '../../adaptbf/controller.ts'
import type { JobMeasure } from '../../adaptbf/demand.ts'
import { type Deadband, NO_DEADBAND } from '../../control/rule-changes.ts'
import type { RandomStream } from '../../base/random.ts'
import { quantile } from '../../base/statistics.ts'
import { NS_PER_MS, NS_PER_S, sToNs } from '../../base/units.ts'
import type { ControlLag, Decision } from '../../control/controller.ts'
import { StaticController } from '../../control/static.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Simulation } from '../../sim/simulation.ts'
import type { ExperimentServer, JobCounts } from './server.ts'
import type { JobSetup } from './workload.ts'

/** Distribution of a duration, ms: its quantiles in equal steps from the least to the most; a single one is a constant. */
export type Durations = readonly number[]

/** Delays of a control loop that sends one rule command after another and reads the rules back at the end. */
export interface LagSetup {
  /** From the reading on the server to the decision, and the decision itself. */
  readonly ageMs: Durations
  /** One rule command, from sending to its answer. */
  readonly commandMs: Durations
  readonly readBackMs: Durations
}

/** Lag after which all rules are in force at once. */
export const constantLag = (ms: number): LagSetup => ({ ageMs: [ms], commandMs: [0], readBackMs: [0] })

/** Draws a duration, ns: between two quantiles each value is equally likely. */
function drawn(durations: Durations, draw: RandomStream): number {
  return Math.round(quantile(durations, draw.uniform()) * NS_PER_MS)
}

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
  /** Delays of reading, deciding and writing; default: none. */
  readonly lag?: LagSetup | undefined
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

  /** @param draw  for the lag. */
  constructor(
    sim: Simulation,
    server: ExperimentServer,
    jobs: readonly JobSetup[],
    setup: ControlSetup,
    draw: RandomStream,
  ) {
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
    if (setup.kind === ADAPTBF) this.#adapt(setup, draw)
  }

  #divide(maxRatePerSec: number): void {
    const jobs = this.#jobs.map(({ id: jobId, nodes }) => ({ jobId, nodes, served: 1 }))
    const controller = new StaticController({ maxRatePerSec })
    const observation = { target: TARGET, atNs: 0, periodNs: NS_PER_S, jobs }
    for (const execute of this.#server.plan(observation, controller.step(observation), NO_DEADBAND)) execute()
  }

  #adapt(setup: AdapTbfSetup, draw: RandomStream): void {
    const { dtSeconds, deadband = NO_DEADBAND } = setup
    const periodNs = sToNs(dtSeconds)
    const controller = new AdapTbfController(setup)
    let before = copied(this.#server.counts)
    let busyBefore = 0
    let tokens: ReadonlyMap<string, number> = new Map()
    /** Bounds of the last write; no rule is written before the first. */
    let written = { fromNs: -Infinity, toNs: -Infinity }
    const tick = (): void => {
      const { busyNs } = this.#server
      const { now } = this.#sim
      const activity = this.#server.activitySince(before)
      const deviceBusy = (busyNs - busyBefore) / periodNs
      before = copied(this.#server.counts)
      busyBefore = busyNs
      // As in the live loop: a server on which the last period is still being written is held.
      if (written.toNs > now) this.#note(before, controller.hold(TARGET, now), controller, tokens)
      else decide(now, activity, deviceBusy)
      this.#sim.after(periodNs, tick)
    }
    const decide = (now: number, activity: readonly JobMeasure[], deviceBusy: number): void => {
      const ageNs = setup.lag ? drawn(setup.lag.ageMs, draw) : 0
      const fromNs = now - periodNs
      const write =
        written.toNs > fromNs
          ? { leastNs: Math.max(0, written.fromNs - fromNs), mostNs: written.toNs - fromNs }
          : undefined
      const lag: ControlLag | undefined = setup.lag && { ageNs, write }
      const observation = { target: TARGET, atNs: now, periodNs, jobs: activity, deviceBusy, lag }
      const decision = controller.step(observation)
      this.#note(before, decision, controller, tokens)
      tokens = new Map(decision.allocations.map((a) => [a.jobId, a.tokens]))
      const commands = this.#server.plan(observation, decision, deadband)
      if (!setup.lag) for (const execute of commands) execute()
      else if (commands.length > 0) written = this.#write(commands, ageNs, setup.lag, draw)
    }
    this.#sim.after(periodNs, tick)
  }

  /** Executes commands one after another. @returns  time of sending the first, and of the read-back */
  #write(
    commands: readonly (() => void)[],
    ageNs: number,
    { commandMs, readBackMs }: LagSetup,
    draw: RandomStream,
  ): { fromNs: number; toNs: number } {
    const fromNs = this.#sim.now + ageNs
    let atNs = fromNs
    for (const execute of commands) {
      atNs += drawn(commandMs, draw)
      this.#sim.at(atNs, execute)
    }
    return { fromNs, toNs: atNs + drawn(readBackMs, draw) }
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
