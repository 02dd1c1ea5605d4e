/**
 * AdapTBF as the controller of one target: observation in, token rates out. `TokenAllocator` allocates, `PairLedger` tracks debts;
 * together this is the paper's System Stats Controller and Rule Management Daemon, without I/O.
 */
import { type Failure, type Result, invariant, ok } from '../base/result.ts'
import { NS_PER_S } from '../base/units.ts'
import { RATE_MAX } from '../lustre/nrs-tbf-rule.ts'
import type { Allocation, ControlLag, Controller, Decision } from '../control/controller.ts'
import { ADAPTBF } from '../controllers/registry.ts'
import { type AllocatedPeriod, TokenAllocator } from './allocation.ts'
import { type AdapTbfOptions, checkOptions } from './controller-options.ts'
import { type AdapTbfState, checkAdapTbfState } from './controller-state.ts'
import {
  type DemandCounts,
  type JobMeasure,
  type TargetObservation,
  demandOf,
  isMeasured,
  tokensInForce,
} from './demand.ts'
import type { PairMove } from './pair-accounts.ts'
import { PairLedger } from './pair-ledger.ts'
import { checkPeriod } from './period.ts'
import { floorTokens } from './rounding.ts'

/** Largest count: small enough to be exact, large enough for any server. */
const COUNT_MAX = 2 ** 50

/** One job of one period, as input of the allocator. */
interface CountedJob {
  readonly jobId: string
  /** >= 1; 1 if the resource manager does not know the job. */
  readonly nodes: number
  /** True if no entry of the job has its nodes. */
  readonly isUnmapped: boolean
  /** Whole, >= 0. */
  readonly counts: DemandCounts
}

/**
 * Returns the countable jobs, each once. Entries of one JobID add up, with the largest number of nodes. Omitted: an empty JobID, an entry
 * with an invalid count, a job that was not served and has nothing waiting.
 */
function countJobs(jobs: readonly JobMeasure[]): CountedJob[] {
  const counted = new Map<string, CountedJob>()
  for (const job of jobs) {
    const entry = countEntry(job)
    if (!entry) continue
    const known = counted.get(entry.jobId)
    counted.set(entry.jobId, known ? mergedEntries(known, entry) : entry)
  }
  return [...counted.values()]
}

function countEntry({ jobId, nodes, served, dispatched, arrivals, queued }: JobMeasure): CountedJob | undefined {
  if (jobId === '' || !(isCount(served) && isCount(dispatched) && isCount(arrivals) && isCount(queued)))
    return undefined
  if (!(served > 0 || (dispatched ?? 0) > 0 || (arrivals ?? 0) > 0 || (queued ?? 0) > 0)) return undefined
  const isUnmapped = !(nodes !== undefined && Number.isFinite(nodes))
  const counts = {
    served: toCount(served),
    dispatched: dispatched === undefined ? undefined : toCount(dispatched),
    arrivals: arrivals === undefined ? undefined : toCount(arrivals),
    queued: queued === undefined ? undefined : toCount(queued),
  }
  return { jobId, nodes: isUnmapped ? 1 : Math.min(COUNT_MAX, Math.max(1, nodes)), isUnmapped, counts }
}

function mergedEntries(a: CountedJob, b: CountedJob): CountedJob {
  return {
    jobId: a.jobId,
    nodes: Math.max(a.nodes, b.nodes),
    isUnmapped: a.isUnmapped && b.isUnmapped,
    counts: {
      served: toCount(a.counts.served + b.counts.served),
      dispatched: added(a.counts.dispatched, b.counts.dispatched),
      arrivals: added(a.counts.arrivals, b.counts.arrivals),
      queued: added(a.counts.queued, b.counts.queued),
    },
  }
}

/** A count that one entry lacks is undefined in the sum, too. */
const added = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : toCount(a + b)

/** True for a valid number of RPCs or an absent count; `served` is never absent. */
const isCount = (value: number | undefined): boolean => value === undefined || (Number.isFinite(value) && value >= 0)

