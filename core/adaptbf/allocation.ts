/**
 * Token allocation of one target per observation period: priority, redistribution, re-compensation. One independent allocator per OST; it
 * reads no clock and measures nothing.
 *
 * Invariants: the tokens of a period sum to its budget (or to 0 when no job is active); all records sum to 0; a job's record moves by its
 * initial minus its final tokens; the order of the input changes nothing.
 */
import { type Failure, type Result, fail, ok } from '../base/result.ts'
import { MAX_BUDGET, tokenBudget } from './budget.ts'
import { type PeriodSteps, explainPeriod } from './explanation.ts'
import { type JobCode, type PeriodJob, JobLedger } from './job-ledger.ts'
import type { AllocatorState } from './allocator-state.ts'
import { type PeriodColumns, createColumns } from './period-columns.ts'
import type { Coefficient } from '../controllers/settings.ts'
import { EPS, distribute, floorTokens } from './rounding.ts'

/** Observation of one target for the period that just ended. */
export interface ObservedPeriod {
  /** Largest token rate of the target, T, RPC/s, > 0. */
  readonly maxRatePerSec: number
  /** Nominal length of the period, s, > 0. */
  readonly dtSeconds: number
  /** Jobs of the period, in any order; those without demand may be included. */
  readonly jobs: readonly PeriodJob[]
}

/** Allocation of a period: the active jobs in columns, highest priority first. Immutable. */
export interface AllocatedPeriod {
  /** Tokens of the period, M; not allocated if no job is active. */
  readonly budget: number
  /** JobIDs, shape [n]. */
  readonly ids: readonly string[]
  /** Tokens (RPCs) of the next period, shape [n]; whole, >= 0, sum to the budget. */
  readonly tokens: Float64Array
  /** Tokens lent (+) or borrowed (-) so far, shape [n]. */
  readonly records: Float64Array
  /** Change by the period, shape [n]: new record - old record. */
  readonly recordDeltas: Float64Array
}

/** Tokens moved between the records in a period, by step. Both sum to 0; together they are the record deltas. */
export interface PeriodFlows {
  /** JobIDs, shape [n]. */
  readonly ids: readonly string[]
  /** Step 2: tokens given (+) or received (-) from the surplus, shape [n]. */
  readonly redistributed: Float64Array
  /** Step 3: tokens given back (+) or received back (-), shape [n]. */
  readonly recompensated: Float64Array
}

/** Deviations of an allocator from the paper. */
export interface AllocatorOptions {
  /** Default: `max`, as the paper prints it. */
  readonly coefficient?: Coefficient | undefined
}

/** Reasons for refusing a period. */
export type AllocationCode = JobCode | 'BAD_RATE' | 'BAD_PERIOD' | 'BUDGET_TOO_LARGE'
export interface AllocationFailure extends Failure {
  readonly code: AllocationCode
}

/**
 * Allocates the tokens of one target by AdapTBF.
 *
 * Source: AdapTBF III-C, equations (1)-(25). Deviations: documented in `distribute`, `allocateInitially`, `redistribute` and
 * `recompensate`; jobs that ended can be retired (`ENDED_JOBS`).
 */
export class TokenAllocator {
  readonly #ledger = new JobLedger()
  readonly #coefficient: Coefficient
  #columns: PeriodColumns = createColumns(0)
  #slots: readonly number[] = []
  #ids: readonly string[] = []
  #period = 0

  constructor({ coefficient = 'max' }: AllocatorOptions = {}) {
    this.#coefficient = coefficient
  }

  /** Creates an allocator from a validated state. */
  static adopt({ jobs }: AllocatorState, options?: AllocatorOptions): TokenAllocator {
    const allocator = new TokenAllocator(options)
    allocator.#ledger.adopt(jobs)
    allocator.#period = 1
    for (const [slot, { tokens }] of jobs.entries()) {
      if (tokens === null) continue
      allocator.#ledger.tokens[slot] = tokens
      allocator.#ledger.activeIn[slot] = 1
    }
    return allocator
  }

  /** Returns all state that the next period depends on, as plain data. */
  save(): AllocatorState {
    const { ids, record, rho } = this.#ledger
    return {
      version: 1,
      jobs: ids.map((id, slot) => ({
        id,
        record: record[slot]!,
        rho: rho[slot]!,
        tokens: this.previousTokens(id) ?? null,
      })),
    }
  }

