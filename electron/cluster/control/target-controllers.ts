/**
 * Controllers of a cluster, one per target: created with the operator's settings, restored from stored records, fed
 * with the measured periods, and held in the others.
 */
import { ADAPTBF, type ControllerName } from '#core/controllers/registry.ts'
import { AdapTbfController, type PeriodReport } from '#core/adaptbf/controller.ts'
import type { AdapTbfState } from '#core/adaptbf/controller-state.ts'
import type { JobMeasure } from '#core/adaptbf/demand.ts'
import { type LoopOptions, measuresOf } from '#core/adaptbf/loop-options.ts'
import type { AdapTbfOptions } from '#core/adaptbf/controller-options.ts'
import { makeController } from '#core/adaptbf/make-controller.ts'
import type { PairMove } from '#core/adaptbf/pair-accounts.ts'
import { invariant, type Failure } from '#core/base/result.ts'
import type { ControlLag, Controller, Decision } from '#core/control/controller.ts'
import { haveLapsed } from '#core/control/desired-rule.ts'
import type { TargetReading } from '../read/collector.ts'
import type { ClusterSource, TargetCounters } from '../../base/connection.ts'
import type { JobRegistry } from '../state/job-registry.ts'
import type { LedgerStateStore } from './ledger-state-store.ts'

/**
 * Counters of a target for one period that only a source that owns its servers can provide: RPCs by job that Lustre
 * does not count, and device time. The emulator provides them; a live cluster does not.
 */
interface CounterPeriod {
  readonly jobs: ReadonlyMap<string, Record<'arrivals' | 'dispatched' | 'queued', number>>
  /** 0..1. */
  readonly deviceBusy: number
}

/** Converts counters into differences per period. The first reading is a base, as is one after a break. */
class CounterDeltas {
  #before: { readonly atNs: number; readonly inside: TargetCounters } | undefined

  update(atNs: number, inside: TargetCounters): CounterPeriod | undefined {
    const { busyNs } = inside
    const before = this.#before
    const flow = new Map([...inside.flow].map(([id, f]) => [id, { ...f }]))
    this.#before = { atNs, inside: { flow, busyNs } }
    if (!before || !(atNs > before.atNs)) return undefined
    const jobs = new Map(
      [...flow].map(([id, now]) => {
        const then = before.inside.flow.get(id) ?? { arrived: 0, dispatched: 0 }
        return [
          id,
          {
            arrivals: now.arrived - then.arrived,
            dispatched: now.dispatched - then.dispatched,
            queued: now.arrived - now.dispatched,
          },
        ]
      }),
    )
    const deviceBusy = Math.min(1, Math.max(0, (busyNs - before.inside.busyNs) / (atNs - before.atNs)))
    return { jobs, deviceBusy }
  }

  reset(): void {
    this.#before = undefined
  }
}

/** Rules of the last period on the server, as far as known. */
export interface LastRules {
  readonly host: string
  /** Names on the server; undefined if rules are not written: then none can lapse. */
  readonly names: ReadonlySet<string> | undefined
  /** True for a system job, which has no rule. */
  readonly isSystem: (jobId: string) => boolean
  /** Age of the observation, and when these rules came into force in its period. */
  readonly lag: ControlLag
}

/** Records restored from the history when a target was first seen. */
export interface RestoredTarget {
  readonly target: string
  readonly savedMs: number
  /** Jobs with tokens lent or borrowed. */
  readonly jobs: readonly string[]
}

interface OneTarget {
  controller: Controller
  readonly inside: CounterDeltas
  /** End of the last decided period, ns. */
  atNs: number | undefined
  /** Jobs to which the last decision gives tokens. */
  ruled: readonly string[]
}

/** Demand measures that need no internal counters of a server. */
const FROM_JOB_STATS: ReadonlySet<string> = new Set(measuresOf({ backlog: false, deviceBusy: false }))

