/** Read-only source: one cluster of a recording, or of a history, which a console may have open. */
import type { Database } from 'better-sqlite3'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { ForeignFiles } from '../../foreign/foreign-files.ts'
import { readerOf, type CheckedFile } from '../../history/open-recording.ts'
import type { HistoryReader } from '../../history/reader.ts'

export interface RecordingRequest {
  readonly kind: 'recording'
  readonly file: string
  /** Cluster in the file; the newest by default. */
  readonly cluster?: string | undefined
  /** Checks the file in a separate process. */
  readonly foreign: ForeignFiles
}

export interface OpenRecording {
  /** Name of the cluster. */
  readonly name: string
  readonly reader: HistoryReader
  readonly checked: CheckedFile
  readonly db: Database
  /** Number of the cluster in the file. */
  readonly cluster: number
  close(): void
}

/** Failures: those of `ForeignFiles.open`, RECORDING_EMPTY. */
export async function openRecording({ file, cluster, foreign }: RecordingRequest): Promise<Result<OpenRecording>> {
  const opened = await foreign.open(file)
  if (!opened.ok) return opened
  const { checked, db } = opened.value
  const reader = readerOf(opened.value, cluster)
  if (!reader.ok) return fail(reader.error)
  return ok({
    name: reader.value.cluster,
    reader: reader.value,
    checked,
    db,
    cluster: reader.value.id,
    close: () => reader.value.close(),
  })
}
