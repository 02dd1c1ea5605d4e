/**
 * Alert service: evaluates every running source, active or not, and opens incidents. Sources are evaluated
 * independently; the state of a source is kept when it is disconnected, so that a condition which soon returns is the
 * same alert.
 */
import type { Change, Entry } from '#core/alerts/alert-store.ts'
import { AlertWatch } from '#core/alerts/watch.ts'
import type { Alert, AlertRule, AlertRuleView } from '#core/api/incidents.ts'
import { ok, type Failure, type Result } from '#core/base/result.ts'
import { ended, type Steps } from '#core/base/steps.ts'
import type { Mark } from '#core/api/frames.ts'
import { RULES } from '#core/alerts/rules.ts'
import { formatDuration } from '#core/alerts/format.ts'
import { runCooperatively } from '../../history/cooperative.ts'
import type { Console } from '../console.ts'
import { AlertSettings } from './alert-settings.ts'
import type { NotebookService } from './notebook-service.ts'
import { AlertFacts } from './alert-facts.ts'

/** Minimum interval between two incidents of a source, ms of its clock and of this machine's. */
export const APART_MS = 600_000
const HOUR_MS = 3_600_000
const AN_HOUR_MOST = 30
/** Most lines that alerts add to one incident. */
const LINES_MOST = 60
const NOTE_MOST = 20_000

interface Fresh {
  readonly id: string
  readonly openedMs: number
  readonly openedWallMs: number
  /** Time when an alert of it last began or ended. */
  activeMs: number
  lines: number
}

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 19)

/**
 * Incidents opened by alerts. An alert that begins while an incident of its source is fresh joins it; a source opens at
 * most one in ten minutes, all sources together thirty an hour. Joins, returns and ends are appended as lines to the
 * first note of the incident.
 */
export class AlertIncidents {
  readonly #notebooks: NotebookService
  readonly #wallMs: () => number
  readonly #fresh = new Map<string, Fresh>()
  #openedWallMs: number[] = []

  constructor(notebooks: NotebookService, wallMs: () => number) {
    this.#notebooks = notebooks
    this.#wallMs = wallMs
  }

  /** Begins an alert. @returns the incident that it opened or joined; null for none. */
  begin(cluster: string, entry: Entry, atMs: number): string | null {
    return ended(this.beginInSteps(cluster, entry, atMs))
  }

  /** Same in steps; later alerts of that source wait for it to finish. */
  *beginInSteps(cluster: string, entry: Entry, atMs: number): Steps<string | null> {
    const fresh = this.#fresh.get(cluster)
    const found = fresh && this.#notebooks.find(fresh.id)
    // An incident that was resolved or removed is no longer written to.
    if (fresh && found && found.status !== 'resolved' && atMs - fresh.activeMs < APART_MS) {
      fresh.activeMs = atMs
      this.#line(fresh, `${clock(entry.fromMs)} ${entry.text}`)
      return fresh.id
    }
    const wallMs = this.#wallMs()
    if (fresh && (atMs - fresh.openedMs < APART_MS || wallMs - fresh.openedWallMs < APART_MS)) return null
    this.#openedWallMs = this.#openedWallMs.filter((t) => wallMs - t < HOUR_MS)
    if (this.#openedWallMs.length >= AN_HOUR_MOST) return null
    const made = yield* this.#notebooks.createInSteps({
      atMs: null,
      span: null,
      cluster,
      title: '',
      note: `${clock(entry.fromMs)} ${entry.text}`,
      alert: { kind: entry.kind, text: entry.text.slice(0, 2_000), where: entry.where, atMs: entry.fromMs },
    })
    if (!made.ok) return null
    this.#openedWallMs.push(wallMs)
    this.#fresh.set(cluster, { id: made.value.id, openedMs: atMs, openedWallMs: wallMs, activeMs: atMs, lines: 0 })
    return made.value.id
  }

  /** Ends an alert of an incident. */
  end(cluster: string, id: string, entry: Entry): void {
    const fresh = this.#fresh.get(cluster)
    if (fresh?.id !== id || entry.endMs === null) return
    fresh.activeMs = Math.max(fresh.activeMs, entry.endMs)
    const times =
      entry.returns === 0 ? '' : `, after ${entry.returns === 1 ? 'one return' : `${entry.returns} returns`}`
    const what = entry.where === '' ? '' : ` on ${entry.where}`
    this.#line(
      fresh,
      `${clock(entry.endMs)} ${RULES[entry.kind].title}${what} ended after ${formatDuration(entry.endMs - entry.fromMs)}${times}`,
    )
  }

  /** Appended to the current text of the first note. */
  #line(fresh: Fresh, line: string): void {
    const incident = this.#notebooks.find(fresh.id)
    if (!incident || incident.status === 'resolved' || fresh.lines >= LINES_MOST) return
    fresh.lines++
    const note = incident.cells.find((c) => c.kind === 'note')
    if (note?.kind !== 'note') {
      this.#notebooks.addCell(fresh.id, null, { kind: 'note', text: line }, null)
      return
    }
    const text = `${note.text}\n${line}`
    if (text.length <= NOTE_MOST) this.#notebooks.editCell(fresh.id, note.id, text)
  }
}

