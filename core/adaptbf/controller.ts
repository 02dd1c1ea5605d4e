/**
 * AdapTBF as a controller of one target: observation in, token rates out. The allocation itself is `TokenAllocator`, who owes
 * whom is `PairLedger`; this is what the paper calls System Stats Controller and Rule Management Daemon, without I/O.
 */
import { type Failure, type Result, invariant, ok } from '../base/result.ts'
import { NS_PER_S } from '../base/units.ts'
import { RATE_MAX } from '../lustre/nrs-tbf-rule.ts'
import type { Allocation, Controller, Decision } from '../control/controller.ts'
import { ADAPTBF } from '../controllers/registry.ts'
import { type AllocatedPeriod, TokenAllocator } from './allocation.ts'
import { nextMaxRate } from './auto-rate.ts'
import { type AdapTbfOptions, checkOptions } from './controller-options.ts'
import { type AdapTbfState, checkAdapTbfState } from './controller-state.ts'
import { type TargetObservation, demandOf, isMeasured } from './demand.ts'
import { type CountedJob, countJobs } from './observation.ts'
import { overdraft } from './overdraft.ts'
import type { PairMove } from './pair-book.ts'
import { PairLedger } from './pair-ledger.ts'
import { checkPeriod } from './period.ts'

export type { AdapTbfOptions } from './controller-options.ts'

/** What a decision does not say about the period that it came from. */
export interface PeriodReport {
  /** Why the period was not evaluated and the last allocation is held; undefined where it was. */
  readonly held: Failure | undefined
  /** Demand by JobID, RPCs, as the allocator was given it. */
  readonly demand: ReadonlyMap<string, number>
  /** Jobs whose source did not give what the demand measure needs: `served` stood in. */
  readonly substituted: number
  /** Jobs without a known number of nodes, counted as one. */
  readonly unmapped: readonly string[]
  /** What moved between pairs of jobs. */
  readonly moves: readonly PairMove[]
  /** Tokens given a second time, by JobID; empty without `overdraft`. */
  readonly overdraft: ReadonlyMap<string, number>
  /** Largest token rate of the period, T, RPC/s; `autoT` moves it. */
  readonly maxRatePerSec: number
}

const NO_ALLOCATION: Pick<Decision, 'budget' | 'allocations'> = { budget: 0, allocations: [] }

/**
 * AdapTBF for one target.
 *
 * A period that cannot be evaluated repeats the last allocation and moves no record: one of a length that is none
 * (`BAD_PERIOD`), one that ends before the last one did (`CLOCK_BACKWARDS`; the next is judged by the new clock), one that was
 * not observed at all (`hold`).
 *
 * Source: AdapTBF III-A (System Stats Controller, Rule Management Daemon) and III-C. Deviations: demand may be measured in
 * other ways than by what was served (`DEMAND_MEASURES`); a period that cannot be evaluated does not stop the rules;
 * extensions by name, off by default (`EXTENSIONS`).
 */
export class AdapTbfController implements Controller {
  readonly name = ADAPTBF
  readonly #options: AdapTbfOptions
  #allocator: TokenAllocator
  #pairs = new PairLedger()
  #maxRatePerSec: number
  #lastAtNs = -Infinity
  #last = NO_ALLOCATION
  #report: PeriodReport

  /** @throws InvariantError when the options are not: they are checked where they are entered (`create`). */
  constructor(options: AdapTbfOptions) {
    const checked = checkOptions(options)
    invariant(checked.ok, checked.ok ? '' : checked.error.what)
    this.#options = options
    this.#maxRatePerSec = options.maxRatePerSec
    this.#allocator = new TokenAllocator({ coefficient: options.coefficient })
    this.#report = this.#emptyReport()
  }

  /** A controller, or why its options are refused. */
  static create(options: AdapTbfOptions): Result<AdapTbfController> {
    const checked = checkOptions(options)
    return checked.ok ? ok(new AdapTbfController(options)) : checked
  }

