/**
 * How much of what a target did its jobs explain: the sum of all jobs' deltas against the target's own counters over the
 * same interval, operation by operation, bytes among them.
 *
 * The two do not have to agree, and the difference is shown, not hidden: a share is at most 1, and what the jobs have
 * beyond the target stands beside it. Reading both at one instant is not possible, so a surplus that the next interval
 * takes back is normal; a lasting shortfall means I/O of nobody.
 */

/** Why jobs and target may differ. */
export const COVERAGE_REASONS = {
  NO_JOB_ID: 'RPCs without a job id make no entry',
  EXPIRED: 'entries were dropped between the two readings, with what they had counted since the first',
  NOT_COUNTED: 'the server does not count this operation by job',
  NOT_AT_ONCE: 'the jobs were read after the target',
  TARGET_RESET: 'the counters of the target were cleared in between',
} as const
export type CoverageReason = keyof typeof COVERAGE_REASONS

export interface OperationCoverage {
  readonly name: string
  /** Sum over the jobs, and the target's own; operations or bytes in the interval. */
  readonly jobs: number
  readonly target: number
  /** 0..1; undefined when the target did nothing or its counter is of no use. */
  readonly share: number | undefined
  /** What the jobs have beyond the target. */
  readonly surplus: number
  /** What may be behind a share below 1, or behind a surplus. */
  readonly reasons: readonly CoverageReason[]
}

export interface CoverageFacts {
  /** Entries of the reading before that were not in the last one. */
  readonly entriesGone?: number
  /** Operations that the server counts by job; without it, all. */
  readonly countedByJob?: ReadonlySet<string>
}

/** Shares within a thousandth of 1 need no reason. */
const WHOLE = 0.999

function cover(name: string, jobs: number, target: number, facts: CoverageFacts): OperationCoverage {
  if (target < 0) return { name, jobs, target, share: undefined, surplus: 0, reasons: ['TARGET_RESET'] }
  const share = target > 0 ? Math.min(1, jobs / target) : undefined
  const surplus = Math.max(0, jobs - target)
  const reasons: CoverageReason[] = []
  if (share !== undefined && share < WHOLE) {
    if (facts.countedByJob && !facts.countedByJob.has(name)) reasons.push('NOT_COUNTED')
    else {
      reasons.push('NO_JOB_ID')
      if ((facts.entriesGone ?? 0) > 0) reasons.push('EXPIRED')
    }
  }
  if (surplus > 0) reasons.push('NOT_AT_ONCE')
  return { name, jobs, target, share, surplus, reasons }
}

/**
 * Compares jobs and target.
 *
 * @param jobs    sums over all jobs by name: samples of an operation, bytes of `read_bytes` and `write_bytes`.
 * @param target  the same of the target; below 0 where its counter went down.
 * @returns       what either has, in the target's order.
 */
export function coverage(
  jobs: ReadonlyMap<string, number>,
  target: ReadonlyMap<string, number>,
  facts: CoverageFacts = {},
): OperationCoverage[] {
  const names = new Set([...target.keys(), ...jobs.keys()])
  return [...names].map((name) => cover(name, jobs.get(name) ?? 0, target.get(name) ?? 0, facts))
}

/**
 * One share for several operations: each counts with at most what the target did, so that a surplus of one does not make
 * up for what another lacks.
 *
 * @returns  0..1; undefined when the target did nothing.
 */
export function shareOfAll(operations: readonly OperationCoverage[]): number | undefined {
  const known = operations.filter((o) => o.share !== undefined)
  const all = known.reduce((sum, o) => sum + o.target, 0)
  return all > 0 ? known.reduce((sum, o) => sum + Math.min(o.jobs, o.target), 0) / all : undefined
}
