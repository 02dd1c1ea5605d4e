/** What a bundle is made of: one cluster's past in one file, and what belongs to it. A bundle that is open is one, too. */
import type { Database } from 'better-sqlite3'
import type { Incident } from '#core/snapshot/notebook.ts'
import type { Manifest } from '#core/snapshot/manifest.ts'
import type { AuditRecord } from '../../base/audit.ts'

/** A stretch of an audit. */
export interface AuditSlice {
  readonly records: readonly AuditRecord[]
  /** Hash that the first record follows from. */
  readonly anchor: string
  /** Whether the chain held when it was read. */
  readonly verified: boolean
  /** The hashes are not those of the audit that it was copied from: texts were replaced, or records of other clusters left out. */
  readonly isRehashed?: boolean
}

/** A text of a server as it was read. */
export interface RawReading {
  readonly atMs: number
  readonly server: string
  /** Parameter, for example `obdfilter.*.job_stats`. */
  readonly what: string
  readonly text: string
}

export interface BundleSource {
  /** A connection to the history (or the recording) in which the cluster is; it is read only. */
  readonly db: Database
  /** Key of the cluster in it. */
  readonly cluster: number
  readonly source: Manifest['source']
  /** Records of [fromMs, toMs); null where no audit can be read. */
  audit(fromMs: number, toMs: number): AuditSlice | null
  /** Readings of [fromMs, toMs) that are still there. */
  readings(fromMs: number, toMs: number): readonly RawReading[]
  /** Names are pseudonyms already: they pass as they are. */
  readonly isRedacted: boolean
  /** Of a bundle that is open: the notebook that it came with. */
  readonly notebook: Incident | null
  /** What was missing already when it was made. */
  readonly missing?: readonly string[]
}
