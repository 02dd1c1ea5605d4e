/** How long a sample waits for the servers that it asked, and when one that does not answer is missing. */
import { NS_PER_MS } from '#core/base/units.ts'
import type { ClusterSource } from '../../base/connection.ts'

/** A server that answers later than this is missing, wall ms. */
const SILENT_MS = 10_000
/**
 * Part of a period that a sample of a live cluster waits; what comes later belongs to the next sample. The period that is run leaves the
 * slowest server as much (sampling-period.ts).
 */
const PART = 0.8
/** Periods without an answer, after which a server is missing. */
const SILENT_PERIODS = 3

export interface Patience {
  /** A sample waits for the servers asked in it no longer than this, wall ms. */
  readonly waitMs: number
  /** Age of a question that was not answered, at which its server is missing, wall ms. */
  readonly silentMs: number
}

/** An emulated world stands still while a sample is taken: there all are waited for. */
export function patienceOf({ kind, periodNs }: Pick<ClusterSource, 'kind' | 'periodNs'>): Patience {
  const periodMs = periodNs / NS_PER_MS
  return kind === 'EMULATED'
    ? { waitMs: SILENT_MS, silentMs: SILENT_MS }
    : { waitMs: PART * periodMs, silentMs: Math.max(SILENT_MS, SILENT_PERIODS * periodMs) }
}
