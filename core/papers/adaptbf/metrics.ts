/** Metrics of a run that claims use. */
import { sum } from '../../base/statistics.ts'
import type { Run } from './run.ts'

/** Bins of 100 ms per second. */
export const BINS_PER_S = 10

/** RPCs served to a job in [fromS, toS); whole tenths of a second. */
export const servedIn = (run: Run, job: number, fromS: number, toS: number): number =>
  sum(run.served[job]!.slice(fromS * BINS_PER_S, toS * BINS_PER_S))

/** RPC/s of all jobs in [fromS, toS). */
export const rateIn = (run: Run, fromS: number, toS: number): number =>
  sum(run.jobs.map((_, job) => servedIn(run, job, fromS, toS))) / (toS - fromS)

/** Share of each job in the RPCs served in [fromS, toS). */
export function sharesIn(run: Run, fromS: number, toS: number): number[] {
  const served = run.jobs.map((_, job) => servedIn(run, job, fromS, toS))
  const all = sum(served)
  return served.map((rpcs) => rpcs / all)
}

/** Share of each job in the nodes: its entitlement while all are active. */
export function entitlements({ jobs }: Pick<Run, 'jobs'>): number[] {
  const all = sum(jobs.map(({ nodes }) => nodes))
  return jobs.map(({ nodes }) => nodes / all)
}

/** Largest deviation of a share from its entitlement. */
export function shareError(run: Run, fromS: number, toS: number): number {
  const shares = sharesIn(run, fromS, toS)
  return Math.max(...entitlements(run).map((part, job) => Math.abs(shares[job]! - part)))
}

/** Windows of 1 s in [fromS, toS). */
const seconds = (fromS: number, toS: number): number[] =>
  Array.from({ length: Math.max(0, toS - fromS) }, (_, i) => fromS + i)

/**
 * Largest deviation of a job's share from its entitlement among the active jobs, over all seconds of [fromS, toS): the
 * distance of a curve from its plateau.
 *
 * @param active  numbers of the jobs that run.
 */
export function shareErrorBySecond(run: Run, active: readonly number[], fromS: number, toS: number): number {
  const nodes = sum(active.map((job) => run.jobs[job]!.nodes))
  const errors = seconds(fromS, toS).flatMap((at) => {
    const served = active.map((job) => servedIn(run, job, at, at + 1))
    return active.map((job, i) => Math.abs(served[i]! / sum(served) - run.jobs[job]!.nodes / nodes))
  })
  return errors.length > 0 ? Math.max(...errors) : NaN
}

/** Largest deviation of a job's rate from its entitlement, as a fraction of the capacity, over all seconds of [fromS, toS). */
export function rateError(run: Run, active: readonly number[], fromS: number, toS: number): number {
  const parts = entitlements(run)
  const errors = seconds(fromS, toS).flatMap((at) =>
    active.map((job) => Math.abs(servedIn(run, job, at, at + 1) / run.capacity - parts[job]!)),
  )
  return Math.max(...errors)
}

/** A job's RPCs divided by its completion time, RPC/s. */
export const jobRate = (run: Run, job: number): number => sum(run.served[job]!) / run.ends[job]!

/** All RPCs divided by the end of the last job, RPC/s. */
export const aggregate = (run: Run): number => sum(run.served.map(sum)) / Math.max(...run.ends)

/** Relative gain of a job's rate against another run. */
export const gain = (run: Run, against: Run, job: number): number => jobRate(run, job) / jobRate(against, job) - 1

/** Position of the period that ends at `atS`, or of the first after it. */
export const periodAt = ({ trace }: Run, atS: number): number => trace.atS.findIndex((end) => end >= atS - 1e-9)

/** Part of the throttled (job, period) pairs with a utilization above 1. */
export const deficitPart = ({ trace }: Run): number => trace.deficits / trace.throttled
