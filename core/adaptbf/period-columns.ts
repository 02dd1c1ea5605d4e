/**
 * One observation period in columns: entry i of each belongs to the i-th active job in processing order (nodes descending, then JobID
 * ascending). The three steps fill them from left to right; no state is kept between periods.
 */

/** Columns of one period, and its totals. Tokens and records are integers in doubles. */
export interface PeriodColumns {
  /** Capacity of the columns, jobs. */
  readonly capacity: number
  /** Active jobs of the period: entries in use. */
  count: number
  /** Token budget of the period, M. */
  budget: number

  /** Compute nodes, >= 1. */
  readonly nodes: Float64Array
  /** Nodes of all active jobs. */
  allNodes: number
  /** RPCs demanded by the job in the period, >= 1. */
  readonly demand: Float64Array
  /** Final tokens of the preceding period, -1 if the job was not active in it. */
  readonly previous: Float64Array
  /** Record at the start of the period, r: lent (+) or borrowed (-) tokens. */
  readonly record: Float64Array
  /** Running rounding remainder, carried through the three steps. */
  readonly rho: Float64Array

  /** Priority p: the job's share of the nodes of all active jobs. */
  readonly priority: Float64Array
  /** Tokens after step 1. */
  readonly initial: Float64Array
  readonly initialRho: Float64Array
  initialCorrections: number

  /** Utilization u: demand per token of the preceding period. */
  readonly utilization: Float64Array
  /** Tokens above the demand. */
  readonly surplus: Float64Array
  surplusTotal: number
  /** Distribution factor DF. */
  readonly factor: Float64Array
  /** Tokens received from the surplus. */
  readonly received: Float64Array
  /** Tokens after step 2. */
  readonly redistributed: Float64Array
  readonly redistributedRecord: Float64Array
  readonly redistributedRho: Float64Array
  redistributedCorrections: number

  /** 1: lender before and after step 2 (J+); -1: borrower before and after it (J-); 0: neither. */
  readonly side: Int8Array
  /** Estimated utilization of the next period; lenders only. */
  readonly futureUtilization: Float64Array
  /** Reclaim coefficient C. */
  coefficient: number
  /** Tokens reclaimed from each borrower. */
  readonly reclaimed: Float64Array
  reclaimedTotal: number
  /** Tokens repaid to each lender. */
  readonly repaid: Float64Array
  /** Tokens after step 3: the allocation of the next period. */
  readonly final: Float64Array
  readonly finalRecord: Float64Array
  recompensatedCorrections: number

  /** Scratch space of the hand-outs. `members`: positions of the lenders; the others are packed in the same order. */
  readonly share: Float64Array
  readonly scratch: Float64Array
  readonly members: Int32Array
  readonly memberRho: Float64Array
  readonly memberGranted: Float64Array
}

/**
 * Creates empty columns for `capacity` jobs.
 *
 * @param capacity  jobs, integer >= 0; 24 doubles, an integer and a byte for each.
 */
export function createColumns(capacity: number): PeriodColumns {
  const reals = (): Float64Array => new Float64Array(capacity)
  return {
    capacity,
    count: 0,
    budget: 0,
    nodes: reals(),
    allNodes: 0,
    demand: reals(),
    previous: reals(),
    record: reals(),
    rho: reals(),
    priority: reals(),
    initial: reals(),
    initialRho: reals(),
    initialCorrections: 0,
    utilization: reals(),
    surplus: reals(),
    surplusTotal: 0,
    factor: reals(),
    received: reals(),
    redistributed: reals(),
    redistributedRecord: reals(),
    redistributedRho: reals(),
    redistributedCorrections: 0,
    side: new Int8Array(capacity),
    futureUtilization: reals(),
    coefficient: 0,
    reclaimed: reals(),
    reclaimedTotal: 0,
    repaid: reals(),
    final: reals(),
    finalRecord: reals(),
    recompensatedCorrections: 0,
    share: reals(),
    scratch: reals(),
    members: new Int32Array(capacity),
    memberRho: reals(),
    memberGranted: reals(),
  }
}
