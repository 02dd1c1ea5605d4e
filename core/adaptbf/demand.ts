/**
 * What counts as a job's demand d in one period. The paper says "RPCs issued to the storage target"; a server can be asked
 * for several things that this may mean, and they differ where it matters: only a measure that sees RPCs still waiting can
 * tell a throttled job from a satisfied one.
 */
import type { DemandMeasure } from '../controllers/settings.ts'
import type { JobDemand, Observation } from '../control/controller.ts'
import { EPS } from './rounding.ts'

/** One job in one period, with what only some servers can tell. Counts are RPCs of the period. */
export interface JobMeasure extends JobDemand {
  /** RPCs that the scheduler handed to a service thread; Lustre does not count them by job. */
  readonly dispatched?: number | undefined
  /** RPCs that arrived from the clients; Lustre does not count them by job. */
  readonly arrivals?: number | undefined
  /** RPCs that wait for a token at the end of the period; Lustre does not count them by job. */
  readonly queued?: number | undefined
}

/** An observation whose source may know more than `job_stats` shows. */
export interface TargetObservation extends Observation {
  readonly jobs: readonly JobMeasure[]
  /** Part of the period in which the device was busy, 0..1; for `autoT`. */
  readonly deviceBusy?: number | undefined
}

/** RPCs added to the demand of a saturated job: what a client keeps in flight. */
const IN_FLIGHT_RPCS = 8

/** A job's counts of one period, each 0 or more; undefined where the source cannot tell. */
export type DemandCounts = Pick<JobMeasure, 'served' | 'dispatched' | 'arrivals' | 'queued'>

/**
 * The demand of one job, RPCs. Where the source does not give what a measure needs, `served` stands in.
 *
 * @param previousTokens  tokens of the period that ended; undefined where the job had no rule: what it was served is then
 *                        what it wanted.
 */
export function demandOf(measure: DemandMeasure, counts: DemandCounts, previousTokens: number | undefined): number {
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
      const isSaturated = served > 0 && previousTokens !== undefined && served >= 0.9 * previousTokens - 1 - EPS
      return isSaturated ? Math.max(served, previousTokens) + IN_FLIGHT_RPCS : served
    }
  }
}

/** Whether a source gave what a measure needs; otherwise `served` stood in. */
export function isMeasured(measure: DemandMeasure, { dispatched, arrivals, queued }: DemandCounts): boolean {
  if (measure === 'dispatched') return dispatched !== undefined
  if (measure === 'arrivals') return arrivals !== undefined
  return measure !== 'backlog' || queued !== undefined
}
