/**
 * Opens a bundle for playback: its recording is unpacked under a name chosen by Sluice into a private folder, checked
 * in a separate process, and opened like any foreign recording. A second export reads everything from here.
 */
import type { Database } from 'better-sqlite3'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { AUDIT, HISTORY, type Manifest } from '#core/snapshot/manifest.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { stampOf } from '../../files/file-stamp.ts'
import { FileReader } from '../../history/file-reader.ts'
import { jobColorsIn } from '../../history/job-color-setting.ts'
import { openChecked, type OpenedFile } from '../../history/open-recording.ts'
import { AUDIT_MOST, readAudit } from './audit-member.ts'
import type { AuditSlice, BundleSource, RawReading } from './bundle-source.ts'
import { dropFolder, privateFolder } from '../shelf/private-folder.ts'
import { READ_MOST, readReadings } from './raw-readings.ts'
import { readManifest, readNotebook } from './read-manifest.ts'
import type { UnpackHistory } from './unpack-history.ts'
import { damaged, openZip, type OpenedZip } from '../zip/zip-in.ts'

const CHANGED: Failure = {
  code: 'FILE_CHANGED',
  what: 'The bundle was not opened',
  why: 'it changed while it was being opened',
  unaffected: 'No part of it was kept.',
  next: 'Open it again when nothing writes to it.',
}

/** Most readings held, bytes. */
const READINGS_MOST = 256 * 2 ** 20

export interface OpenedBundle extends BundleSource {
  readonly manifest: Manifest
  /** Unpacked recording. */
  readonly recording: OpenedFile
  readonly missing: readonly string[]
  readonly colors: readonly (readonly [jobId: string, color: number])[]
  /** Closes the recording and removes the unpacked files. */
  close(): void
}

/** Records of [fromMs, toMs), and the hash that the first of them follows from. */
export function sliceOf(all: AuditSlice | null, fromMs: number, toMs: number): AuditSlice | null {
  if (!all) return null
  const from = all.records.findIndex((r) => r.atMs >= fromMs && r.atMs < toMs)
  if (from < 0) return { ...all, records: [], anchor: all.records.at(-1)?.hash ?? all.anchor }
  const records = all.records.slice(from).filter((r) => r.atMs >= fromMs && r.atMs < toMs)
  return { ...all, records, anchor: all.records[from - 1]?.hash ?? all.anchor }
}

async function auditOf(zip: OpenedZip, facts: Manifest['audit']): Promise<Result<AuditSlice | null>> {
  if (!zip.entries.has(AUDIT)) return ok(null)
  const bytes = await zip.read(AUDIT, AUDIT_MOST)
  if (!bytes.ok) return bytes
  const slice = readAudit(bytes.value.toString(), facts)
  return slice.ok ? slice : fail(damaged(AUDIT, slice.error))
}

async function readingsOf(zip: OpenedZip): Promise<Result<RawReading[]>> {
  const out: RawReading[] = []
  let budget = READINGS_MOST
  for (const { name, bytes } of zip.entries.values()) {
    if (!name.startsWith('readings/')) continue
    if ((budget -= bytes) < 0) break
    const text = await zip.read(name, bytes)
    if (!text.ok) return text
    const most = READ_MOST - out.length
    const read = readReadings(text.value.toString(), most)
    if (read.length > most) return fail(damaged(name, `there are more than ${READ_MOST} readings in the bundle`))
    for (const reading of read) out.push(reading)
  }
  return ok(out)
}

/**
 * Opens a bundle.
 *
 * @param folder  its recording is unpacked into a new folder within.
 * @param unpack  unpacks and checks the recording.
 *
 * Failures: those of the archive (BUNDLE_GONE, _UNREADABLE, _FOREIGN, _REFUSED), BUNDLE_NEWER, BUNDLE_DAMAGED, those of
 * the recording, FILE_CHANGED, BUNDLE_FAILED (a full disk).
 */
export async function openBundle(file: string, folder: string, unpack: UnpackHistory): Promise<Result<OpenedBundle>> {
  const stamp = stampOf(file)
  const zip = await openZip(file)
  if (!zip.ok) return zip
  let copy: string | undefined
  let recording: OpenedFile | undefined
  let isOpen = false
  try {
    const manifest = await readManifest(zip.value)
    if (!manifest.ok) return manifest
    const notebook = await readNotebook(zip.value, manifest.value.version)
    if (!notebook.ok) return notebook
    const audit = await auditOf(zip.value, manifest.value.audit)
    if (!audit.ok) return audit
    const readings = await readingsOf(zip.value)
    if (!readings.ok) return readings
    if (!zip.value.entries.has(HISTORY))
      return fail(damaged(HISTORY, 'it is not in this bundle: there is nothing to replay'))
    copy = privateFolder(folder)
    const unpacked = await unpack(file, copy)
    if (!unpacked.ok) return unpacked
    if (stampOf(file) !== stamp) return fail(CHANGED)
    const opened = openChecked(unpacked.value)
    if (!opened.ok) return fail({ ...opened.error, what: `${HISTORY} of the bundle cannot be opened` })
    recording = opened.value
    const cluster = recording.checked.clusters.at(-1)
    if (!cluster) return fail(damaged(HISTORY, 'it contains no data'))
    isOpen = true
    return ok(
      bundleOf({
        manifest: manifest.value,
        notebook: notebook.value,
        audit: audit.value,
        readings: readings.value,
        recording,
        copy,
        cluster: cluster.id,
      }),
    )
  } catch (e) {
    return fail({
      code: 'BUNDLE_FAILED',
      what: 'The bundle was not opened',
      why: e instanceof Error ? e.message : String(e),
      next: 'Free space where temporary files are kept.',
    })
  } finally {
    zip.value.close()
    if (!isOpen) {
      recording?.close()
      if (copy !== undefined) dropFolder(copy)
    }
  }
}

/** Stored colors of its jobs. */
function colorsOf(db: Database, cluster: number, name: string): OpenedBundle['colors'] {
  const reader = new FileReader(db, cluster, { name, isOwner: false })
  return [...jobColorsIn(db)].flatMap(([key, color]) => {
    const job = reader.job(key)
    return job ? [[job.jobId, color] as const] : []
  })
}

interface Parts {
  readonly manifest: Manifest
  readonly notebook: Incident | null
  readonly audit: AuditSlice | null
  readonly readings: readonly RawReading[]
  readonly recording: OpenedFile
  readonly copy: string
  readonly cluster: number
}

function bundleOf({ manifest, notebook, audit, readings, recording, copy, cluster }: Parts): OpenedBundle {
  const { db } = recording
  return {
    manifest,
    notebook,
    recording,
    db,
    cluster,
    source: manifest.source,
    isRedacted: manifest.redaction === 'pseudonyms',
    missing: manifest.missing,
    colors: colorsOf(db, cluster, manifest.source.cluster),
    audit: (fromMs, toMs) => sliceOf(audit, fromMs, toMs),
    readings: (fromMs, toMs) => readings.filter((r) => r.atMs >= fromMs && r.atMs < toMs),
    close: () => {
      if (db.open) db.close()
      dropFolder(copy)
    },
  }
}
