/**
 * Roles of a comparison: the job that takes more than its fair share of the baseline, and the job that suffers from it.
 */
import { byCodeUnit } from '../base/order.ts'

/** A job of the baseline, medians over the seeds. */
export interface BaselineJob {
  readonly jobId: string
  readonly isData: boolean
  readonly servedRpcs: number
  /** Its max-min fair share, by target and weighted by nodes (`FairShares`). */
  readonly fairRpcs: number
  readonly waitP95Ms: number
}

export interface Roles {
  readonly hog: string | undefined
  readonly victim: string | undefined
}

/** Minimum excess of a hog over its share, as a part of everything served. */
export const HOG_LEAST = 0.01
/** Minimum deficit of a victim below its share, RPCs. */
export const VICTIM_LEAST = 1

const NO_ROLES: Roles = { hog: undefined, victim: undefined }

/**
 * Returns the roles of a comparison, from its baseline alone, so that a variant cannot change the jobs it is judged by.
 *
 * hog: the job with the most RPCs above its fair share, if these are at least HOG_LEAST of all. victim: of the jobs
 * that were served at least VICTIM_LEAST RPCs less than their fair share, the one with the longest p95 wait. Without a
 * hog there is none.
 *
 * Only jobs that read or write are compared, because they share the OSTs; all jobs if none does.
 */
export function rolesOf(all: readonly BaselineJob[]): Roles {
  const data = all.filter((j) => j.isData)
  const jobs = (data.length > 0 ? data : all).filter((j) => Number.isFinite(j.servedRpcs - j.fairRpcs))
  const total = jobs.reduce((sum, j) => sum + j.servedRpcs, 0)
  if (total === 0) return NO_ROLES
  const ranked = jobs
    .map((job) => ({ job, excess: job.servedRpcs - job.fairRpcs }))
    .toSorted((a, b) => b.excess - a.excess || byCodeUnit(a.job.jobId, b.job.jobId))
  const [hog] = ranked
  if (!hog || hog.excess < HOG_LEAST * total) return NO_ROLES
  const [victim] = ranked
    .filter(({ job, excess }) => excess <= -VICTIM_LEAST && Number.isFinite(job.waitP95Ms))
    .toSorted(
      (a, b) => b.job.waitP95Ms - a.job.waitP95Ms || a.excess - b.excess || byCodeUnit(a.job.jobId, b.job.jobId),
    )
  return { hog: hog.job.jobId, victim: victim?.job.jobId }
}
