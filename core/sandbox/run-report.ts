/**
 * Result of one run of a scenario under one variant and one seed: plain data for transfer between threads and files.
 */
import type { ObjectiveKey } from '../controllers/objectives.ts'

/** Times are simulated; counts are of the whole run, weighted by the scenario's thinning. */
export interface JobReport {
  readonly jobId: string
  /** Compute nodes: the weight of its share. */
  readonly nodes: number
  /** RPCs wanted by its processes, and served ones, data and metadata. */
  readonly wantedRpcs: number
  readonly servedRpcs: number
  readonly servedBytes: number
  /** Its weighted max-min fair share of its targets' service, RPCs (`FairShares`). */
  readonly fairRpcs: number
  /** Time from the process's request to the reply, ms; NaN if nothing was served. */
  readonly waitP50Ms: number
  readonly waitP95Ms: number
  readonly waitP99Ms: number
  /** Whole seconds with waiting RPCs and no service. */
  readonly starvedS: number
  /** Tokens lent (+) or borrowed (-) at the end; NaN without a ledger. */
  readonly record: number
  /** Bytes served in each bin. */
  readonly bytes: Float64Array
  /** RPCs served in each bin. */
  readonly rpcs: Float64Array
}

export interface TargetReport {
  readonly name: string
  readonly servedRpcs: number
  /** Busy share of the device, 0..1. */
  readonly utilisation: number
  /** Mean time of an RPC on the device including its queue, ms; NaN without RPCs. */
  readonly serviceMs: number
  /** RPCs served in each bin. */
  readonly rpcs: Float64Array
}

/** Value of an objective of the planes besides the OSTs: metadata, locks, tokens. */
export interface PlaneFigure {
  readonly key: ObjectiveKey
  readonly value: number
}

export interface RunReport {
  /** Index of the variant, the baseline is 0. */
  readonly variant: number
  readonly seed: number
  readonly seconds: number
  /** Length of a bin of the series, s; the first covers [0, binS). */
  readonly binS: number
  /** RPCs that one simulated RPC represents. */
  readonly thinning: number
  readonly jobs: readonly JobReport[]
  readonly targets: readonly TargetReport[]
  readonly throughputRpcs: number
  readonly throughputBps: number
  /** Jain's index of each job's served RPCs over its max-min fair share by nodes; NaN with fewer than two jobs. */
  readonly jain: number
  /** Job-seconds. */
  readonly starvedS: number
  /** Jobs whose p95 wait exceeds the objective, and those that starved for longer without any reply. */
  readonly sloMisses: number
  /** Mean over the targets, 0..1. */
  readonly utilisation: number
  readonly planes: readonly PlaneFigure[]
  readonly remarks: readonly string[]
  /** Events of the simulation. */
  readonly events: number
}
