/**
 * The controllers of a cluster, one a target: made with the operator's settings, restored where their records were kept, fed
 * with what a period measured, and held where nothing was.
 */
import { ADAPTBF, type ControllerName } from '#core/controllers/registry.ts'
import { AdapTbfController, type PeriodReport } from '#core/adaptbf/controller.ts'
import type { AdapTbfState } from '#core/adaptbf/controller-state.ts'
import type { JobMeasure } from '#core/adaptbf/demand.ts'
import { type LoopOptions, measuresOf } from '#core/adaptbf/loop-options.ts'
import type { AdapTbfOptions } from '#core/adaptbf/controller-options.ts'
import { makeController } from '#core/adaptbf/make-controller.ts'
import type { PairMove } from '#core/adaptbf/pair-book.ts'
import { invariant, type Failure } from '#core/base/result.ts'
import type { Controller, Decision } from '#core/control/controller.ts'
import { haveLapsed } from '#core/control/desired-rule.ts'
import type { TargetReading } from '../read/collector.ts'
import type { ClusterSource } from '../../base/connection.ts'
import { InsideDeltas } from './inside.ts'
import type { JobRegistry } from '../state/job-registry.ts'
import type { KeptRecords } from './kept-records.ts'

/** Where the rules of the last period stand, as far as it is known. */
export interface LastRules {
  readonly host: string
  /** Names on the server; undefined where rules are not written: then nothing of them can lapse. */
  readonly names: ReadonlySet<string> | undefined
  /** Whether a job is the system's own: it has no rule. */
  readonly isSystem: (jobId: string) => boolean
}

/** Records that came out of the history when a target was first met. */
export interface RestoredTarget {
  readonly target: string
  readonly savedMs: number
  /** Jobs with tokens lent or borrowed. */
  readonly jobs: readonly string[]
}

interface OneTarget {
  controller: Controller
  readonly inside: InsideDeltas
  /** End of the last period that was decided, ns. */
  atNs: number | undefined
  /** Jobs that the last decision gives tokens. */
  ruled: readonly string[]
}

/** Demand measures that need nothing from inside a server. */
const FROM_JOB_STATS: ReadonlySet<string> = new Set(measuresOf({ backlog: false, deviceBusy: false }))

export class TargetControllers {
  readonly #source: ClusterSource
  readonly #kept: KeptRecords | undefined
  readonly #targets = new Map<string, OneTarget>()
  /** Targets whose kept state could not be used. */
  readonly #failures = new Map<string, Failure>()
  readonly #restored: RestoredTarget[] = []
  #name: ControllerName
  #options: LoopOptions
  /** What was kept belongs to the controller that the console started with. */
  #mayRestore = true

