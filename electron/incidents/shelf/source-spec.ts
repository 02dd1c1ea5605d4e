/** Source as it can be passed to a thread: the file of its samples, and the data that belongs to them in one range. */
import type { Database } from 'better-sqlite3'
import type { Span } from '#core/api/history.ts'
import { ok, type Result } from '#core/base/result.ts'
import type { Manifest } from '#core/snapshot/manifest.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { openChecked, type CheckedFile } from '../../history/open-recording.ts'
import { openShared } from '../../history/open-shared.ts'
import type { AuditSlice, BundleSource, RawReading } from '../bundle/bundle-source.ts'

/** File for a separate connection: a history that this console has open, or a checked recording. */
export type SourceFile = { readonly shared: string } | { readonly checked: CheckedFile }

export interface SourceSpec {
  readonly file: SourceFile
  readonly cluster: number
  readonly source: Manifest['source']
  readonly audit: AuditSlice | null
  readonly readings: readonly RawReading[]
  readonly isRedacted: boolean
  readonly notebook: Incident | null
  readonly colors: readonly (readonly [jobId: string, color: number])[]
  readonly missing: readonly string[]
}

export const specOf = (of: BundleSource, file: SourceFile, { fromMs, toMs }: Span): SourceSpec => ({
  file,
  cluster: of.cluster,
  source: of.source,
  isRedacted: of.isRedacted,
  notebook: of.notebook,
  audit: of.audit(fromMs, toMs),
  readings: of.readings(fromMs, toMs),
  colors: of.colors ?? [],
  missing: of.missing ?? [],
})

export const sourceOn = (db: Database, spec: SourceSpec): BundleSource => ({
  db,
  cluster: spec.cluster,
  source: spec.source,
  isRedacted: spec.isRedacted,
  notebook: spec.notebook,
  colors: spec.colors,
  missing: spec.missing,
  audit: () => spec.audit,
  readings: () => spec.readings,
})

/** Opens the source of a spec with a connection of its own. Failures: those of the file. */
export function openSpec(spec: SourceSpec): Result<BundleSource> {
  const { file } = spec
  const opened = 'shared' in file ? openShared(file.shared) : openChecked(file.checked)
  return opened.ok ? ok(sourceOn(opened.value.db, spec)) : opened
}
