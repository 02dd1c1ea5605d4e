/** Longest wait of a sample for its readings, and the time after which a silent server is missing. */
import { NS_PER_MS } from '#core/base/units.ts'
import type { ClusterSource } from '../../base/connection.ts'

/** A server that answers later than this is missing, wall ms. */
const SILENT_MS = 10_000
/**
 * Part of a period that a sample of a live cluster waits; later answers belong to the next sample. The running period
 * leaves the slowest server as much (sampling-period.ts).
 */
const PART = 0.8
/** Periods without an answer after which a server is missing. */
const SILENT_PERIODS = 3

export interface ReadTimeouts {
  /** Longest wait of a sample for the readings it started, wall ms. */
  readonly waitMs: number
  /** Age of an unanswered reading at which its server is missing, wall ms. */
  readonly silentMs: number
}

/** An emulated world is paused while a sample is taken: all of its servers are awaited. */
export function readTimeoutsOf({ kind, periodNs }: Pick<ClusterSource, 'kind' | 'periodNs'>): ReadTimeouts {
  const periodMs = periodNs / NS_PER_MS
  return kind === 'EMULATED'
    ? { waitMs: SILENT_MS, silentMs: SILENT_MS }
    : { waitMs: PART * periodMs, silentMs: Math.max(SILENT_MS, SILENT_PERIODS * periodMs) }
}
