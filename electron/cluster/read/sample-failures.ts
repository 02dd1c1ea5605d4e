/** Failures that keep samples from being taken or stored. */
import type { Failure } from '#core/base/result.ts'

const message = (e: unknown): string => (e instanceof Error ? e.message : String(e))

export const sampleFailed = (e: unknown): Failure => ({
  code: 'SAMPLE_FAILED',
  what: 'A sample could not be taken',
  why: message(e),
  unaffected: 'The next one is tried as usual.',
  next: 'Report it if it persists: this is a bug in Sluice.',
})

export const historyFull = (e: unknown): Failure => ({
  code: 'HISTORY_NOT_WRITTEN',
  what: 'Samples are not written to the history',
  why: message(e),
  unaffected: 'Sampling continues; the views show what is in memory.',
  next: 'Free space for the history; pending samples are written then.',
})
