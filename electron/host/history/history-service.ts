/**
 * History service of the host: moves the view to past samples, plays recordings and bundles, and manages stored
 * samples.
 */
import { statSync } from 'node:fs'
import type { CsvQuery, HistoryFrame, HistoryQuery, Mark, Span, TierId } from '#core/api/history.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { fixedJobColors, type JobColors } from '#core/series/job-colors.ts'
import { csvParts } from '../../history/csv.ts'
import type { ForeignFiles } from '../../foreign/foreign-files.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { clusterAt, NEAR_MS, placeAt } from '../../recorded/find.ts'
import { Past } from '../../recorded/past.ts'
import type { ActiveView } from '../active-view.ts'
import { nearestSample, resolvePosition } from '../position.ts'
import { openRecording } from '../sources/recording.ts'
import { FileReader } from '../../history/file-reader.ts'
import { stampOf } from '../../files/file-stamp.ts'
import type { CheckedFile } from '../../history/open-recording.ts'
import type { Recordings } from '../../history/recordings.ts'
import { HistoryFrames } from './frame.ts'
import { Playback, type PlayedFrom } from './playback.ts'
import type { PlayedBundle } from './played-bundle.ts'

export type RecordingRow = HistoryFrame['recordings'][number]

const KNOWN_MAX = 1_000
/** Transient failures: a file in use, or being written, may be free the next time. */
const TRANSIENT: ReadonlySet<string> = new Set(['RECORDING_IN_USE', 'FILE_CHANGED', 'FILE_CRASHED'])
/** Time after which a file with a transient failure is checked again, ms. */
const RECHECK_MS = 10_000

interface Known {
  readonly stamp: string
  readonly row: RecordingRow
  /** Time after which it is checked again even if unchanged. */
  readonly untilMs: number
}

/** Rows of the recordings in a folder. Each file is read once in another process, and again when it has changed. */
export class RecordingRows {
  readonly #foreign: ForeignFiles
  readonly #changed: () => void
  /** Check results by path. */
  readonly #known = new Map<string, Known>()
  /** Stamps of files whose check is running or queued. */
  readonly #checking = new Map<string, string>()
  /** Checks one file at a time; requests of the operator do not wait for all of them. */
  #queue = Promise.resolve()

  /** @param changed  called when a file was checked and its row changed. */
  constructor(foreign: ForeignFiles, changed: () => void) {
    this.#foreign = foreign
    this.#changed = changed
  }

