/**
 * Notebook service: creates notebooks of the active view or of an alerting source, and keeps them in the data folder.
 */
import { createHash } from 'node:crypto'
import type { CellInput, Incident, IncidentsFrame, IncidentStatus } from '#core/api/incidents.ts'
import type { Span } from '#core/api/history.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { ended, type Steps } from '#core/base/steps.ts'
import { NOTEBOOK_FORMAT, type AlertKind } from '#core/snapshot/notebook.ts'
import { notebookJson } from '#core/snapshot/notebook-json.ts'
import { thisUser } from '../../enforce/store.ts'
import { runCooperatively } from '../../history/cooperative.ts'
import type { RawReading } from '../../incidents/bundle/bundle-source.ts'
import { NotebookStore, type NotebookRow } from '../../incidents/notebook/notebook-store.ts'
import type { Console } from '../console.ts'
import type { ActiveView } from '../active-view.ts'
import type { FinishedRun } from '../sandbox/run.ts'
import { firstCellsInSteps } from './cells/first-cells.ts'
import { newCells, NOT_ADDED } from './cells/new-cell.ts'
import { standpointAt, standpointOf, type Standpoint } from './cells/standpoint.ts'
import { around, HALF_MS, rangeFault } from './cells/ranges.ts'
import { oneLine } from './cells/summary-text.ts'
import { placed, withCells, withMoved, withoutCell, withRestored, withText, type TakenCell } from './notebook-cells.ts'
import { writeFileAtomicLater } from '../../files/atomic-file.ts'
import { frozenReadings, readingsOf, readingsText } from './readings.ts'

const TITLE_MOST = 200
/** Removed cells that can be restored, of all incidents. */
const UNDO_MOST = 100

const NOT_OPENED = 'The incident was not opened'
const NOT_CHANGED = 'The incident was not changed'
const AS_IT_WAS = 'The incident is unchanged.'

export interface NotebookServiceParts {
  readonly onScreen: ActiveView
  /** Folder of the console's data; undefined: notebooks are in memory only. */
  readonly dataDir: string | undefined
  /** Sandbox result by id; null: the newest. */
  readonly run: (id: string | null) => Result<FinishedRun>
  /** Newest sandbox result of which a variant was staged. */
  readonly stagedRun: () => Result<FinishedRun>
  readonly changed: () => void
  /** Threshold of an alert rule by kind. */
  readonly thresholdOf?: ((kind: AlertKind) => number | undefined) | undefined
}

export interface NewIncident {
  readonly atMs: number | null
  readonly span: Span | null
  /** Range that the span is compared with. */
  readonly against?: Span | undefined
  readonly title: string
  readonly note: string
  readonly alert?: Incident['alert']
  /** Cluster of a registered source; the active view by default. */
  readonly cluster?: string | undefined
}

/** Name of the file of readings, beside the notebook. */
const READINGS = 'readings'
/** Most incidents whose readings are in memory if nothing is kept on disk. */
const READINGS_IN_MEMORY = 4

/** Raw readings of when an incident was opened: written beside its notebook while sampling continues. */
class IncidentReadings {
  readonly #store: NotebookStore
  /** Readings being written, or kept in memory. */
  readonly #held = new Map<string, readonly RawReading[]>()
  #writing: Promise<void> = Promise.resolve()

  constructor(store: NotebookStore) {
    this.#store = store
  }

  keep(id: string, readings: readonly RawReading[]): void {
    if (readings.length === 0) return
    const file = this.#store.beside(id, READINGS)
    this.#held.set(id, readings)
    if (file === undefined) {
      if (this.#held.size > READINGS_IN_MEMORY) this.#held.delete(this.#held.keys().next().value as string)
      return
    }
    this.#writing = this.#writing.then(async () => {
      // An incident is complete without them; a full disk is reported when the notebook is written.
      await writeFileAtomicLater(file, readingsText(id, readings)).catch(() => undefined)
      this.#held.delete(id)
    })
  }

  of(id: string): readonly RawReading[] {
    const held = this.#held.get(id)
    if (held) return held
    const file = this.#store.beside(id, READINGS)
    return file === undefined ? [] : frozenReadings(file, id)
  }

  /** Resolves when pending writes are done. */
  settled(): Promise<void> {
    return this.#writing
  }
}