/** Rounds a fraction of an RPC up to one: a job that was served is active. */
const toCount = (value: number): number => Math.min(COUNT_MAX, value > 0 ? Math.max(1, Math.round(value)) : 0)

/** Evidence of one period of one target for adapting its rate. */
interface RateEvidence {
  /** Fraction of the period in which the device was busy, 0..1. */
  readonly deviceBusy: number
  /** RPCs that the target served in the period, all jobs. */
  readonly served: number
  /** Token budget of the period, M. */
  readonly budget: number
  /** True if RPCs were waiting for tokens at its end. */
  readonly hasBacklog: boolean
  /** Length of the period, s. */
  readonly dtSeconds: number
}

/**
 * Extension `autoT`: adapts the largest token rate of a target to the utilization of its device instead of requiring a calibration.
 * Returns the largest token rate for the next period, RPC/s.
 *
 * If the device was busy all the time and the budget was not served, the device is slower than T: T moves a fifth of the way to the
 * served rate. If the device had idle time while the budget was used up and RPCs waited, T rises by half a percent. Otherwise T stays;
 * judging by the backlog without the device's busy time would reduce T under bursts.
 *
 * Source: spec/adaptbf 9; not in the paper.
 */
export function nextMaxRate(maxRatePerSec: number, evidence: RateEvidence): number {
  const { deviceBusy, served, budget, hasBacklog, dtSeconds } = evidence
  if (deviceBusy > 0.985 && served < 0.99 * budget) {
    return maxRatePerSec + 0.2 * (served / dtSeconds - maxRatePerSec)
  }
  const hasHeadroom = deviceBusy < 0.97 && served > 0.97 * budget && hasBacklog
  return hasHeadroom ? maxRatePerSec * 1.005 : maxRatePerSec
}

/** One job of the next allocation. */
interface OverdraftJob {
  readonly nodes: number
  /** Tokens of the next period. */
  readonly tokens: number
  /** RPCs demanded in the period that ended. */
  readonly demand: number
  /** True if RPCs of the job wait for tokens. */
  readonly hasBacklog: boolean
}

/**
 * Extra tokens of each job, whole, summing to floor(part * unused), or 0 if no job has a backlog: the tokens left unused if demand stays
 * as in the period that ended, divided by nodes among the jobs with a backlog. Largest fractions first, ties to the first job.
 *
 * The extra is outside the records: it is neither lent nor owed, and utilization is still measured against the tokens alone.
 *
 * Source: spec/adaptbf 9; not in the paper.
 *
 * @param jobs  in processing order.
 * @param part  0..1; 0.5 gains 3 % aggregate where bursts and a stream mix, and slows the bursts by 11 to 22 %.
 */
export function overdraft(jobs: readonly OverdraftJob[], part: number): number[] {
  const extra = jobs.map(() => 0)
  let unused = 0
  let allNodes = 0
  for (const { nodes, tokens, demand, hasBacklog } of jobs) {
    unused += Math.max(0, tokens - demand)
    if (hasBacklog) allNodes += nodes
  }
  const total = floorTokens(part * unused)
  if (total <= 0 || allNodes === 0) return extra
  let remaining = total
  const fractions = jobs.flatMap(({ nodes, hasBacklog }, i) => {
    if (!hasBacklog) return []
    const exact = (total * nodes) / allNodes
    extra[i] = floorTokens(exact)
    remaining -= extra[i]
    // Rounded to billionths, so that equal fractions stay equal and the order breaks ties.
    return [{ i, rest: Math.round((exact - extra[i]) * 1e9) }]
  })
  fractions.sort((a, b) => b.rest - a.rest || a.i - b.i)
  for (const { i } of fractions.slice(0, remaining)) extra[i]!++
  return extra
}

export type { AdapTbfOptions } from './controller-options.ts'

