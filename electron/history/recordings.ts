/** The folder of recordings: what is in it, and which names a recording may have. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { HistoryFrame } from '#core/api/history.ts'
import { fileNameRule, isFileName } from '#core/base/file-name.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { stampOf } from '../files/stamp.ts'
import { openFile, openRecording } from './open-recording.ts'
import type { HistoryReader } from './reader.ts'

export type RecordingRow = HistoryFrame['recordings'][number]

const SUFFIX = '.qosrec'
const NAME_MAX = 80
const LISTED_MAX = 500

/** What was found in a file, by its path: it is looked through once, and again when it has changed. */
const looked = new Map<string, { readonly stamp: string; readonly row: RecordingRow }>()

export class Recordings {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** Where a recording of that name lies, or would. Failures: RECORDING_NAME. */
  pathOf(name: string): Result<string> {
    const bare = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name
    if (isFileName(bare, NAME_MAX)) {
      return ok(join(this.folder, bare + SUFFIX))
    }
    return fail({
      code: 'RECORDING_NAME',
      what: 'This name cannot be taken for a recording',
      why: fileNameRule(NAME_MAX),
      next: 'Choose another name.',
    })
  }

  /** What is in the folder, newest stretch first; what cannot be opened says why. */
  list(): RecordingRow[] {
    const rows = this.#names().map((name) => this.#row(name))
    return rows.sort((a, b) => b.toMs - a.toMs || (a.name < b.name ? -1 : 1))
  }

  /** Failures: those of `pathOf` and `openRecording`. */
  open(name: string): Result<HistoryReader> {
    const path = this.pathOf(name)
    return path.ok ? openRecording(path.value) : path
  }

  /** Failures: RECORDING_NAME, RECORDING_KEPT when it cannot be removed. */
  remove(name: string): Result<undefined> {
    const path = this.pathOf(name)
    if (!path.ok) return path
    try {
      rmSync(path.value)
      return ok(undefined)
    } catch (e) {
      return fail({
        code: 'RECORDING_KEPT',
        what: 'The recording was not removed',
        why: e instanceof Error ? e.message : String(e),
        next: 'Check the folder and its rights.',
      })
    }
  }

  #names(): string[] {
    try {
      const names = readdirSync(this.folder).filter((n) => n.endsWith(SUFFIX))
      return names.map((n) => n.slice(0, -SUFFIX.length)).slice(0, LISTED_MAX)
    } catch {
      // There is no folder until the first recording.
      return []
    }
  }

  #row(name: string): RecordingRow {
    const path = this.pathOf(name)
    if (!path.ok) return { name, cluster: '', fromMs: 0, toMs: 0, bytes: 0, fault: path.error.why ?? path.error.what }
    const stamp = stampOf(path.value)
    const known = looked.get(path.value)
    if (stamp !== undefined && known?.stamp === stamp) return known.row
    const opened = openFile(path.value)
    const row = this.#found(name, opened)
    if (looked.size >= 2 * LISTED_MAX) looked.clear()
    // What somebody else is using may be free the next time.
    const isLasting = opened.ok || opened.error.code !== 'RECORDING_IN_USE'
    if (stamp !== undefined && isLasting) looked.set(path.value, { stamp, row })
    return row
  }

  #found(name: string, opened: ReturnType<typeof openFile>): RecordingRow {
    const none = { name, cluster: '', fromMs: 0, toMs: 0, bytes: 0 }
    if (!opened.ok) return { ...none, fault: opened.error.why ?? opened.error.what }
    const { db, bytes, facts } = opened.value
    db.close()
    if (!facts) return { ...none, bytes, fault: 'it is a history, not a recording' }
    const { cluster, fromMs, toMs } = facts
    return { ...none, cluster, fromMs, toMs, bytes, fault: '' }
  }
}
