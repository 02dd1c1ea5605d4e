/** Source of a bundle: one cluster's past in one file, with its audit and readings. An open bundle is a source, too. */
import type { Database } from 'better-sqlite3'
import type { Incident } from '#core/snapshot/notebook.ts'
import type { Manifest } from '#core/snapshot/manifest.ts'
import type { AuditRecord } from '../../base/audit.ts'

/** Range of an audit. */
export interface AuditSlice {
  readonly records: readonly AuditRecord[]
  /** Hash that the first record follows from. */
  readonly anchor: string
  /** True if the chain was intact when it was read. */
  readonly verified: boolean
  /** The hashes are not those of the original audit: texts were replaced, or records of other clusters omitted. */
  readonly isRehashed?: boolean
}

/** Raw output of a server. */
export interface RawReading {
  readonly atMs: number
  readonly server: string
  /** Parameter, for example `obdfilter.*.job_stats`. */
  readonly what: string
  readonly text: string
}

export interface BundleSource {
  /** Read-only connection to the history (or recording) of the cluster. */
  readonly db: Database
  /** Key of the cluster in it. */
  readonly cluster: number
  readonly source: Manifest['source']
  /** Records of [fromMs, toMs); null if no audit can be read. */
  audit(fromMs: number, toMs: number): AuditSlice | null
  /** Readings of [fromMs, toMs) that are still available. */
  readings(fromMs: number, toMs: number): readonly RawReading[]
  /** Names are pseudonyms already, and are not replaced again. */
  readonly isRedacted: boolean
  /** Notebook of an open bundle. */
  readonly notebook: Incident | null
  /** Colors of its jobs in the views; without them, the bundle assigns its own. */
  readonly colors?: readonly (readonly [jobId: string, color: number])[]
  /** Parts that were already missing when it was written. */
  readonly missing?: readonly string[]
}