/** Details of the last period beyond the decision. */
export interface PeriodReport {
  /** Reason for holding the last allocation; undefined if the period was evaluated. */
  readonly held: Failure | undefined
  /** Demand passed to the allocator, RPCs by JobID. */
  readonly demand: ReadonlyMap<string, number>
  /** Jobs without the counts that the demand measure needs; `served` is used instead. */
  readonly substituted: number
  /** Jobs with an unknown number of nodes, counted as one. */
  readonly unmapped: readonly string[]
  /** Tokens moved between pairs of jobs. */
  readonly moves: readonly PairMove[]
  /** Tokens allocated twice, by JobID; empty without `overdraft`. */
  readonly overdraft: ReadonlyMap<string, number>
  /** Largest token rate of the period, T, RPC/s; adapted by `autoT`. */
  readonly maxRatePerSec: number
  /** Delays of the observation; undefined without any. */
  readonly lag: ControlLag | undefined
}

const NO_ALLOCATION: Pick<Decision, 'budget' | 'allocations'> = { budget: 0, allocations: [] }

/**
 * AdapTBF controller of one target.
 *
 * A period that cannot be evaluated repeats the last allocation and moves no record: an invalid length (`BAD_PERIOD`), an end before that
 * of the last one (`CLOCK_BACKWARDS`; the new clock applies from the next one), or a missing observation (`hold`).
 *
 * Source: AdapTBF III-A (System Stats Controller, Rule Management Daemon) and III-C. Deviations: demand may be measured in other ways
 * than by served RPCs (`DEMAND_MEASURES`); a period that cannot be evaluated does not stop the rules; the length may differ from period to
 * period, with T * dt of each; extensions by name, off by default (`EXTENSIONS`).
 */
export class AdapTbfController implements Controller {
  readonly name = ADAPTBF
  readonly #options: AdapTbfOptions
  #allocator: TokenAllocator
  #pairs = new PairLedger()
  #maxRatePerSec: number
  #lastAtNs = -Infinity
  /** Length of the last evaluated period; undefined before the first. */
  #lastPeriodNs: number | undefined
  #last = NO_ALLOCATION
  /** Allocations of the decision before the last: in force until the rules of the last one were written. */
  #before: readonly Allocation[] = []
  #report: PeriodReport

  /** @throws InvariantError if the options are invalid; `create` validates them. */
  constructor(options: AdapTbfOptions) {
    const checked = checkOptions(options)
    invariant(checked.ok, checked.ok ? '' : checked.error.what)
    this.#options = options
    this.#maxRatePerSec = options.maxRatePerSec
    this.#allocator = new TokenAllocator({ coefficient: options.coefficient })
    this.#report = this.#emptyReport()
  }

  /** Creates a controller, or returns the reason for refusing its options. */
  static create(options: AdapTbfOptions): Result<AdapTbfController> {
    const checked = checkOptions(options)
    return checked.ok ? ok(new AdapTbfController(options)) : checked
  }

  /** Restores a controller from a saved state; `saved` is untrusted and validated. */
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

  /** Returns all state that the next period depends on, as plain data. The clock is not part of it and starts over. */
  save(): AdapTbfState {
    return {
      version: 1,
      maxRatePerSec: this.#maxRatePerSec,
      allocator: this.#allocator.save(),
      pairs: this.#pairs.save(),
      last: this.#last,
    }
  }

  /** Debts between jobs on this target. Read-only: the controller keeps it in step with the records. */
  get pairs(): Pick<PairLedger, 'balance' | 'claims' | 'debts' | 'pairs' | 'totals'> {
    return this.#pairs
  }

  /** Report on the last period. */
  get report(): PeriodReport {
    return this.#report
  }

  /** Current largest token rate, T, RPC/s. */
  get maxRatePerSec(): number {
    return this.#maxRatePerSec
  }

  /** Discards the tokens of the last decision. Call it if its rules were not in force: the tokens then say nothing about utilization. */
  forgetTokens(): void {
    this.#allocator.forgetTokens()
    this.#before = []
  }