  /** Newest range first; a file that cannot be opened shows the reason, one being checked shows that. */
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
    if (!isKnown || performance.now() > known.untilMs) this.#schedule(name, file, stamp)
    if (isKnown) return [known.row]
    return [{ ...rowOf(name), bytes: statSync(file, { throwIfNoEntry: false })?.size ?? 0, isChecking: true }]
  }

  #schedule(name: string, file: string, stamp: string): void {
    if (this.#checking.get(file) === stamp) return
    this.#checking.set(file, stamp)
    this.#queue = this.#queue.then(() => this.#check(name, file, stamp))
  }

  async #check(name: string, file: string, stamp: string): Promise<void> {
    if (this.#checking.get(file) !== stamp) return
    const checked = await this.#foreign.inspect(file)
    if (this.#checking.get(file) !== stamp) return
    this.#checking.delete(file)
    if (this.#known.size >= KNOWN_MAX) this.#known.clear()
    const isTransient = !checked.ok && TRANSIENT.has(checked.error.code)
    const untilMs = isTransient ? performance.now() + RECHECK_MS : Infinity
    this.#known.set(file, { stamp, row: checkedRow(name, checked), untilMs })
    this.#changed()
  }
}

const rowOf = (name: string): RecordingRow => ({
  name,
  cluster: '',
  fromMs: 0,
  toMs: 0,
  bytes: 0,
  fault: '',
  isChecking: false,
})

function checkedRow(name: string, checked: Result<CheckedFile>): RecordingRow {
  if (!checked.ok) return { ...rowOf(name), fault: checked.error.why ?? checked.error.what }
  const { bytes, facts } = checked.value
  if (!facts) return { ...rowOf(name), bytes, fault: 'it is a history, not a recording' }
  return { ...rowOf(name), bytes, cluster: facts.cluster, fromMs: facts.fromMs, toMs: facts.toMs }
}

const NOTE_MAX = 2_000
/** Events in memory that are searched for the next one. */
const MARKS = 2_000

type SeekResult = { sample: number; atMs: number; recorded: boolean }

export interface HistoryServiceParts {
  readonly onScreen: ActiveView
  readonly foreign: ForeignFiles
}

const VIEW_UNCHANGED = 'The current view is not changed.'

const noFolder: Failure = {
  code: 'NO_RECORDINGS',
  what: 'There is no folder for recordings',
  why: 'the history of this console is in memory only',
  next: 'Start it with a history file.',
}

export class HistoryService {
  readonly #onScreen: ActiveView
  readonly #foreign: ForeignFiles
  readonly #rows: RecordingRows
  readonly #frames = new HistoryFrames()
  /** Reader of the store, by the history that it reads. */
  #store: { readonly of: object; readonly past: Past } | undefined

  constructor({ onScreen, foreign }: HistoryServiceParts) {
    this.#onScreen = onScreen
    this.#foreign = foreign
    this.#rows = new RecordingRows(foreign, () => {
      this.#frames.recordingsChanged()
      onScreen.monitor.changed()
    })
  }

  /** Moves the view to the sample nearest to a time, in memory if possible. Failures: NO_HISTORY. */
  goTo(atMs: number): Result<SeekResult> {
    const { playback } = this
    // In a recording the cursor stays within it.
    const stored = playback?.file == null ? this.#inMemory(atMs) : undefined
    if (stored) {
      this.#onScreen.play(undefined)
      return ok(stored)
    }
    return this.#inPast(playback?.file == null ? this.#past() : playback.viewed.past, atMs, playback)
  }

  /** Time of the next or previous event, Unix ms; null if there is none. */
  event(atMs: number, direction: 'next' | 'previous'): number | null {
    const isNext = direction === 'next'
    const stored = this.#reader()?.eventBeside(atMs, direction)
    const { events } = this.#onScreen.monitor
    const marks = this.playback?.file == null ? events.between(-Infinity, Infinity, MARKS) : []
    const here = marks.map((m) => m.atMs).filter((at) => (isNext ? at > atMs : at < atMs))
    const all = stored === undefined ? here : [stored, ...here]
    return all.length === 0 ? null : isNext ? Math.min(...all) : Math.max(...all)
  }

  /**
   * Starts playback of a recording at its beginning. Failures: NO_RECORDINGS, those of the file, NO_HISTORY for an
   * empty one.
   */
  async open(name: string): Promise<Result<undefined>> {
    const { recordings } = this.#onScreen.monitor.history
    const path = recordings ? recordings.pathOf(name) : fail(noFolder)
    const foreign = this.#foreign
    const opened = path.ok ? await openRecording({ kind: 'recording', file: path.value, foreign }) : path
    if (!opened.ok) return fail({ unaffected: VIEW_UNCHANGED, ...opened.error })
    const { reader, checked } = opened.value
    const { source, jobs } = this.#onScreen.monitor
    // Jobs of another cluster may have the same ids.
    const jobColors = reader.cluster === source.cluster ? jobs.jobColors : fixedJobColors()
    return this.#begin(reader, jobColors, { file: name, checked })
  }

  /** Same for a bundle. Failures: NO_HISTORY; the bundle is then closed. */
  openBundle(bundle: PlayedBundle): Result<undefined> {
    const { db, cluster, manifest, colors } = bundle.opened
    const reader = new FileReader(db, cluster, { name: manifest.source.cluster, isOwner: true })
    const jobColors = fixedJobColors()
    for (const [jobId, color] of colors) jobColors.restore(jobId, color)
    const begun = this.#begin(reader, jobColors, { file: bundle.name, bundle })
    if (!begun.ok) bundle.opened.close()
    return begun
  }

  #begin(reader: HistoryReader, jobColors: JobColors, from: PlayedFrom): Result<undefined> {
    const past = new Past(reader, jobColors)
    const finest = past.tiers[0]
    const extent = reader.extent()
    const place = finest && extent && placeAt(past, finest.fromMs, NEAR_MS)
    if (!place) {
      reader.close()
      return fail({
        code: 'NO_HISTORY',
        what: `${from.file} holds no samples`,
        unaffected: VIEW_UNCHANGED,
        next: 'Open another one.',
      })
    }
    this.#play(new Playback(this.#onScreen.console, clusterAt(past, place), from, past))
    return ok(undefined)
  }

  leave(): void {
    this.#onScreen.play(undefined)
  }

  note(atMs: number, text: string): Result<undefined> {
    const note = text.trim().slice(0, NOTE_MAX)
    if (this.playback?.file != null) {
      return fail({
        code: 'RECORDING',
        what: 'The note was not saved',
        why: 'a recording is read-only',
        next: 'Return to live first, or add the note at that time of the history.',
      })
    }
    const mark: Mark = { atMs, kind: 'note', level: 'ok', subject: 'Note', text: note, where: '' }
    // The event log of the source writes it to the history.
    const { events, history } = this.#onScreen.monitor
    events.add(mark)
    try {
      history.flush()
    } catch {
      // It remains queued with the samples; a full disk is reported elsewhere.
    }
    this.#changed()
    return ok(undefined)
  }

  setKeep(tier: TierId, keepMs: number): Result<undefined> {
    return this.#settled(this.#onScreen.monitor.history.setKeep(tier, keepMs))
  }

  setQuota(bytes: number): Result<undefined> {
    return this.#settled(this.#onScreen.monitor.history.setQuota(bytes))
  }

  async record(name: string, span: Span): Promise<Result<{ name: string; bytes: number }>> {
    const { history } = this.#onScreen.monitor
    const path = history.recordings ? history.recordings.pathOf(name) : fail(noFolder)
    if (!path.ok) return path
    const written = await history.writeRecording(span, path.value)
    this.#changed()
    return written.ok ? ok({ name, bytes: written.value.bytes }) : written
  }

  removeRecording(name: string): Result<undefined> {
    const { recordings } = this.#onScreen.monitor.history
    if (this.playback?.file === name && !this.playback.bundle) this.leave()
    return this.#settled(recordings ? recordings.remove(name) : fail(noFolder))
  }

  csv(query: CsvQuery): Result<AsyncGenerator<{ text: string; rows: number; isLast: boolean }, void, void>> {
    const reader = this.#reader()
    return reader ? csvParts(reader, query) : fail(notRead())
  }

  frame(query: HistoryQuery & { at: number | null }, seq: number): HistoryFrame {
    const { monitor } = this.#onScreen
    const viewed = this.playback?.viewed ?? monitor
    const reader = this.#reader()
    if (!reader) throw new Error('the history file cannot be read')
    const head = { seq, ...resolvePosition(viewed, query.at) }
    const { history } = monitor
    const recordings = (): HistoryFrame['recordings'] => (history.recordings ? this.#rows.list(history.recordings) : [])
    const { jobColors } = viewed.jobs
    return this.#frames.build({ reader, history, recordings, head, jobColors }, query)
  }

  get playback(): Playback | undefined {
    const { playback } = this.#onScreen
    return playback instanceof Playback ? playback : undefined
  }

  #inMemory(atMs: number): SeekResult | undefined {
    const { recent, intervalNs } = this.#onScreen.monitor
    const { totals } = recent.raw
    if (totals.newest === 0) return undefined
    const slackMs = (2.5 * intervalNs) / 1e6
    if (atMs < totals.atMs(totals.oldest) - slackMs) return undefined
    const sample = nearestSample(totals, atMs)
    return { sample, atMs: totals.atMs(sample), recorded: false }
  }

  #inPast(past: Past | undefined, atMs: number, playback: Playback | undefined): Result<SeekResult> {
    past?.refresh()
    const place = past && placeAt(past, atMs, NEAR_MS)
    if (!past || !place) {
      return fail({
        code: 'NO_HISTORY',
        what: 'No data at this time',
        why: 'no data within ten minutes of it',
        unaffected: VIEW_UNCHANGED,
        next: 'Choose a time at which the day chart has values.',
      })
    }
    const isSame = playback?.viewed.past === past && playback.viewed.tierId === place.tier.id
    const isHere = isSame && playback.viewed.axis.atMs(playback.viewed.nearest(place.atMs)) === place.atMs
    const shown = isHere
      ? playback
      : new Playback(this.#onScreen.console, clusterAt(past, place), playback?.from ?? { file: null }, playback?.owned)
    if (shown !== playback) this.#play(shown)
    return ok({ sample: shown.viewed.nearest(place.atMs), atMs: place.atMs, recorded: true })
  }

  #play(playback: Playback): void {
    // Another range of the open recording keeps its file open.
    this.playback?.handOver(playback)
    this.#onScreen.play(playback)
  }

  /** Reader of the past: of the recording in playback, or of the store. */
  #reader(): HistoryReader | undefined {
    return this.playback?.viewed.past.reader ?? this.#past()?.reader
  }

  #past(): Past | undefined {
    const { history, jobs } = this.#onScreen.monitor
    if (this.#store?.of !== history) {
      try {
        this.#store = { of: history, past: new Past(history.reader(), jobs.jobColors) }
      } catch {
        return undefined
      }
    }
    return this.#store.past
  }

  #settled(result: Result<undefined>): Result<undefined> {
    if (result.ok) this.#changed()
    return result
  }

  #changed(): void {
    this.#frames.changed()
    this.#onScreen.monitor.changed()
  }
}

const notRead = (): Failure => ({
  code: 'HISTORY_UNREADABLE',
  what: 'The history could not be read',
  next: 'See the notice of the history file.',
})
