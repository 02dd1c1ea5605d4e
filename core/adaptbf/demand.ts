/**
 * Measures of a job's demand d in one period. The paper says "RPCs issued to the storage target"; servers export several counts that
 * could mean this, and the choice matters: only a measure that includes waiting RPCs can distinguish a throttled job from a satisfied
 * one.
 */
import type { DemandMeasure } from '../controllers/settings.ts'
import type { JobDemand, Observation } from '../control/controller.ts'
import { EPS } from './rounding.ts'

/** Counts of one job in one period, RPCs; the optional ones are available on some servers only. */
export interface JobMeasure extends JobDemand {
  /** RPCs that the scheduler passed to a service thread; Lustre does not count them by job. */
  readonly dispatched?: number | undefined
  /** RPCs that arrived from clients; Lustre does not count them by job. */
  readonly arrivals?: number | undefined
  /** RPCs waiting for a token at the end of the period; Lustre does not count them by job. */
  readonly queued?: number | undefined
}

/** Observation of a source that may provide more than `job_stats`. */
export interface TargetObservation extends Observation {
  readonly jobs: readonly JobMeasure[]
  /** Fraction of the period in which the device was busy, 0..1; for `autoT`. */
  readonly deviceBusy?: number | undefined
}

/** RPCs added to the demand of a saturated job: the requests that a client keeps in flight. */
const IN_FLIGHT_RPCS = 8

/** Counts of a job in one period, each 0 or more; undefined if the source does not provide it. */
export type DemandCounts = Pick<JobMeasure, 'served' | 'dispatched' | 'arrivals' | 'queued'>

/**
 * Returns the demand of one job, RPCs. If the source lacks a count that the measure needs, `served` is used, and 0 for `queued`.
 *
 * @param previousTokens  tokens of the period that ended; undefined if the job had no rule: its served RPCs are then
 *                        its demand.
 * @param inForce         tokens that the rules in force permitted in the period (`tokensInForce`): a job is saturated if it used these.
 */
export function demandOf(
  measure: DemandMeasure,
  counts: DemandCounts,
  previousTokens: number | undefined,
  inForce = previousTokens,
): number {
  const { served, dispatched, arrivals, queued } = counts
  switch (measure) {
    case 'served':
      return served
    case 'dispatched':
      return dispatched ?? served
    case 'arrivals':
      return arrivals ?? served
    case 'backlog':
      return (dispatched ?? served) + (queued ?? 0)
    case 'saturation': {
      if (previousTokens === undefined || inForce === undefined || served === 0) return served
      const isSaturated = served >= 0.9 * inForce - 1 - EPS
      return isSaturated ? Math.max(served, previousTokens) + IN_FLIGHT_RPCS : served
    }
  }
}

/**
 * Tokens that a job could use in the observed period: those of the last decision, and until that was in force those of the decision
 * before. Its rules came into force within `lag.write`; the middle is used.
 *
 * Source: not in the paper, whose rules take effect without delay. The equations use the allocation of the last decision all the same.
 *
 * @param last    tokens of the last decision.
 * @param before  tokens of the decision before; undefined if the job had no rule then, which limits nothing.
 */
export function tokensInForce(
  last: number,
  before: number | undefined,
  { lag, periodNs }: Pick<Observation, 'lag' | 'periodNs'>,
): number {
  if (before === undefined || !lag?.write) return last
  const { leastNs, mostNs } = lag.write
  const late = Math.min(1, Math.max(0, (leastNs + mostNs) / 2 / periodNs))
  return late * before + (1 - late) * last
}

/** True if the source provided the count that the measure needs; otherwise `demandOf` replaces it. */
export function isMeasured(measure: DemandMeasure, { dispatched, arrivals, queued }: DemandCounts): boolean {
  if (measure === 'dispatched') return dispatched !== undefined
  if (measure === 'arrivals') return arrivals !== undefined
  return measure !== 'backlog' || queued !== undefined
}
