/** Jobs that did nothing for an hour leave memory; the history keeps them. */
import type { Job, JobRegistry } from './job-registry.ts'
import { type Recent, shareColumn, shareName } from './recent.ts'

const FORGET_MS = 3_600_000

function hasLoans(recent: Recent, { jobId, targets }: Job): boolean {
  const { shares } = recent
  const record = (t: string): number => shares.value(shareName(jobId, t), shareColumn('record'), shares.newest)
  return [...targets].some((t) => Math.abs(record(t)) > 0)
}

/**
 * Drops them from the registry. Records sum to zero over all known jobs, so one that still has tokens on loan on any target stays.
 *
 * @returns  ids of those that went.
 */
export function forgetIdle(jobs: JobRegistry, recent: Recent, atMs: number): string[] {
  const gone = [...jobs.all]
    .filter((j) => atMs - j.lastActiveMs > FORGET_MS && !hasLoans(recent, j))
    .map((j) => j.jobId)
  for (const id of gone) jobs.drop(id)
  return gone
}