export class NotebookService {
  readonly parts: NotebookServiceParts
  readonly #store: NotebookStore
  readonly #readings: IncidentReadings
  /** Running sources, by cluster. */
  readonly #consoles = new Map<string, Console>()
  /** Removed cells, the newest last. */
  #taken: readonly (TakenCell & { readonly of: string })[] = []
  readonly #hashes = new WeakMap<Incident, string>()
  readonly #heads = new WeakMap<NotebookRow, IncidentsFrame['incidents'][number]>()

  constructor(parts: NotebookServiceParts) {
    this.parts = parts
    this.#store = new NotebookStore(parts.dataDir, { onMore: parts.changed })
    this.#readings = new IncidentReadings(this.#store)
  }

  /**
   * Registers a running source, active or not, so that incidents can be opened for it; returns the function to
   * unregister it.
   */
  know(console: Console): () => void {
    const { cluster } = console.monitor.source
    this.#consoles.set(cluster, console)
    return () => {
      if (this.#consoles.get(cluster) === console) this.#consoles.delete(cluster)
    }
  }

  /** Newest first; the same object while a notebook is unchanged. */
  list(): IncidentsFrame['incidents'] {
    return this.#store.list().map((row) => {
      const head = this.#heads.get(row) ?? headOf(row)
      this.#heads.set(row, head)
      return head
    })
  }

  find(id: string): Incident | undefined {
    return this.#store.find(id)
  }

  /** SHA-256 of the notebook as written to a bundle without redaction. */
  integrityOf(incident: Incident): string {
    let hash = this.#hashes.get(incident)
    if (hash === undefined) {
      hash = createHash('sha256').update(notebookJson(incident)).digest('hex')
      this.#hashes.set(incident, hash)
    }
    return hash
  }

  /** Raw server readings of when an incident was opened; for null the latest ones of the active source. */
  readings(id: string | null): readonly RawReading[] {
    return id === null ? readingsOf(this.parts.onScreen.monitor) : this.#readings.of(id)
  }

  /** Resolves when readings of opened incidents are on disk. */
  settled(): Promise<void> {
    return this.#readings.settled()
  }

  /** Failures: INCIDENT_SPAN, NO_SOURCE, INCIDENT_NOT_WRITTEN. */
  create(input: NewIncident): Result<{ id: string }> {
    return ended(this.createInSteps(input))
  }

  /** Same, yielding to other tasks. */
  createCooperatively(input: NewIncident): Promise<Result<{ id: string }>> {
    return runCooperatively(this.createInSteps(input))
  }

  *createInSteps(input: NewIncident): Steps<Result<{ id: string }>> {
    const found = this.#standpointOf(input)
    if (!found.ok) return found
    const standpoint = found.value
    const isRecorded = standpoint.source.kind === 'RECORDED'
    const span = input.span ?? around(standpoint.atMs, standpoint.firstMs, isRecorded ? standpoint.newestMs : undefined)
    const fault = rangeFault(span, standpoint.newestMs)
    if (fault !== undefined) return fail(spanFailure(NOT_OPENED, fault))
    const { alert = null } = input
    const { title, cells } = yield* firstCellsInSteps({
      standpoint,
      span,
      note: input.note,
      against: input.span ? input.against : undefined,
      alert: alert === null ? undefined : { alert, threshold: this.parts.thresholdOf?.(alert.kind) },
      stagedRun: this.parts.stagedRun,
    })
    const given = oneLine(input.title, TITLE_MOST)
    const made = this.#store.create((id) => ({
      format: NOTEBOOK_FORMAT,
      id,
      title: given === '' ? title : given,
      alert,
      source: standpoint.source,
      status: standpoint.isExercise ? 'exercise' : 'open',
      author: alert === null ? (thisUser().split('@')[0] ?? '') : 'alert',
      createdMs: standpoint.nowMs,
      changedMs: standpoint.nowMs,
      resolvedMs: null,
      fromMs: span.fromMs,
      toMs: span.toMs,
      cells: placed(cells, standpoint.atMs, []),
    }))
    if (!made.ok) return made
    const { id } = made.value
    this.#keepReadings(id, standpoint, span)
    mark(standpoint.monitor, standpoint.atMs, `${id} opened: ${made.value.title}`, alert !== null)
    this.parts.changed()
    return ok({ id })
  }

  /** Failures: NO_INCIDENT, INCIDENT_UNREADABLE, INCIDENT_SPAN, INCIDENT_NOT_WRITTEN. */
  change(
    id: string,
    change: { title?: string | undefined; status?: IncidentStatus | undefined; span?: Span | undefined },
  ): Result<undefined> {
    let reported = ''
    const { title, status, span } = change
    const changed = this.#replace(id, NOT_CHANGED, (of, nowMs) => {
      // A recording may be ahead of this clock: a range is never refused for its present end.
      const fault = span && rangeFault(span, Math.max(nowMs, of.toMs - HALF_MS))
      if (fault !== undefined) return fail(spanFailure(NOT_CHANGED, fault))
      const line = title === undefined ? of.title : oneLine(title, TITLE_MOST)
      if (line === '') return fail({ code: 'NO_TITLE', what: NOT_CHANGED, why: 'the title is empty' })
      const is = status ?? of.status
      if (is !== of.status && is === 'resolved') reported = `${id} resolved: ${line}`
      else if (is !== of.status && of.status === 'resolved') reported = `${id} opened again: ${line}`
      const resolvedMs = is !== 'resolved' ? null : of.status === 'resolved' ? of.resolvedMs : nowMs
      return ok({ ...of, title: line, status: is, resolvedMs, ...(span ? { ...span } : {}) })
    })
    if (!changed.ok) return changed
    if (reported !== '') {
      const monitor = this.#consoleOf(changed.value.source.cluster)?.monitor
      mark(monitor, monitor?.nowMs() ?? 0, reported)
    }
    return this.#report(changed)
  }

  /** Failures: NO_INCIDENT, INCIDENT_NOT_WRITTEN. */
  remove(id: string): Result<undefined> {
    return this.#report(this.#store.remove(id))
  }

  /** Failures: NO_INCIDENT, INCIDENT_NOT_WRITTEN. */
  restore(id: string): Result<undefined> {
    return this.#report(this.#store.restore(id))
  }

  /**
   * Failures: NO_INCIDENT, INCIDENT_UNREADABLE, OTHER_CLUSTER if another cluster is active, NOTHING_TO_FREEZE,
   * INCIDENT_FULL, INCIDENT_NOT_WRITTEN.
   */
  addCell(id: string, atMs: number | null, input: CellInput, behind: string | null): Result<{ cell: string }> {
    let added = ''
    const changed = this.#replace(id, NOT_ADDED, (of) => {
      const standpoint = standpointOf(this.parts.onScreen, atMs)
      const isWritten = input.kind === 'note' || (input.kind === 'transcript' && input.text !== null)
      if (!isWritten && standpoint.source.cluster !== of.source.cluster) return fail(otherCluster(of, standpoint))
      const isWithin = standpoint.atMs >= of.fromMs && standpoint.atMs < of.toMs
      const span = isWithin
        ? { fromMs: of.fromMs, toMs: of.toMs }
        : around(standpoint.atMs, standpoint.firstMs, standpoint.newestMs)
      const made = newCells(standpoint, span, input, this.parts.run)
      if (!made.ok) return made
      const gone = this.#taken.flatMap((t) => (t.of === id ? [t.cell] : []))
      const cells = placed(made.value, standpoint.atMs, of.cells, gone)
      added = cells[0]?.id ?? ''
      return withCells(of, cells, behind, NOT_ADDED)
    })
    if (!changed.ok) return changed
    this.parts.changed()
    return ok({ cell: added })
  }

  /** Failures: NO_INCIDENT, INCIDENT_UNREADABLE, NO_CELL, NO_NOTE, INCIDENT_NOT_WRITTEN. */
  editCell(id: string, cell: string, text: string): Result<undefined> {
    const what = 'The note was not changed'
    return this.#report(this.#replace(id, what, (of) => withText(of, cell, text, what)))
  }

  /** Failures: NO_INCIDENT, INCIDENT_UNREADABLE, NO_CELL, INCIDENT_NOT_WRITTEN. */
  moveCell(id: string, cell: string, by: number): Result<undefined> {
    const what = 'The cell was not moved'
    return this.#report(this.#replace(id, what, (of) => withMoved(of, cell, by, what)))
  }

  /** Failures: NO_INCIDENT, INCIDENT_UNREADABLE, NO_CELL, INCIDENT_NOT_WRITTEN. */
  removeCell(id: string, cell: string): Result<undefined> {
    const what = 'The cell was not removed'
    let taken: TakenCell | undefined
    const changed = this.#replace(id, what, (of) => {
      const without = withoutCell(of, cell, what)
      if (!without.ok) return without
      taken = without.value.taken
      return ok(without.value.of)
    })
    if (changed.ok && taken) this.#taken = [...this.#taken, { ...taken, of: id }].slice(-UNDO_MOST)
    return this.#report(changed)
  }

  /**
   * @param cell  null: the cell removed last.
   *
   * Failures: NO_INCIDENT, INCIDENT_UNREADABLE, NOTHING_REMOVED, INCIDENT_FULL, INCIDENT_NOT_WRITTEN.
   */
  restoreCell(id: string, cell: string | null): Result<undefined> {
    const what = 'The cell was not restored'
    const taken = this.#taken.findLast((t) => t.of === id && (cell === null || t.cell.id === cell))
    if (!taken) {
      const why = 'no cell was removed since the console started, or it is already restored'
      return fail({ code: 'NOTHING_REMOVED', what, why, unaffected: AS_IT_WAS })
    }
    const changed = this.#replace(id, what, (of) => ok(withRestored(of, taken)))
    if (changed.ok) this.#taken = this.#taken.filter((t) => t !== taken)
    return this.#report(changed)
  }

  close(): void {
    this.#store.close()
  }

  #replace(id: string, what: string, change: (of: Incident, nowMs: number) => Result<Incident>): Result<Incident> {
    return this.#store.replace(id, what, (of) => {
      const nowMs = this.#consoleOf(of.source.cluster)?.monitor.nowMs() ?? Date.now()
      const changed = change(of, nowMs)
      return changed.ok ? ok({ ...changed.value, changedMs: Math.max(of.changedMs, nowMs) }) : changed
    })
  }

  #report(result: Result<unknown>): Result<undefined> {
    if (!result.ok) return result
    this.parts.changed()
    return ok(undefined)
  }

  #consoleOf(cluster: string): Console | undefined {
    const { console } = this.parts.onScreen
    return console.monitor.source.cluster === cluster ? console : this.#consoles.get(cluster)
  }

  #standpointOf({ cluster, atMs, alert }: NewIncident): Result<Standpoint> {
    if (cluster === undefined && !alert) return ok(standpointOf(this.parts.onScreen, atMs))
    // An alerting source keeps running, whatever is played back.
    const console = cluster === undefined ? this.parts.onScreen.console : this.#consoleOf(cluster)
    if (console) return ok(standpointAt(console, atMs))
    return fail({ code: 'NO_SOURCE', what: NOT_OPENED, why: `${oneLine(cluster ?? '', 100)} is not connected` })
  }

  /** Keeps the readings of a current incident; those from long after one do not belong to it. */
  #keepReadings(id: string, standpoint: Standpoint, span: { readonly fromMs: number; readonly toMs: number }): void {
    if (!standpoint.monitor || standpoint.source.kind === 'RECORDED') return
    const all = readingsOf(standpoint.monitor)
    this.#readings.keep(
      id,
      all.filter((r) => r.atMs >= span.fromMs && r.atMs < span.toMs),
    )
  }
}