  /** A controller that goes on where a saved one stood; `saved` is checked, it may come from anywhere. */
  static restore(saved: unknown, options: AdapTbfOptions): Result<AdapTbfController> {
    const created = AdapTbfController.create(options)
    if (!created.ok) return created
    const checked = checkAdapTbfState(saved)
    if (!checked.ok) return checked
    const controller = created.value
    const { allocator, pairs, last, maxRatePerSec } = checked.value
    controller.#allocator = TokenAllocator.adopt(allocator, { coefficient: options.coefficient })
    controller.#pairs = PairLedger.adopt(pairs)
    controller.#last = last
    if (options.autoT) controller.#maxRatePerSec = maxRatePerSec
    controller.#report = controller.#emptyReport()
    return ok(controller)
  }

  /** Everything that the next period depends on, as plain data. The clock is not part of it: it starts anew. */
  save(): AdapTbfState {
    return {
      version: 1,
      maxRatePerSec: this.#maxRatePerSec,
      allocator: this.#allocator.save(),
      pairs: this.#pairs.save(),
      last: this.#last,
    }
  }

  /** Who owes whom on this target. Read only: the controller keeps it in step with the records. */
  get pairs(): Pick<PairLedger, 'balance' | 'claims' | 'debts' | 'pairs' | 'totals'> {
    return this.#pairs
  }

  /** About the last period. */
  get report(): PeriodReport {
    return this.#report
  }

  /** Largest token rate now, T, RPC/s. */
  get maxRatePerSec(): number {
    return this.#maxRatePerSec
  }

  /** To be called when the rules of the last decision were not in force: their tokens say nothing about utilisation. */
  forgetTokens(): void {
    this.#allocator.forgetTokens()
  }

  /**
   * Forgets jobs that ended, none of them active in the last period. What they had lent or borrowed goes to `ENDED_JOBS`.
   *
   * @returns  what changed between pairs by it.
   */
  retire(atNs: number, jobs: ReadonlySet<string>): PairMove[] {
    this.#allocator.retire(jobs)
    // A target that has not answered for long still repeats what it was given last.
    this.#last = { ...this.#last, allocations: this.#last.allocations.filter((a) => !jobs.has(a.jobId)) }
    return this.#options.books === false ? [] : this.#pairs.retire(atNs, jobs)
  }

  step(observation: TargetObservation): Decision {
    const { target, atNs, periodNs } = observation
    const period = checkPeriod(periodNs)
    if (!period.ok) return this.#hold(target, atNs, period.error)
    const lastAtNs = this.#lastAtNs
    this.#lastAtNs = Number.isFinite(atNs) ? atNs : lastAtNs
    if (!(atNs >= lastAtNs)) return this.#hold(target, atNs, clockFault(atNs, lastAtNs))
    return this.#evaluate(observation)
  }

  /** The decision of a period that was not observed: the last allocation again, no record moves. */
  hold(target: string, atNs: number): Decision {
    return this.#hold(target, atNs, NOT_OBSERVED)
  }

  #hold(target: string, atNs: number, held: Failure): Decision {
    this.#last = { ...this.#last, allocations: this.#last.allocations.map((a) => ({ ...a, recordDelta: 0 })) }
    this.#report = { ...this.#emptyReport(), held }
    return { target, atNs, ...this.#last, records: this.#allocator.records() }
  }

  #evaluate(observation: TargetObservation): Decision {
    const { target, atNs, periodNs } = observation
    const jobs = countJobs(observation.jobs)
    const dtSeconds = periodNs / NS_PER_S
    this.#followDevice(observation, jobs, dtSeconds)
    const measure = this.#options.demand ?? 'saturation'
    const wanted = jobs.map(({ jobId: id, nodes, counts }) => {
      return { id, nodes, demand: demandOf(measure, counts, this.#allocator.previousTokens(id)) }
    })
    const stepped = this.#allocator.step({ maxRatePerSec: this.#maxRatePerSec, dtSeconds, jobs: wanted })
    if (!stepped.ok) return this.#hold(target, atNs, stepped.error)
    const hasBooks = this.#options.books !== false
    const moves = hasBooks ? this.#enterPairs(atNs) : []
    const demand = hasBooks || this.#options.overdraft ? new Map(wanted.map((j) => [j.id, j.demand])) : NO_EXTRA
    const extra = this.#overdraw(stepped.value, jobs, demand)
    this.#last = { budget: stepped.value.budget, allocations: toAllocations(stepped.value, extra, periodNs) }
    this.#report = {
      held: undefined,
      demand,
      substituted: hasBooks ? jobs.filter(({ counts }) => !isMeasured(measure, counts)).length : 0,
      unmapped: hasBooks ? jobs.filter(({ isUnmapped }) => isUnmapped).map(({ jobId }) => jobId) : [],
      moves,
      overdraft: extra,
      maxRatePerSec: this.#maxRatePerSec,
    }
    const records = hasBooks ? this.#allocator.records() : NO_EXTRA
    return { target, atNs, ...this.#last, records }
  }

  #enterPairs(atNs: number): PairMove[] {
    const { ids, redistributed, recompensated } = this.#allocator.flows()
    return this.#pairs.enter(atNs, ids, [redistributed, recompensated])
  }