  constructor(source: ClusterSource, name: ControllerName, options: LoopOptions, kept?: KeptRecords) {
    this.#source = source
    this.#name = name
    this.#options = options
    this.#kept = kept
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

  /** Another controller starts without records; those of the old one are gone with it. */
  setName(name: ControllerName): void {
    this.#name = name
    this.#targets.clear()
    this.#failures.clear()
    this.#mayRestore = false
    this.#kept?.forget()
  }

  /** Other settings, checked; records and debts go on. */
  setOptions(options: LoopOptions): void {
    this.#options = options
    for (const [target, one] of this.#targets) {
      if (one.controller instanceof AdapTbfController) one.controller = this.#adopt(target, one.controller.save())
    }
  }

  /** The decision of a period that was measured. */
  decide(reading: TargetReading, jobs: JobRegistry, nowNs: number, last: LastRules): Decision {
    const one = this.#of(reading.target)
    const period = this.#insideOf(reading.target, one, nowNs)
    this.#forgetLapsed(one, nowNs, last)
    one.atNs = nowNs
    const observation = {
      target: reading.target,
      atNs: nowNs,
      periodNs: this.#source.periodNs,
      jobs: (reading.deltas ?? []).map((d): JobMeasure => ({
        jobId: d.jobId,
        nodes: jobs.find(d.jobId)?.nodes,
        // Of a live server, read when it could be: what was served in one period of its own.
        served: reading.scale === 1 ? d.rpcs : Math.round(d.rpcs * reading.scale),
        ...period?.jobs.get(d.jobId),
      })),
      deviceBusy: period?.deviceBusy,
    }
    for (const [jobId, counts] of period?.jobs ?? []) {
      // Jobs that wait without being served are in no job_stats.
      if (counts.queued > 0 && !observation.jobs.some((j) => j.jobId === jobId)) {
        observation.jobs.push({ jobId, nodes: jobs.find(jobId)?.nodes, served: 0, ...counts })
      }
    }
    const decision = one.controller.step(observation)
    one.ruled = decision.allocations.map((a) => a.jobId)
    return decision
  }

  /**
   * The last decision again, for a period in which the target was not (or not wholly) measured; undefined without records.
   */
  hold(target: string, nowNs: number): Decision | undefined {
    const { controller, inside } = this.#of(target)
    if (!(controller instanceof AdapTbfController)) return undefined
    inside.reset()
    return controller.hold(target, nowNs)
  }

  /** Forgets jobs that ended, on every target. @returns what changed between pairs by it */
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

  /** Who owes whom on a target now; undefined without a ledger. */
  pairs(target: string): AdapTbfController['pairs'] | undefined {
    return this.#adaptbf(target)?.pairs
  }

  /** Largest token rate of a target now, RPC/s. */
  maxRate(target: string): number {
    return this.#adaptbf(target)?.maxRatePerSec ?? this.#source.maxRate
  }

  /** States of all targets, as plain data. */
  *save(): Generator<readonly [target: string, state: AdapTbfState]> {
    for (const [target, { controller }] of this.#targets) {
      if (controller instanceof AdapTbfController) yield [target, controller.save()]
    }
  }

  /** What was restored since the last call. */
  takeRestored(): RestoredTarget[] {
    return this.#restored.splice(0)
  }

  #adaptbf(target: string): AdapTbfController | undefined {
    const controller = this.#targets.get(target)?.controller
    return controller instanceof AdapTbfController ? controller : undefined
  }

  /** Tokens whose rules were not in force say nothing of how a job used them. */
  #forgetLapsed({ controller, atNs, ruled }: OneTarget, nowNs: number, { host, names, isSystem }: LastRules): void {
    if (!(controller instanceof AdapTbfController)) return
    const isGap = atNs === undefined || nowNs - atNs > 1.5 * this.#source.periodNs
    const isOff = names ? haveLapsed(ADAPTBF, host, ruled, { names, isSystem }) : isGap
    if (isOff) controller.forgetTokens()
  }

  /** Counts nothing while no setting needs it: the first period after that is judged by what was served. */
  #insideOf(target: string, one: OneTarget, nowNs: number): ReturnType<InsideDeltas['update']> {
    const { demand, autoT } = this.#options
    const inside = autoT || !FROM_JOB_STATS.has(demand) ? this.#source.inside?.(target) : undefined
    if (inside) return one.inside.update(nowNs, inside)
    one.inside.reset()
    return undefined
  }

  #of(target: string): OneTarget {
    let one = this.#targets.get(target)
    if (!one) {
      one = { ...this.#make(target), inside: new InsideDeltas(), atNs: undefined }
      this.#targets.set(target, one)
    }
    return one
  }

  #make(target: string): Pick<OneTarget, 'controller' | 'ruled'> {
    const controller = makeController(this.#name, this.#controllerOptions())
    if (!(controller instanceof AdapTbfController)) return { controller, ruled: [] }
    const kept = this.#mayRestore ? this.#kept?.load(target) : undefined
    if (kept && !kept.ok) this.#failures.set(target, { ...kept.error, what: `${kept.error.what} (${target})` })
    if (!kept?.ok || !kept.value) return { controller, ruled: [] }
    const { state, savedMs } = kept.value
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