export class TargetControllers {
  readonly #source: ClusterSource
  readonly #stateStore: LedgerStateStore | undefined
  readonly #targets = new Map<string, OneTarget>()
  /** Targets whose stored state could not be used. */
  readonly #failures = new Map<string, Failure>()
  readonly #restored: RestoredTarget[] = []
  #name: ControllerName
  #options: LoopOptions
  /** The stored state belongs to the controller that the console started with. */
  #mayRestore = true

  constructor(source: ClusterSource, name: ControllerName, options: LoopOptions, stateStore?: LedgerStateStore) {
    this.#source = source
    this.#name = name
    this.#options = options
    this.#stateStore = stateStore
  }

  get name(): ControllerName {
    return this.#name
  }

  get options(): LoopOptions {
    return this.#options
  }

  get failures(): readonly Failure[] {
    return [...this.#failures.values()].slice(0, 1)
  }

  /** Switches the controller; records of the old one are dropped. */
  setName(name: ControllerName): void {
    this.#name = name
    this.#targets.clear()
    this.#failures.clear()
    this.#mayRestore = false
    this.#stateStore?.forget()
  }

  /** Applies other settings, already checked; records and debts are kept. */
  setOptions(options: LoopOptions): void {
    this.#options = options
    for (const [target, one] of this.#targets) {
      if (one.controller instanceof AdapTbfController) one.controller = this.#adopt(target, one.controller.save())
    }
  }

  /** Decides a measured period. @param reading  with the length of the period. */
  decide(
    reading: TargetReading & { readonly periodNs: number },
    jobs: JobRegistry,
    nowNs: number,
    last: LastRules,
  ): Decision {
    const one = this.#of(reading.target)
    const period = this.#countersOf(reading.target, one, nowNs)
    this.#forgetLapsed(one, { nowNs, periodNs: reading.periodNs }, last)
    one.atNs = nowNs
    const observation = {
      target: reading.target,
      atNs: nowNs,
      periodNs: reading.periodNs,
      jobs: (reading.deltas ?? []).map((d): JobMeasure => ({
        jobId: d.jobId,
        nodes: jobs.find(d.jobId)?.nodes,
        // On a live server, which is not read exactly when due, scaled to one period.
        served: reading.scale === 1 ? d.rpcs : Math.round(d.rpcs * reading.scale),
        ...period?.jobs.get(d.jobId),
      })),
      deviceBusy: period?.deviceBusy,
      lag: last.lag,
    }
    for (const [jobId, counts] of period?.jobs ?? []) {
      // Jobs that wait without being served do not appear in job_stats.
      if (counts.queued > 0 && !observation.jobs.some((j) => j.jobId === jobId)) {
        observation.jobs.push({ jobId, nodes: jobs.find(jobId)?.nodes, served: 0, ...counts })
      }
    }
    const decision = one.controller.step(observation)
    one.ruled = decision.allocations.map((a) => a.jobId)
    return decision
  }

  /**
   * Repeats the last decision, for a period in which the target was not (or only partially) measured; undefined without
   * records.
   */
  hold(target: string, nowNs: number): Decision | undefined {
    const { controller, inside } = this.#of(target)
    if (!(controller instanceof AdapTbfController)) return undefined
    inside.reset()
    return controller.hold(target, nowNs)
  }

  /** Retires jobs that ended, on every target. @returns the resulting moves between pairs */
  retire(jobs: ReadonlySet<string>, nowNs: number): Map<string, readonly PairMove[]> {
    const moves = new Map<string, readonly PairMove[]>()
    for (const [target, { controller }] of this.#targets) {
      if (controller instanceof AdapTbfController) moves.set(target, controller.retire(nowNs, jobs))
    }
    return moves
  }

  report(target: string): PeriodReport | undefined {
    return this.#adaptbf(target)?.report
  }

  /** Longest delays over the targets in their last periods; undefined if none was decided. */
  get lag(): ControlLag | undefined {
    const lags = [...this.#targets.keys()].flatMap((target) => this.report(target)?.lag ?? [])
    if (lags.length === 0) return undefined
    const writes = lags.flatMap(({ write }) => write ?? [])
    const longest = (of: readonly number[]): number => of.reduce((most, ns) => Math.max(most, ns), 0)
    const [leastNs, mostNs] = [longest(writes.map((w) => w.leastNs)), longest(writes.map((w) => w.mostNs))]
    return { ageNs: longest(lags.map((l) => l.ageNs)), write: writes.length === 0 ? undefined : { leastNs, mostNs } }
  }

  /** Current debts between jobs on a target; undefined without a ledger. */
  pairs(target: string): AdapTbfController['pairs'] | undefined {
    return this.#adaptbf(target)?.pairs
  }

  /** Current maximum token rate of a target, RPC/s. */
  maxRate(target: string): number {
    return this.#adaptbf(target)?.maxRatePerSec ?? this.#source.maxRate
  }

  /** States of all targets, as plain data. */
  *save(): Generator<readonly [target: string, state: AdapTbfState]> {
    for (const [target, { controller }] of this.#targets) {
      if (controller instanceof AdapTbfController) yield [target, controller.save()]
    }
  }

  /** Records restored since the last call. */
  takeRestored(): RestoredTarget[] {
    return this.#restored.splice(0)
  }

  #adaptbf(target: string): AdapTbfController | undefined {
    const controller = this.#targets.get(target)?.controller
    return controller instanceof AdapTbfController ? controller : undefined
  }

  /** Drops tokens whose rules were not in force: they do not show how a job used them. */
  #forgetLapsed(
    { controller, atNs, ruled }: OneTarget,
    { nowNs, periodNs }: { readonly nowNs: number; readonly periodNs: number },
    { host, names, isSystem }: LastRules,
  ): void {
    if (!(controller instanceof AdapTbfController)) return
    const isGap = atNs === undefined || nowNs - atNs > 1.5 * periodNs
    const isOff = names ? haveLapsed(ADAPTBF, host, ruled, { names, isSystem }) : isGap
    if (isOff) controller.forgetTokens()
  }

