/** Conversion of collected measurements to countable jobs, each once. */
import type { DemandCounts, JobMeasure } from './demand.ts'

/** One job of one period, as input of the allocator. */
export interface CountedJob {
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
export function countJobs(jobs: readonly JobMeasure[]): CountedJob[] {
  const counted = new Map<string, CountedJob>()
  for (const job of jobs) {
    const entry = countEntry(job)
    if (!entry) continue
    const known = counted.get(entry.jobId)
    counted.set(entry.jobId, known ? sum(known, entry) : entry)
  }
  return [...counted.values()]
}

function countEntry({ jobId, nodes, served, dispatched, arrivals, queued }: JobMeasure): CountedJob | undefined {
  if (jobId === '' || !(isCount(served) && isCount(dispatched) && isCount(arrivals) && isCount(queued)))
    return undefined
  if (!(served > 0 || (dispatched ?? 0) > 0 || (arrivals ?? 0) > 0 || (queued ?? 0) > 0)) return undefined
  const isUnmapped = !(nodes !== undefined && Number.isFinite(nodes))
  const counts = {
    served: toWhole(served),
    dispatched: dispatched === undefined ? undefined : toWhole(dispatched),
    arrivals: arrivals === undefined ? undefined : toWhole(arrivals),
    queued: queued === undefined ? undefined : toWhole(queued),
  }
  return { jobId, nodes: isUnmapped ? 1 : Math.min(COUNT_MAX, Math.max(1, nodes)), isUnmapped, counts }
}

function sum(a: CountedJob, b: CountedJob): CountedJob {
  return {
    jobId: a.jobId,
    nodes: Math.max(a.nodes, b.nodes),
    isUnmapped: a.isUnmapped && b.isUnmapped,
    counts: {
      served: toWhole(a.counts.served + b.counts.served),
      dispatched: added(a.counts.dispatched, b.counts.dispatched),
      arrivals: added(a.counts.arrivals, b.counts.arrivals),
      queued: added(a.counts.queued, b.counts.queued),
    },
  }
}

/** A count that one entry lacks is undefined in the sum, too. */
const added = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : toWhole(a + b)

/** Largest count: small enough to be exact, large enough for any server. */
const COUNT_MAX = 2 ** 50

/** True for a valid number of RPCs or an absent count; `served` is never absent. */
const isCount = (value: number | undefined): boolean => value === undefined || (Number.isFinite(value) && value >= 0)

/** Rounds a fraction of an RPC up to one: a job that was served is active. */
const toWhole = (value: number): number => Math.min(COUNT_MAX, value > 0 ? Math.max(1, Math.round(value)) : 0)
