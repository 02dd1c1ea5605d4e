/** Bundle service: exports the active source, and opens bundles as a recorded source. */
import { dirname, join } from 'node:path'
import type {
  BundleRow,
  ExportEvent,
  ExportInput,
  ExportPreview,
  Incident,
  IncidentsFrame,
  VerdictOfBundle,
} from '#core/api/incidents.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { NOTEBOOK } from '#core/snapshot/manifest.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import type { ForeignFiles } from '../../foreign/foreign-files.ts'
import { readParts } from '../../incidents/bundle/bundle-parts.ts'
import { BundleFolder } from '../../incidents/shelf/bundle-folder.ts'
import type { RawReading } from '../../incidents/bundle/bundle-source.ts'
import { openBundle } from '../../incidents/bundle/open-bundle.ts'
import { previewOf } from '../../incidents/redaction/preview.ts'
import { pseudonymCode } from '../../incidents/redaction/pseudonym-key.ts'
import { Uploads, type UploadPart } from '../../incidents/shelf/uploads.ts'
import { writeReport } from '../../incidents/bundle/write-bundle.ts'
import type { HistoryService } from '../history/history-service.ts'
import type { PlayedBundle } from '../history/played-bundle.ts'
import { Playback } from '../history/playback.ts'
import { toNotice } from '../views/status.ts'
import type { ActiveView } from '../active-view.ts'
import { exportEvents } from './export-events.ts'
import type { NotebookService } from './notebook-service.ts'
import { notebookFor, screenSource, type ScreenSource } from './screen-source.ts'

export interface BundleServiceParts {
  readonly onScreen: ActiveView
  readonly history: HistoryService
  readonly notebooks: NotebookService
  readonly foreign: ForeignFiles
  readonly dataDir: string | undefined
  /** Audit of live clusters. */
  readonly store: EnforcementStore | undefined
  readonly version: string
  readonly changed: () => void
}

const NO_FOLDER: Failure = {
  code: 'NO_BUNDLES',
  what: 'There is no folder for bundles',
  why: 'the history of this console is in memory only',
  next: 'Start it with a history file.',
}
/** Title of a failure before an export, when nothing was to be written. */
const NO_PREVIEW = 'The bundle cannot be exported'
const BUSY: Failure = {
  code: 'EXPORT_BUSY',
  what: 'The bundle was not written',
  why: 'another one is being written, here or in another window',
  unaffected: 'The one that is being written.',
  next: 'Wait until it ends, or cancel it.',
}
const CLOSED: Failure = {
  code: 'CONSOLE_CLOSED',
  what: 'The bundle was not opened',
  why: 'the console is closing',
  next: 'Open it again after a restart.',
}
const VIEW_UNCHANGED = 'The current view is not changed.'

export class BundleService {
  readonly parts: BundleServiceParts
  readonly #bundles: BundleFolder | undefined
  readonly #uploads: Uploads | undefined
  readonly #closing = new AbortController()
  #isExporting = false

  constructor(parts: BundleServiceParts) {
    this.parts = parts
    const { file } = parts.onScreen.monitor.history
    const beside = file === ':memory:' ? parts.dataDir : dirname(file)
    if (beside === undefined) return
    this.#bundles = new BundleFolder(join(beside, 'bundles'), parts.changed)
    this.#uploads = new Uploads(this.#bundles, parts.foreign.verify)
    this.#bundles.tidy(Date.now())
  }

  get folder(): string | null {
    return this.#bundles?.folder ?? null
  }

  list(): BundleRow[] {
    return this.#bundles?.list() ?? []
  }

  get opened(): IncidentsFrame['opened'] {
    const played = this.#played
    if (!played) return null
    const { manifest, notebook } = played.opened
    const integrity = manifest.members.find((m) => m.name === NOTEBOOK)?.sha256 ?? ''
    return { name: played.name, manifest, incident: notebook, integrity }
  }

  async preview(input: ExportInput): Promise<Result<ExportPreview>> {
    const found = this.#sourceFor(input)
    if (!found.ok) return fail({ ...found.error, what: NO_PREVIEW })
    const { source, incident } = found.value
    try {
      const code = pseudonymCode(this.parts.dataDir)
      if (!code.ok) return code
      const preview = await previewOf(source, input, incident, code.value)
      return preview.ok ? preview : fail({ ...preview.error, what: NO_PREVIEW })
    } finally {
      source.end()
    }
  }