  /** Reads internal counters only while a setting needs them: the first period after that is judged by served RPCs. */
  #countersOf(target: string, one: OneTarget, nowNs: number): ReturnType<CounterDeltas['update']> {
    const { demand, autoT } = this.#options
    const inside = autoT || !FROM_JOB_STATS.has(demand) ? this.#source.inside?.(target) : undefined
    if (inside) return one.inside.update(nowNs, inside)
    one.inside.reset()
    return undefined
  }

  #of(target: string): OneTarget {
    let one = this.#targets.get(target)
    if (!one) {
      one = { ...this.#make(target), inside: new CounterDeltas(), atNs: undefined }
      this.#targets.set(target, one)
    }
    return one
  }

  #make(target: string): Pick<OneTarget, 'controller' | 'ruled'> {
    const controller = makeController(this.#name, this.#controllerOptions())
    if (!(controller instanceof AdapTbfController)) return { controller, ruled: [] }
    const stored = this.#mayRestore ? this.#stateStore?.load(target) : undefined
    if (stored && !stored.ok) this.#failures.set(target, { ...stored.error, what: `${stored.error.what} (${target})` })
    if (!stored?.ok || !stored.value) return { controller, ruled: [] }
    const { state, savedMs } = stored.value
    const jobs = state.allocator.jobs.filter((j) => j.record !== 0).map((j) => j.id)
    this.#restored.push({ target, savedMs, jobs })
    return { controller: this.#adopt(target, state), ruled: state.last.allocations.map((a) => a.jobId) }
  }

  #adopt(target: string, state: AdapTbfState): AdapTbfController {
    const restored = AdapTbfController.restore(state, this.#controllerOptions())
    invariant(restored.ok, restored.ok ? '' : `${target}: ${restored.error.what}: ${restored.error.why}`)
    return restored.value
  }

  #controllerOptions(): AdapTbfOptions {
    const { demand, coefficient, overdraft, autoT } = this.#options
    return { maxRatePerSec: this.#source.maxRate, demand, coefficient, overdraft, autoT }
  }
}
