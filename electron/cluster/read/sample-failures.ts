/** What keeps samples from being taken or kept, in words. */
import type { Failure } from '#core/base/result.ts'

const message = (e: unknown): string => (e instanceof Error ? e.message : String(e))

export const sampleFailed = (e: unknown): Failure => ({
  code: 'SAMPLE_FAILED',
  what: 'A sample could not be taken',
  why: message(e),
  unaffected: 'The next one is tried as usual.',
  next: 'Report it if it stays: this is an error of Sluice.',
})

export const historyFull = (e: unknown): Failure => ({
  code: 'HISTORY_NOT_WRITTEN',
  what: 'The history takes no samples',
  why: message(e),
  unaffected: 'Sampling goes on; the views show what is in memory.',
  next: 'Free space where the history is; what waits is written then.',
})