/**
 * Evaluations closer together than this share of a sampling period are skipped: operator choices also trigger changes
 * between samples.
 */
const SAME_LOOK = 0.5
/** Window before an alert in which an existing event may report the same, ms. */
const REPORTED_MS = 30_000
const MARKS = 500

/** Watches one console while it runs: evaluates its figures once a sample and reports changes. */
interface ConsoleWatch {
  /** Time of the last evaluation, ms. */
  readonly atMs: number
  /** Ends all active alerts: the source is disconnected. */
  stop(): void
  /** Stops watching without ending alerts. */
  leave(): void
}

/** @param taken  called with the changes at an instant, if there are any. */
export function watchConsole(
  console: Console,
  watch: AlertWatch,
  taken: (changes: readonly Change[], atMs: number) => void,
): ConsoleWatch {
  const { monitor } = console
  const facts = new AlertFacts(monitor)
  let lastMs = -Infinity
  watch.restart()
  const off = monitor.onChange(() => {
    const atMs = monitor.nowMs()
    if (atMs - lastMs < (SAME_LOOK * monitor.source.periodNs) / 1e6) return
    lastMs = atMs
    const changes = watch.look(facts.take(atMs))
    for (const { what, entry } of changes) if (what === 'opened') mark(monitor.events, entry, atMs)
    if (changes.length > 0) taken(changes, atMs)
  })
  return {
    get atMs() {
      return lastMs
    },
    stop: () => {
      off()
      if (lastMs > -Infinity) taken(watch.close(lastMs), lastMs)
    },
    leave: () => void off(),
  }
}

/** Adds one event per alert, unless its probe already reported it. */
function mark(events: Console['monitor']['events'], entry: Entry, atMs: number): void {
  const fromMs = Math.min(entry.fromMs, atMs) - REPORTED_MS
  if (events.between(fromMs, atMs, MARKS).some((m) => isSameAlert(m, entry))) return
  const { level, text, where } = entry
  events.add({ atMs, kind: 'alarm', level, subject: RULES[entry.kind].subject, text, where })
}

function isSameAlert(m: Mark, { kind, where }: Entry): boolean {
  const own = RULES[kind].ownEvent
  if (own === undefined || m.level === 'ok') return false
  return m.kind === own.kind && m.subject === own.subject && m.where === where && m.text.startsWith(own.text)
}

/** Limits of the alert list, and of one source's alerts in its status. */
const LISTED = 100
const IN_STATUS = 20
/** Time for which an ended alert stays in the status, ms. */
const AFTER_MS = 600_000
/** Most sources that are remembered. */
const SOURCES = 128

export interface AlertServiceParts {
  /** Folder of the console's data; undefined: settings are in memory only. */
  readonly dataDir: string | undefined
  readonly notebooks: NotebookService
  readonly changed: () => void
  /** Clock of this machine, ms. */
  readonly wallMs?: (() => number) | undefined
  /** True if the opening of an incident yields to other tasks: with ten thousand jobs it takes a third of a second. */
  readonly isCooperative?: boolean | undefined
}

interface Source {
  readonly watch: AlertWatch
  /** Incidents by alert. */
  readonly incidents: Map<string, string>
  /** Set while it runs. */
  running: ConsoleWatch | undefined
  lastMs: number
  /** Changes received while an incident of the source is being opened, oldest first; the first is being processed. */
  readonly pending: Steps<void>[]
}

export class AlertService {
  readonly #parts: AlertServiceParts
  readonly #settings: AlertSettings
  readonly #incidents: AlertIncidents
  readonly #sources = new Map<string, Source>()
  readonly #began = new Set<(cluster: string, entry: Entry) => void>()
  #number = 0

  constructor(parts: AlertServiceParts) {
    this.#parts = parts
    this.#settings = new AlertSettings(parts.dataDir)
    this.#incidents = new AlertIncidents(parts.notebooks, parts.wallMs ?? (() => performance.now()))
  }

  /** Reason why saved settings are not in force. */
  get notice(): Failure | undefined {
    return this.#settings.notice
  }

