/** Samples for tests of the history. */
import { join } from 'node:path'
import { tempFolder } from '#tests/node/temp-folder.ts'
import { History } from '#electron/history/history.ts'
import type { JobFacts, JobSample, TargetSample } from '#electron/history/records.ts'

export const NOW = Date.UTC(2026, 0, 2)
export const SECOND_MS = 1000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000

export const newFile = (): string => join(tempFolder(), 'history.sqlite')

export function openAt(file: string, nowMs = NOW): History {
  const opened = History.open(file, nowMs)
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  return opened.value
}

export const facts = (jobId: string): JobFacts => ({ jobId, user: `u${jobId.at(-1)}`, account: 'aero', nodes: 4 })
export const job = (jobId: string, rpcs: number | null, more: Partial<JobSample> = {}): JobSample => ({
  jobId,
  rpcs,
  readBps: rpcs,
  writeBps: rpcs,
  throttled: 0,
  record: null,
  mdops: null,
  ...more,
})
export const target = (name: string, rpcs: number | null): TargetSample => ({
  target: name,
  node: 'oss1',
  rpcs,
  serviceMs: rpcs === null ? null : 2,
  queued: rpcs === null ? null : 1,
})