  /** Tokens lent (+) or borrowed (-) by every job ever active. */
  records(): ReadonlyMap<string, number> {
    return this.#allocator.records()
  }

  #followDevice({ deviceBusy }: TargetObservation, jobs: readonly CountedJob[], dtSeconds: number): void {
    const { budget } = this.#last
    if (!this.#options.autoT || deviceBusy === undefined || budget === 0) return
    let served = 0
    let hasBacklog = false
    for (const { counts } of jobs) {
      served += counts.served
      hasBacklog ||= (counts.queued ?? 0) > 0
    }
    const next = nextMaxRate(this.#maxRatePerSec, { deviceBusy, served, budget, hasBacklog, dtSeconds })
    // A device that hangs must not take T with it: what follows would be minutes of crawling back.
    this.#maxRatePerSec = Math.min(RATE_MAX, Math.max(this.#options.maxRatePerSec / 10, next))
  }

  #overdraw(
    { ids, tokens }: AllocatedPeriod,
    jobs: readonly CountedJob[],
    demand: ReadonlyMap<string, number>,
  ): ReadonlyMap<string, number> {
    const part = this.#options.overdraft ?? 0
    if (part === 0) return NO_EXTRA
    const byId = new Map(jobs.map((job) => [job.jobId, job]))
    const extra = overdraft(
      ids.map((id, i) => {
        const { nodes, counts } = byId.get(id)!
        const wanted = demand.get(id)!
        // Without a queue to read, a job that wants more than it was served is one that waits.
        const hasBacklog = counts.queued === undefined ? wanted > counts.served : counts.queued > 0
        return { nodes, tokens: tokens[i]!, demand: wanted, hasBacklog }
      }),
      part,
    )
    return new Map(ids.flatMap((id, i) => (extra[i]! > 0 ? [[id, extra[i]!] as const] : [])))
  }

  #emptyReport(): PeriodReport {
    const [demand, maxRatePerSec] = [NO_EXTRA, this.#maxRatePerSec]
    return { held: undefined, demand, substituted: 0, unmapped: [], moves: [], overdraft: NO_EXTRA, maxRatePerSec }
  }
}

const NO_EXTRA: ReadonlyMap<string, number> = new Map()

const NOT_OBSERVED: Failure = {
  code: 'NOT_OBSERVED',
  what: 'The target did not answer in this period',
  unaffected: 'The last rates stay in force.',
}

const clockFault = (atNs: number, lastAtNs: number): Failure => ({
  code: 'CLOCK_BACKWARDS',
  what: 'The period ends before the last one did',
  why: `${atNs} ns after ${lastAtNs} ns`,
  unaffected: 'The last rates stay in force for one period.',
})

function toAllocations(
  { ids, tokens, records, recordDeltas }: AllocatedPeriod,
  extra: ReadonlyMap<string, number>,
  periodNs: number,
): Allocation[] {
  return ids.map((jobId, i) => {
    const rate = Math.round(((tokens[i]! + (extra.get(jobId) ?? 0)) * NS_PER_S) / periodNs)
    const ratePerSec = Math.min(RATE_MAX, Math.max(1, rate))
    return { jobId, tokens: tokens[i]!, ratePerSec, record: records[i]!, recordDelta: recordDeltas[i]! }
  })
}