/** Adds an event to the source. */
function mark(monitor: Standpoint['monitor'], atMs: number, text: string, isAlert = false): void {
  if (!monitor) return
  monitor.events.add({ atMs, kind: 'note', level: 'ok', subject: 'Incident', text, where: '' })
  // An alert is raised within a sample, which notifies of its own.
  if (!isAlert) monitor.changed()
}

function headOf({ id, head, changedMs, fault }: NotebookRow): IncidentsFrame['incidents'][number] {
  if (!head) {
    const nothing = { cluster: '', author: '', resolvedMs: null, alert: null, cells: 0 }
    return { id, title: id, status: 'open', createdMs: changedMs, ...nothing, fault }
  }
  const { title, status, author, createdMs, resolvedMs, cells } = head
  return {
    id,
    title,
    status,
    author,
    createdMs,
    resolvedMs,
    cells,
    fault,
    cluster: head.source.cluster,
    alert: head.alert?.kind ?? null,
  }
}

const spanFailure = (what: string, why: string): Failure => ({
  code: 'INCIDENT_SPAN',
  what,
  why,
  unaffected: 'Incidents are unchanged.',
  next: 'Choose another range.',
})

const otherCluster = (of: Incident, standpoint: Standpoint): Failure => ({
  code: 'OTHER_CLUSTER',
  what: NOT_ADDED,
  why: `the incident belongs to ${oneLine(of.source.cluster, 100)}; the active cluster is ${oneLine(standpoint.source.cluster, 100)}`,
  unaffected: AS_IT_WAS,
  next: 'Switch to that cluster first, or write a note.',
})
