/** Intermediate steps of a period as named numbers: for display, the machine interface and golden cases. */
import { byCodeUnit } from '../base/order.ts'
import type { PeriodColumns } from './period-columns.ts'

/** Values by JobID. */
export type PerJob = Readonly<Record<string, number>>

/** Step 1: tokens by priority. `corrections` counts the single tokens moved by rounding. */
export interface InitialStep {
  readonly priority: PerJob
  readonly alloc: PerJob
  readonly remainder: PerJob
  readonly corrections: number
}

/** Step 2: tokens above the demand, lent by distribution factor. */
export interface RedistributedStep {
  readonly utilization: PerJob
  readonly surplus: PerJob
  readonly surplusTotal: number
  readonly distributionFactor: PerJob
  readonly received: PerJob
  readonly alloc: PerJob
  readonly record: PerJob
  readonly remainder: PerJob
  readonly corrections: number
}

/** Step 3: tokens reclaimed from `negative` jobs and received by `positive` ones; ids ascending by code unit. */
export interface RecompensatedStep {
  readonly positive: readonly string[]
  readonly negative: readonly string[]
  /** Lenders only. */
  readonly futureUtilization: PerJob
  readonly coefficient: number
  /** Borrowers only. */
  readonly reclaimed: PerJob
  readonly reclaimedTotal: number
  /** Lenders only. */
  readonly received: PerJob
  readonly alloc: PerJob
  readonly record: PerJob
  readonly remainder: PerJob
  readonly corrections: number
}

/** The three steps of one period; the values per job cover the active jobs. */
export interface PeriodSteps {
  readonly initial: InitialStep
  readonly redistributed: RedistributedStep
  readonly recompensated: RecompensatedStep
}

/**
 * Returns the steps of the period in the columns.
 *
 * Source: AdapTBF III-C, equations (1)-(25). Deviations: none.
 *
 * @param ids  JobIDs in the order of the columns.
 */
export function explainPeriod(columns: PeriodColumns, ids: readonly string[]): PeriodSteps {
  const named = ids.map((id, at) => ({ id, at })).sort((a, b) => byCodeUnit(a.id, b.id))
  const pick = (column: Float64Array, side?: 1 | -1): PerJob => {
    const members = side === undefined ? named : named.filter(({ at }) => columns.side[at] === side)
    return byJob(members.map(({ id, at }) => [id, column[at]!]))
  }
  const onSide = (side: 1 | -1): string[] => named.filter(({ at }) => columns.side[at] === side).map(({ id }) => id)
  return {
    initial: {
      priority: pick(columns.priority),
      alloc: pick(columns.initial),
      remainder: pick(columns.initialRho),
      corrections: columns.initialCorrections,
    },
    redistributed: {
      utilization: pick(columns.utilization),
      surplus: pick(columns.surplus),
      surplusTotal: columns.surplusTotal,
      distributionFactor: pick(columns.factor),
      received: pick(columns.received),
      alloc: pick(columns.redistributed),
      record: pick(columns.redistributedRecord),
      remainder: pick(columns.redistributedRho),
      corrections: columns.redistributedCorrections,
    },
    recompensated: {
      positive: onSide(1),
      negative: onSide(-1),
      futureUtilization: pick(columns.futureUtilization, 1),
      coefficient: columns.coefficient,
      reclaimed: pick(columns.reclaimed, -1),
      reclaimedTotal: columns.reclaimedTotal,
      received: pick(columns.repaid, 1),
      alloc: pick(columns.final),
      record: pick(columns.finalRecord),
      remainder: pick(columns.rho),
      corrections: columns.recompensatedCorrections,
    },
  }
}

/** Builds a plain object by JobID; any id is an ordinary key, also `__proto__`. */
export function byJob(entries: Iterable<readonly [string, number]>): PerJob {
  return Object.fromEntries(entries)
}
