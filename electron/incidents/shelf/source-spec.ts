/** A source as it can be handed to a thread: where its samples are, and what belongs to them of one stretch. */
import type { Database } from 'better-sqlite3'
import type { Span } from '#core/api/history.ts'
import { ok, type Result } from '#core/base/result.ts'
import type { Manifest } from '#core/snapshot/manifest.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { openFile } from '../../history/open-recording.ts'
import { openShared } from '../../history/open-shared.ts'
import type { AuditSlice, BundleSource, RawReading } from '../bundle/bundle-source.ts'

export interface SourceSpec {
  /** File of a history that a console has open, or of a recording. */
  readonly file: string
  readonly isShared: boolean
  readonly cluster: number
  readonly source: Manifest['source']
  readonly audit: AuditSlice | null
  readonly readings: readonly RawReading[]
  readonly isRedacted: boolean
  readonly notebook: Incident | null
  readonly missing: readonly string[]
}

export const specOf = (
  of: BundleSource,
  at: { file: string; isShared: boolean },
  { fromMs, toMs }: Span,
): SourceSpec => ({
  ...at,
  ...{ cluster: of.cluster, source: of.source, isRedacted: of.isRedacted, notebook: of.notebook },
  ...{ audit: of.audit(fromMs, toMs), readings: of.readings(fromMs, toMs), missing: of.missing ?? [] },
})

export const sourceOn = (db: Database, spec: SourceSpec): BundleSource => ({
  ...{ db, cluster: spec.cluster, source: spec.source, isRedacted: spec.isRedacted, notebook: spec.notebook },
  ...{ missing: spec.missing, audit: () => spec.audit, readings: () => spec.readings },
})

/** Opens what a spec names with a connection of its own. Failures: those of the file. */
export function openSpec(spec: SourceSpec): Result<BundleSource> {
  const opened = spec.isShared ? openShared(spec.file) : openFile(spec.file)
  return opened.ok ? ok(sourceOn(opened.value.db, spec)) : opened
}
