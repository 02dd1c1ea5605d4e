/** What one run of a scenario under one variant and one seed gave: plain data that crosses threads and files. */

/** Times are simulated; counts are of the whole run, weighted by the scenario's thinning. */
export interface JobReport {
  readonly jobId: string
  /** Compute nodes: what its share is weighted by. */
  readonly nodes: number
  /** RPCs that its processes wished for, and those that were served, data and metadata. */
  readonly wantedRpcs: number
  readonly servedRpcs: number
  readonly servedBytes: number
  /** Its weighted max-min fair share of what its targets served, RPCs (`FairShares`). */
  readonly fairRpcs: number
  /** From the wish of the process to the reply, ms; NaN when nothing was served. */
  readonly waitP50Ms: number
  readonly waitP95Ms: number
  readonly waitP99Ms: number
  /** Whole seconds in which something of it waited and nothing was served. */
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
  /** Share of the time in which the device was at work, 0..1. */
  readonly utilisation: number
  /** Mean time of an RPC on the device with its queue there, ms; NaN without RPCs. */
  readonly serviceMs: number
  /** RPCs served in each bin. */
  readonly rpcs: Float64Array
}

/** A figure of one of the other planes: `metadata` (PADLL), `locks` (ccPFS), `tokens` (Haechi). */
export interface PlaneFigure {
  readonly plane: 'metadata' | 'locks' | 'tokens'
  readonly what: string
  readonly unit: string
  readonly value: number
}

export interface RunReport {
  /** Index of the variant, the baseline is 0. */
  readonly variant: number
  readonly seed: number
  readonly seconds: number
  /** Length of a bin of the series, s; the first covers [0, binS). */
  readonly binS: number
  /** RPCs that one simulated RPC stands for. */
  readonly thinning: number
  readonly jobs: readonly JobReport[]
  readonly targets: readonly TargetReport[]
  readonly throughputRpcs: number
  readonly throughputBps: number
  /** Jain's index of what each job was served over its max-min fair share by nodes; NaN with fewer than two jobs. */
  readonly jain: number
  /** Job-seconds. */
  readonly starvedS: number
  /** Jobs whose p95 wait is longer than the objective, and those that starved for longer without any answer. */
  readonly sloMisses: number
  /** Mean over the targets, 0..1. */
  readonly utilisation: number
  readonly planes: readonly PlaneFigure[]
  readonly remarks: readonly string[]
  /** Events of the simulation. */
  readonly events: number
}