  /** Failures: NO_BUNDLES, EXPORT_BUSY, BUNDLE_NAME, those of the source; later ones come in the last event. */
  export(input: ExportInput, signal?: AbortSignal): Result<AsyncGenerator<ExportEvent, void, void>> {
    const bundles = this.#bundles
    if (!bundles) return fail(NO_FOLDER)
    if (this.#isExporting) return fail(BUSY)
    const name = input.name ?? bundles.freeName(input.incident, input.span.fromMs)
    const path = bundles.pathOf(name)
    if (!path.ok) return path
    const found = this.#sourceFor(input)
    if (!found.ok) return found
    const { source, incident } = found.value
    bundles.make()
    const { dataDir, version } = this.parts
    const { signal: closing } = this.#closing
    const events = exportEvents(
      { source, input, incident, name, file: path.value, work: bundles.work, dataDir, version },
      signal ? AbortSignal.any([signal, closing]) : closing,
    )
    return ok(this.#whileExporting(events, source, name))
  }

  async *#whileExporting(
    events: AsyncGenerator<ExportEvent, void, void>,
    source: ScreenSource,
    name: string,
  ): AsyncGenerator<ExportEvent, void, void> {
    if (this.#isExporting) {
      source.end()
      yield { kind: 'failed', notice: toNotice(BUSY) }
      return
    }
    this.#isExporting = true
    try {
      for await (const event of events) {
        if (event.kind === 'done') await this.#bundles?.refresh(name)
        yield event
      }
    } finally {
      this.#isExporting = false
      source.end()
      this.parts.changed()
    }
  }

  async markdown(input: ExportInput): Promise<Result<{ name: string; text: string }>> {
    const found = this.#sourceFor(input)
    if (!found.ok) return found
    const { source, incident } = found.value
    const { dataDir, version } = this.parts
    try {
      const code = pseudonymCode(dataDir)
      if (!code.ok) return code
      const signal = this.#closing.signal
      const options = { incident, code: code.value, version, nowMs: Date.now(), work: this.#bundles?.work, signal }
      const text = await writeReport(source, input, options)
      const from = new Date(input.span.fromMs).toISOString().slice(0, 16).replace(/[-:]/g, '')
      return text.ok ? ok({ name: `${input.incident ?? 'snapshot'}-${from}.md`, text: text.value }) : text
    } finally {
      source.end()
    }
  }

  read(name: string): Result<AsyncGenerator<{ base64: string; isLast: boolean }, void, void>> {
    const path = this.#pathOf(name)
    return path.ok ? readParts(path.value) : path
  }

  async put(part: UploadPart): Promise<Result<undefined>> {
    if (!this.#bundles || !this.#uploads) return fail(NO_FOLDER)
    const taken = await this.#uploads.put(part, Date.now())
    if (taken.ok && part.isLast) await this.#bundles.refresh(part.name)
    return taken
  }

  async verify(name: string): Promise<Result<VerdictOfBundle>> {
    const path = this.#pathOf(name)
    return path.ok ? this.parts.foreign.verify(path.value) : path
  }

  /** Failures: those of the archive and of the recording in it, NO_HISTORY for an empty one. */
  async open(name: string): Promise<Result<undefined>> {
    const path = this.#pathOf(name)
    if (!path.ok || !this.#bundles) return path.ok ? fail(NO_FOLDER) : path
    const { foreign } = this.parts
    const verdict = await foreign.verify(path.value)
    if (!verdict.ok) return fail({ unaffected: VIEW_UNCHANGED, ...verdict.error })
    if (this.#closing.signal.aborted) return fail(CLOSED)
    const opened = await openBundle(path.value, this.#bundles.work, foreign.unpack)
    if (!opened.ok) return fail({ unaffected: VIEW_UNCHANGED, ...opened.error })
    if (this.#closing.signal.aborted) {
      opened.value.close()
      return fail(CLOSED)
    }
    const { incident, source, content } = opened.value.manifest
    // Another bundle may have taken its name meanwhile.
    const verified = verdict.value.ok && verdict.value.manifest?.content === content
    return this.parts.history.openBundle({
      name,
      title: incident?.title ?? '',
      env: source.env,
      verified,
      opened: opened.value,
    })
  }

  remove(name: string): Result<undefined> {
    if (!this.#bundles) return fail(NO_FOLDER)
    const path = this.#bundles.pathOf(name)
    if (!path.ok) return path
    if (this.#played?.name === name) this.parts.history.leave()
    const removed = this.#bundles.remove(name)
    if (removed.ok) this.parts.changed()
    return removed
  }

  close(): void {
    this.#closing.abort()
    this.#uploads?.close()
    // Removes the unpacked files with it.
    if (this.#played) this.parts.history.leave()
  }

  get #played(): PlayedBundle | undefined {
    const { playback } = this.parts.onScreen
    return playback instanceof Playback ? playback.bundle : undefined
  }

  #pathOf(name: string): Result<string> {
    return this.#bundles ? this.#bundles.pathOf(name) : fail(NO_FOLDER)
  }

  #sourceFor(input: ExportInput): Result<{ source: ScreenSource; incident: Incident | null }> {
    const { onScreen, store, notebooks } = this.parts
    const readings = (fromMs: number, toMs: number): RawReading[] => {
      const stored = notebooks.readings(input.incident)
      return stored.filter((r) => r.atMs >= fromMs && r.atMs < toMs).sort((a, b) => byCodeUnit(a.server, b.server))
    }
    const source = screenSource({ onScreen, store, readings })
    if (!source.ok) return source
    const incident = notebookFor(input.incident, source.value, (id) => notebooks.find(id))
    if (!incident.ok) source.value.end()
    return incident.ok ? ok({ source: source.value, incident: incident.value }) : incident
  }
}