  /**
   * Removes jobs that ended, none of them active in the last period. Their lent or borrowed tokens go to `ENDED_JOBS`.
   *
   * @returns  the resulting changes between pairs.
   */
  retire(atNs: number, jobs: ReadonlySet<string>): PairMove[] {
    this.#allocator.retire(jobs)
    // A target that has not answered for a long time still repeats its last allocation.
    this.#last = { ...this.#last, allocations: this.#last.allocations.filter((a) => !jobs.has(a.jobId)) }
    return this.#options.pairLedger === false ? [] : this.#pairs.retire(atNs, jobs)
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

  /** Returns the decision for a period without an observation: the last allocation again, no record moves. */
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
    this.#followLength(periodNs)
    this.#followDevice(observation, jobs, dtSeconds)
    const measure = this.#options.demand ?? 'saturation'
    const isLate = observation.lag?.write !== undefined
    const before = isLate ? new Map(this.#before.map(({ jobId, tokens }) => [jobId, tokens])) : NO_EXTRA
    const wanted = jobs.map(({ jobId: id, nodes, counts }) => {
      const last = this.#allocator.previousTokens(id)
      const inForce = last === undefined ? undefined : tokensInForce(last, before.get(id), observation)
      return { id, nodes, demand: demandOf(measure, counts, last, inForce) }
    })
    const stepped = this.#allocator.step({ maxRatePerSec: this.#maxRatePerSec, dtSeconds, jobs: wanted })
    if (!stepped.ok) return this.#hold(target, atNs, stepped.error)
    const hasLedger = this.#options.pairLedger !== false
    const moves = hasLedger ? this.#enterPairs(atNs) : []
    const demand = hasLedger || this.#options.overdraft ? new Map(wanted.map((j) => [j.id, j.demand])) : NO_EXTRA
    const extra = this.#overdraw(stepped.value, jobs, demand)
    this.#before = this.#last.allocations
    this.#last = { budget: stepped.value.budget, allocations: toAllocations(stepped.value, extra, periodNs) }
    this.#report = {
      held: undefined,
      demand,
      substituted: hasLedger ? jobs.filter(({ counts }) => !isMeasured(measure, counts)).length : 0,
      unmapped: hasLedger ? jobs.filter(({ isUnmapped }) => isUnmapped).map(({ jobId }) => jobId) : [],
      moves,
      overdraft: extra,
      maxRatePerSec: this.#maxRatePerSec,
      lag: observation.lag,
    }
    const records = hasLedger ? this.#allocator.records() : NO_EXTRA
    return { target, atNs, ...this.#last, records }
  }

  /** Measures a period of another length against the tokens that the rates in force yield in it. */
  #followLength(periodNs: number): void {
    const before = this.#lastPeriodNs
    this.#lastPeriodNs = periodNs
    if (before === undefined || before === periodNs) return
    const ratio = periodNs / before
    this.#allocator.rescaleTokens(ratio)
    this.#last = { ...this.#last, budget: this.#last.budget * ratio }
  }

  #enterPairs(atNs: number): PairMove[] {
    const { ids, redistributed, recompensated } = this.#allocator.flows()
    return this.#pairs.enter(atNs, ids, [redistributed, recompensated])
  }

  /** Returns the tokens lent (+) or borrowed (-) by every job ever active. */
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
    // Bounded, so that a device that hangs does not reduce T so far that recovery takes minutes.
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
        // Without queue data, a job that wanted more than it was served counts as waiting.
        const hasBacklog = counts.queued === undefined ? wanted > counts.served : counts.queued > 0
        return { nodes, tokens: tokens[i]!, demand: wanted, hasBacklog }
      }),
      part,
    )
    return new Map(ids.flatMap((id, i) => (extra[i]! > 0 ? [[id, extra[i]!] as const] : [])))
  }

  #emptyReport(): PeriodReport {
    const demand = NO_EXTRA
    const maxRatePerSec = this.#maxRatePerSec
    return {
      held: undefined,
      demand,
      substituted: 0,
      unmapped: [],
      moves: [],
      overdraft: NO_EXTRA,
      maxRatePerSec,
      lag: undefined,
    }
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
