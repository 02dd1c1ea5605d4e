/** Input of the alert detectors: measured figures of one source at one time. NaN is a gap. Times are Unix ms on the source's clock. */
import type { AlertKind } from '../snapshot/notebook.ts'

/** Period over which job figures are averaged and judged, so that shorter changes are ignored. */
export const JOB_BIN_MS = 5_000

export interface ServerFigures {
  readonly host: string
  /** Requests queued in the policies of its service; NaN if not read. */
  readonly queued: number
  /** Reason and start of the outage; empty while the server answers. */
  readonly silent: string
  readonly silentSinceMs?: number | undefined
}

/** Job whose request rate grew. */
export interface GrownJob {
  readonly job: string
  /** Increase, data RPC/s. */
  readonly by: number
}

/** Job means over the last bin, as columns of equal length. */
export interface JobFigures {
  readonly ids: readonly string[]
  /** Data RPC/s served; NaN where one of its targets was not measured. */
  readonly served: ArrayLike<number>
  /** Share of the time at the limit of a controller's rule, 0..1; NaN without such a rule. */
  readonly held: ArrayLike<number>
  /** Servers of its targets, as indices into `servers`. */
  readonly serversOf: (job: number) => readonly number[]
  /** Weight of the job's fair share: its nodes, 1 if unknown. */
  readonly weightOf: (job: number) => number
  readonly servers: readonly { readonly host: string; readonly queued: number; readonly served: number }[]
}

/** A job whose operations pass through PADLL stages, which count queued operations. */
export interface StagedFigures {
  readonly job: string
  readonly scope: string
  /** op/s measured, and op/s that the job demands. */
  readonly measured: number
  readonly demand: number
  /** Operations queued in its stages. */
  readonly queued: number
  /** Total op/s limit of the scope, and number of jobs with demand in it. */
  readonly limit: number
  readonly demandingJobs: number
}

export interface ConvoyFigures {
  /** Unique key of the resource; `name` is for display. */
  readonly key: string
  readonly name: string
  /** Most locks waiting at once since the previous sample. */
  readonly waiting: number
  /** Locks that count as one waiter: 1, or more where only the locks of many resources are counted together. */
  readonly per: number
  /** Mode of the lock that they wait for; empty if unknown. */
  readonly behind: string
}

export interface ReservationFigures {
  readonly node: string
  readonly client: string
  readonly job: string
  /**
   * Consecutive whole periods in which the client requested its reservation and did not get it, NaN if unknown; and the start of the
   * first of them.
   */
  readonly missed: number
  readonly sinceMs: number
  /** I/O completed in the last whole period, and its reservation. */
  readonly completed: number
  readonly reservation: number
}

/** Kinds that compare one measured value per subject with the threshold, sample by sample. */
export type LevelKind = Exclude<AlertKind, 'queue' | 'starvation' | 'convoy' | 'reservation' | 'disconnect'>

/** Measured value of one subject, in the unit of its rule. */
export interface LevelFigures {
  /** Unique within the kind. */
  readonly subject: string
  /** Server, job, client or resource. */
  readonly where: string
  /** NaN if unknown: the alert then neither begins nor ends. */
  readonly value: number
  /** Start of the condition, if measured. */
  readonly sinceMs?: number | undefined
  readonly text: () => string
}

/** An absent kind was not measured; a subject that is absent from a measured kind is at 0. */
export type Levels = { readonly [K in LevelKind]?: readonly LevelFigures[] | undefined }

export interface Figures {
  readonly atMs: number
  readonly intervalMs: number
  /** Changes whenever baselines may no longer hold: another controller, another mode, or rules of an operator. */
  readonly regime: string
  readonly servers: readonly ServerFigures[]
  /** undefined between two bins. */
  readonly jobs?: JobFigures | undefined
  /** undefined if unknown. */
  readonly staged?: readonly StagedFigures[] | undefined
  readonly convoys?: readonly ConvoyFigures[] | undefined
  readonly reservations?: readonly ReservationFigures[] | undefined
  readonly levels?: Levels | undefined
  /** Returns the job that grew most on a server since a time; undefined if no job grew or it is unknown. */
  readonly grown?: ((host: string, sinceMs: number) => GrownJob | undefined) | undefined
}

/** `high`: at or above the level; `held`: between it and the clear level, where an active alert stays active; `low`: below. */
export type AlertCondition = 'high' | 'held' | 'low' | 'unknown'

/** Judgement of a detector about one subject at one time. */
export interface Judgement {
  readonly subject: string
  readonly condition: AlertCondition
  /** Measured value, in the unit of the threshold. */
  readonly measure: number
  /** Server, job, client or resource. */
  readonly where: string
  readonly level: 'watch' | 'bad'
  /** Start of the condition, if measured. */
  readonly sinceMs?: number | undefined
  readonly text: () => string
}

/**
 * Hysteresis: an alert ends only below its clear level, so that a value that fluctuates around the level is one alert.
 *
 * @param clear  clear level as a share of the level; 0: an alert ends only at 0.
 */
export function conditionOf(measure: number, level: number, clear = 0.5): AlertCondition {
  if (Number.isNaN(measure)) return 'unknown'
  if (measure >= level) return 'high'
  return measure > 0 && measure >= clear * level ? 'held' : 'low'
}