  /**
   * Discards the tokens of the last period, as after a period without active jobs. For rules that were not in force because they expired
   * or were never written.
   */
  forgetTokens(): void {
    this.#period++
  }

  /**
   * Converts the tokens of the last period to a period of another length, so that utilization compares equal lengths. Records and
   * remainders stay.
   *
   * @param ratio  new length over old length, > 0.
   */
  rescaleTokens(ratio: number): void {
    const { ids, tokens, activeIn } = this.#ledger
    for (let slot = 0; slot < ids.length; slot++) {
      if (activeIn[slot] === this.#period) tokens[slot] = Math.round(tokens[slot]! * ratio)
    }
  }

  /** Removes jobs that ended, none of them active in the last period; their records and remainders go to `ENDED_JOBS`. */
  retire(jobs: ReadonlySet<string>): void {
    this.#ledger.retire(jobs)
  }

  /**
   * Evaluates the period that ended and allocates the next one.
   *
   * @returns  the allocation, or the reason for refusing the input; the state is then unchanged.
   * @complexity  O(n log n) in the active jobs at worst, about O(n) while they stay the same.
   */
  step(period: ObservedPeriod): Result<AllocatedPeriod, AllocationFailure> {
    const failure = findFault(period)
    if (failure) return fail(failure)
    const entered = this.#ledger.enter(period.jobs)
    if (!entered.ok) return entered
    const slots = entered.value
    if (slots !== this.#slots) {
      const { ids } = this.#ledger
      this.#slots = slots
      this.#ids = slots.map((slot) => ids[slot]!)
    }
    this.#period++
    const columns = this.#load(slots, tokenBudget(period.maxRatePerSec, period.dtSeconds))
    allocateInitially(columns)
    redistribute(columns)
    recompensate(columns, this.#coefficient)
    return ok(this.#store(slots, columns))
  }

  /** Returns the record of every job ever active, tokens lent (+) or borrowed (-); sums to 0. */
  records(): Map<string, number> {
    return this.#ledger.records()
  }

  /** Returns the running rounding remainder of a job, tokens; undefined if the job was never active. All remainders sum to 0. */
  remainder(id: string): number | undefined {
    const slot = this.#ledger.slotOf(id)
    return slot === undefined ? undefined : this.#ledger.rho[slot]
  }

  /** Returns the tokens that the last period allocated to a job; undefined if the job was not active in it. */
  previousTokens(id: string): number | undefined {
    const slot = this.#ledger.slotOf(id)
    return slot !== undefined && this.#ledger.activeIn[slot] === this.#period ? this.#ledger.tokens[slot] : undefined
  }

  /** Returns the tokens that the last period moved between the records. */
  flows(): PeriodFlows {
    const { count, surplus, received, reclaimed, repaid } = this.#columns
    const redistributed = new Float64Array(count)
    const recompensated = new Float64Array(count)
    for (let i = 0; i < count; i++) {
      redistributed[i] = surplus[i]! - received[i]!
      recompensated[i] = reclaimed[i]! - repaid[i]!
    }
    return { ids: this.#ids, redistributed, recompensated }
  }

  /** Returns the three steps of the last accepted period. Built on demand; costs more than the period itself. */
  explain(): PeriodSteps {
    return explainPeriod(this.#columns, this.#ids)
  }

  #load(slots: readonly number[], budget: number): PeriodColumns {
    const count = slots.length
    if (this.#columns.capacity < count) this.#columns = createColumns(Math.max(count, 2 * this.#columns.capacity))
    const columns = this.#columns
    const { nodes, demand, record, rho, tokens, activeIn } = this.#ledger
    const preceding = this.#period - 1
    let allNodes = 0
    for (let i = 0; i < count; i++) {
      const slot = slots[i]!
      allNodes += nodes[slot]!
      columns.nodes[i] = nodes[slot]!
      columns.demand[i] = demand[slot]!
      columns.record[i] = record[slot]!
      columns.rho[i] = rho[slot]!
      columns.previous[i] = preceding > 0 && activeIn[slot] === preceding ? tokens[slot]! : -1
    }
    columns.count = count
    columns.budget = budget
    columns.allNodes = allNodes
    return columns
  }

  #store(slots: readonly number[], columns: PeriodColumns): AllocatedPeriod {
    const { count, budget, final, finalRecord, record: before, rho } = columns
    const ledger = this.#ledger
    const recordDeltas = new Float64Array(count)
    for (let i = 0; i < count; i++) {
      const slot = slots[i]!
      ledger.tokens[slot] = final[i]!
      ledger.record[slot] = finalRecord[i]!
      ledger.rho[slot] = rho[i]!
      ledger.activeIn[slot] = this.#period
      recordDeltas[i] = finalRecord[i]! - before[i]!
    }
    const tokens = final.slice(0, count)
    const records = finalRecord.slice(0, count)
    return { budget, ids: this.#ids, tokens, records, recordDeltas }
  }
}

function findFault({ maxRatePerSec, dtSeconds }: ObservedPeriod): AllocationFailure | undefined {
  if (!(Number.isFinite(maxRatePerSec) && maxRatePerSec > 0)) {
    return { code: 'BAD_RATE', what: 'max_rate is not a rate above 0 RPC/s', why: `got ${maxRatePerSec}` }
  }
  if (!(Number.isFinite(dtSeconds) && dtSeconds > 0)) {
    return { code: 'BAD_PERIOD', what: 'dt is not a length above 0 s', why: `got ${dtSeconds}` }
  }
  const budget = tokenBudget(maxRatePerSec, dtSeconds)
  if (budget <= MAX_BUDGET) return undefined
  return { code: 'BUDGET_TOO_LARGE', what: `max_rate * dt is more than ${MAX_BUDGET} tokens`, why: `got ${budget}` }
}

/**
 * Step 1 of a period: every active job gets its share of the budget by priority, p = nodes / nodes of all active jobs. The tokens sum to
 * the budget; no record moves.
 *
 * Source: AdapTBF III-C1, equations (1)(2). Deviations: shares are fractions of the whole budget M, not of T * dt, or the remainders
 * would grow without bound when T * dt is not whole.
 *
 * @param columns  `nodes`, `allNodes`, `rho` and `budget` are read; `priority`, `initial`, `initialRho`, `rho` are filled.
 */
function allocateInitially(columns: PeriodColumns): void {
  const { count, budget, allNodes, nodes, priority, share, rho, initial, scratch } = columns
  for (let i = 0; i < count; i++) {
    priority[i] = nodes[i]! / allNodes
    share[i] = (budget * nodes[i]!) / allNodes
  }
  columns.initialCorrections = count === 0 ? 0 : distribute(budget, count, { share, rho, granted: initial, scratch })
  columns.initialRho.set(rho.subarray(0, count))
}

/**
 * Step 2 of a period: tokens above the demand are lent to the jobs that can use them.
 *
 * Takes every token above a job's demand and redistributes the sum by distribution factor over all active jobs, including the givers.
 * Tokens given are recorded as lent, tokens received as borrowed.
 *
 * Source: AdapTBF III-C2, equations (3)-(8). Deviations: a job that was not active in the preceding period is measured against this
 * period's initial tokens, since equation (3) has no value for it; a denominator of 0 tokens is taken as 1.
 *
 * @param columns  after `allocateInitially`; the tokens still sum to the budget and the records keep their sum.
 */
function redistribute(columns: PeriodColumns): void {
  const { count, allNodes, nodes, demand, previous, initial, utilization, surplus, factor } = columns
  let surplusTotal = 0
  let factorTotal = 0
  for (let i = 0; i < count; i++) {
    const base = Math.max(1, previous[i]! >= 0 ? previous[i]! : initial[i]!)
    const u = demand[i]! / base
    utilization[i] = u
    // u + u * p and u * p over one common denominator: integers up to a single division, so as exact as a double can be.
    const parts = u > 1 + EPS ? allNodes + nodes[i]! : nodes[i]!
    factor[i] = (demand[i]! * parts) / (base * allNodes)
    factorTotal += factor[i]!
    surplus[i] = Math.max(0, initial[i]! - demand[i]!)
    surplusTotal += surplus[i]!
  }
  columns.surplusTotal = surplusTotal

  const { priority, share, rho, received, scratch, record, redistributed, redistributedRecord } = columns
  // Demand >= 1 and nodes >= 1 rule out that all factors are 0; otherwise the priorities, which sum to 1, would be used.
  const weight = factorTotal > 0 ? factor : priority
  const allWeights = factorTotal > 0 ? factorTotal : 1
  for (let i = 0; i < count; i++) share[i] = (weight[i]! * surplusTotal) / allWeights
  columns.redistributedCorrections =
    count === 0 ? 0 : distribute(surplusTotal, count, { share, rho, granted: received, scratch })
  for (let i = 0; i < count; i++) {
    const lent = surplus[i]! - received[i]!
    redistributed[i] = initial[i]! - lent
    redistributedRecord[i] = record[i]! + lent
  }
  columns.redistributedRho.set(rho.subarray(0, count))
}

/**
 * Step 3 of a period: borrowers give tokens back to the lenders that need them.
 *
 * Reclaims tokens from jobs that owed before and after step 2 (J-) and distributes them to jobs that were owed before and after it (J+),
 * by distribution factor. Without lenders nothing is reclaimed.
 *
 * Source: AdapTBF III-C3, equations (9)-(20). Deviations: (13) is one coefficient for the period, since it sums over J+ and applies to
 * J-; it can exceed 1, so a borrower's repayment is also bounded by its tokens; only lenders take part in the rounding, because no other
 * job may change in this step.
 *
 * @param columns  after `redistribute`; `final` sums to the budget, `finalRecord` keeps the sum of `record`.
 */
function recompensate(columns: PeriodColumns, coefficient: Coefficient = 'max'): void {
  const lenders = findSides(columns, coefficient === 'max' ? Math.max : Math.min)
  reclaim(columns)
  repay(columns, lenders)
  const { count, redistributed, redistributedRecord, reclaimed, repaid, final, finalRecord } = columns
  for (let i = 0; i < count; i++) {
    const moved = repaid[i]! - reclaimed[i]!
    final[i] = redistributed[i]! + moved
    finalRecord[i] = redistributedRecord[i]! - moved
  }
}

/** Equations (9)-(13): determines both sides, the lenders' future utilization and the coefficient. Returns the number of lenders. */
function findSides(columns: PeriodColumns, against1: (one: number, u: number) => number): number {
  const { count, record, redistributedRecord, side, demand, redistributed, futureUtilization } = columns
  const { utilization, priority, members } = columns
  let lenders = 0
  let coefficient = 0
  for (let i = 0; i < count; i++) {
    const before = record[i]!
    const after = redistributedRecord[i]!
    side[i] = before > 0 && after > 0 ? 1 : before < 0 && after < 0 ? -1 : 0
    if (side[i] !== 1) continue
    const future = demand[i]! / Math.max(1, redistributed[i]!)
    futureUtilization[i] = future
    coefficient += (priority[i]! * (against1(1, utilization[i]!) + Math.max(0, 1 - future))) / 2
    members[lenders++] = i
  }
  columns.coefficient = coefficient
  return lenders
}

/** Equations (14)(17): repayment of each borrower, bounded by its debt at the start and by its tokens. */
function reclaim(columns: PeriodColumns): void {
  const { count, side, record, redistributed, reclaimed, coefficient } = columns
  let total = 0
  for (let i = 0; i < count; i++) {
    const has = redistributed[i]!
    reclaimed[i] = side[i] === -1 ? Math.min(-record[i]!, floorTokens(coefficient * has), has) : 0
    total += reclaimed[i]!
  }
  columns.reclaimedTotal = total
}

/** Equation (18): distributes the reclaimed tokens over the lenders, packed so that the hand-out sees only them. */
function repay(columns: PeriodColumns, lenders: number): void {
  const { count, members, factor, rho, share, memberRho, memberGranted, scratch, repaid, reclaimedTotal } = columns
  repaid.fill(0, 0, count)
  columns.recompensatedCorrections = 0
  if (reclaimedTotal === 0) return
  let allFactors = 0
  for (let m = 0; m < lenders; m++) allFactors += factor[members[m]!]!
  for (let m = 0; m < lenders; m++) {
    const i = members[m]!
    share[m] = (factor[i]! * reclaimedTotal) / allFactors
    memberRho[m] = rho[i]!
  }
  columns.recompensatedCorrections = distribute(reclaimedTotal, lenders, {
    share,
    rho: memberRho,
    granted: memberGranted,
    scratch,
  })
  for (let m = 0; m < lenders; m++) {
    const i = members[m]!
    repaid[i] = memberGranted[m]!
    rho[i] = memberRho[m]!
  }
}
