/** Rows of the recordings in a folder. Each file is read through in another process, once and again when it has changed. */
import { statSync } from 'node:fs'
import type { HistoryFrame } from '#core/api/history.ts'
import type { Result } from '#core/base/result.ts'
import { stampOf } from '../../files/stamp.ts'
import type { ForeignFiles } from '../../foreign/foreign-files.ts'
import type { CheckedFile } from '../../history/open-recording.ts'
import type { Recordings } from '../../history/recordings.ts'

export type RecordingRow = HistoryFrame['recordings'][number]

const KNOWN_MAX = 1_000
/** What somebody else is using, or was writing, may be free the next time. */
const PASSING: ReadonlySet<string> = new Set(['RECORDING_IN_USE', 'FILE_CHANGED', 'FILE_CRASHED'])
const AGAIN_MS = 10_000

interface Known {
  readonly stamp: string
  readonly row: RecordingRow
  /** When it is read through again although it is the same. */
  readonly untilMs: number
}

export class RecordingRows {
  readonly #foreign: ForeignFiles
  readonly #changed: () => void
  /** What was found in a file, by its path. */
  readonly #known = new Map<string, Known>()
  /** Stamps of files that are being read through, or will be. */
  readonly #checking = new Map<string, string>()
  /** One file at a time: what a person asks for meanwhile does not wait for all of them. */
  #turn = Promise.resolve()

  /** @param changed  a file was read through: its row is another one. */
  constructor(foreign: ForeignFiles, changed: () => void) {
    this.#foreign = foreign
    this.#changed = changed
  }

  /** Newest range first; what cannot be opened says why, what is being read through says so. */
  list(recordings: Recordings): RecordingRow[] {
    const rows = recordings.names().flatMap((name) => this.#row(recordings, name))
    return rows.sort((a, b) => b.toMs - a.toMs || (a.name < b.name ? -1 : 1))
  }

  #row(recordings: Recordings, name: string): RecordingRow[] {
    const path = recordings.pathOf(name)
    if (!path.ok) return [{ ...rowOf(name), fault: path.error.why ?? path.error.what }]
    const file = path.value
    const stamp = stampOf(file)
    if (stamp === undefined) return []
    const known = this.#known.get(file)
    const isKnown = known?.stamp === stamp
    if (!isKnown || performance.now() > known.untilMs) this.#ask(name, file, stamp)
    if (isKnown) return [known.row]
    return [{ ...rowOf(name), bytes: statSync(file, { throwIfNoEntry: false })?.size ?? 0, isChecking: true }]
  }

  #ask(name: string, file: string, stamp: string): void {
    if (this.#checking.get(file) === stamp) return
    this.#checking.set(file, stamp)
    this.#turn = this.#turn.then(() => this.#check(name, file, stamp))
  }

  async #check(name: string, file: string, stamp: string): Promise<void> {
    if (this.#checking.get(file) !== stamp) return
    const looked = await this.#foreign.look(file)
    if (this.#checking.get(file) !== stamp) return
    this.#checking.delete(file)
    if (this.#known.size >= KNOWN_MAX) this.#known.clear()
    const isPassing = !looked.ok && PASSING.has(looked.error.code)
    const untilMs = isPassing ? performance.now() + AGAIN_MS : Infinity
    this.#known.set(file, { stamp, row: foundRow(name, looked), untilMs })
    this.#changed()
  }
}

const rowOf = (name: string): RecordingRow => ({
  ...{ name, cluster: '', fromMs: 0, toMs: 0, bytes: 0, fault: '', isChecking: false },
})

function foundRow(name: string, looked: Result<CheckedFile>): RecordingRow {
  if (!looked.ok) return { ...rowOf(name), fault: looked.error.why ?? looked.error.what }
  const { bytes, facts } = looked.value
  if (!facts) return { ...rowOf(name), bytes, fault: 'it is a history, not a recording' }
  return { ...rowOf(name), bytes, cluster: facts.cluster, fromMs: facts.fromMs, toMs: facts.toMs }
}