  /** Watches a source while it runs; returns the stop function. */
  watch(console: Console): () => void {
    const { cluster } = console.monitor.source
    const source = this.#sourceOf(cluster)
    source.running?.stop()
    const running = watchConsole(console, source.watch, (changes, atMs) => this.#take(cluster, source, changes, atMs))
    source.running = running
    console.alerts = { list: () => this.of(cluster), notice: () => this.notice }
    return () => {
      if (source.running !== running) return
      source.lastMs = Math.max(source.lastMs, running.atMs)
      running.stop()
      source.running = undefined
      console.alerts = undefined
    }
  }

  /** Alerts of every watched source: active ones first, then newest first. */
  list(): Alert[] {
    return [...this.#sources.values()].flatMap(alertsOf).sort(openFirst).slice(0, LISTED)
  }

  /** Active alerts of one source, and those that ended recently. */
  of(cluster: string): Alert[] {
    const source = this.#sources.get(cluster)
    if (!source) return []
    const nowMs = source.running?.atMs ?? source.lastMs
    return alertsOf(source)
      .filter((a) => a.endMs === null || nowMs - a.endMs < AFTER_MS)
      .slice(0, IN_STATUS)
  }

  /** Calls `listener` when an alert begins, after its incident was opened. */
  onBegan(listener: (cluster: string, entry: Entry) => void): () => void {
    this.#began.add(listener)
    return () => void this.#began.delete(listener)
  }

  /** Incident that an alert opened or joined. */
  incidentOf(cluster: string, id: string): string | null {
    return this.#sources.get(cluster)?.incidents.get(id) ?? null
  }

  rules(): AlertRuleView[] {
    return this.#settings.faces
  }

  /** Failures: ALERT_BOUNDS, ALERTS_NOT_WRITTEN. */
  setRule(rule: AlertRule): Result<undefined> {
    const set = this.#settings.set(rule)
    if (!set.ok) return set
    for (const [cluster, source] of this.#sources) {
      const atMs = source.running?.atMs ?? source.lastMs
      this.#take(cluster, source, source.watch.setRules(this.#settings.rules, atMs), atMs)
    }
    this.#parts.changed()
    return ok(undefined)
  }

  /** Stops watching; active alerts are not reported as ended. Incidents that are being opened are completed. */
  close(): void {
    for (const s of this.#sources.values()) {
      reportAll(s)
      s.running?.leave()
      s.running = undefined
    }
  }

  #sourceOf(cluster: string): Source {
    let source = this.#sources.get(cluster)
    if (!source) {
      if (this.#sources.size >= SOURCES) this.#forgetOne()
      const watch = new AlertWatch(() => `alert-${++this.#number}`, this.#settings.rules)
      this.#sources.set(
        cluster,
        (source = { watch, incidents: new Map(), running: undefined, lastMs: -Infinity, pending: [] }),
      )
    }
    return source
  }

  #forgetOne(): void {
    for (const [name, s] of this.#sources) {
      if (s.running) continue
      this.#sources.delete(name)
      return
    }
  }

  #take(cluster: string, source: Source, changes: readonly Change[], atMs: number): void {
    if (changes.length === 0) return
    // An entry continues to change while it waits.
    const then = changes.map(({ what, entry }) => ({ what, entry: { ...entry } }))
    source.pending.push(this.#reportSteps(cluster, source, then, atMs))
    if (source.pending.length > 1) return
    if (this.#parts.isCooperative) void this.#reportCooperatively(source)
    else reportAll(source)
  }

  async #reportCooperatively({ pending }: Source): Promise<void> {
    for (let steps = pending[0]; steps; steps = pending[0]) {
      try {
        // Steps that `close` completed meanwhile end here too.
        await runCooperatively(steps)
      } catch (e) {
        // A defect in one incident must end neither the console nor the processing of other changes.
        process.emitWarning(e instanceof Error ? e : new Error(String(e)))
      }
      if (pending[0] === steps) pending.shift()
    }
  }

  *#reportSteps(cluster: string, source: Source, changes: readonly Change[], atMs: number): Steps<void> {
    for (const { what, entry } of changes) {
      const incident = source.incidents.get(entry.id)
      if (what === 'ended' && incident !== undefined) this.#incidents.end(cluster, incident, entry)
      if ((what === 'opened' || what === 'reopened') && this.#opens(entry)) {
        const id = yield* this.#incidents.beginInSteps(cluster, entry, atMs)
        if (id !== null) source.incidents.set(entry.id, id)
      }
      if (what === 'opened') for (const listen of [...this.#began]) listen(cluster, entry)
    }
    const known = new Set(source.watch.entries.map((e) => e.id))
    for (const id of source.incidents.keys()) if (!known.has(id)) source.incidents.delete(id)
    this.#parts.changed()
  }

  #opens({ kind }: Entry): boolean {
    return this.#settings.rules.find((r) => r.kind === kind)?.opens ?? false
  }
}

/** Processes all pending changes at once. */
function reportAll({ pending }: Source): void {
  for (let steps = pending[0]; steps; steps = pending[0]) {
    try {
      ended(steps)
    } finally {
      pending.shift()
    }
  }
}

const alertsOf = ({ watch, incidents }: Source): Alert[] =>
  watch.entries.map(({ id, kind, level, text, where, fromMs, endMs }) => ({
    id,
    kind,
    level,
    text,
    where,
    fromMs,
    endMs,
    incident: incidents.get(id) ?? null,
  }))

const openFirst = (a: Alert, b: Alert): number =>
  Number(a.endMs !== null) - Number(b.endMs !== null) || b.fromMs - a.fromMs
