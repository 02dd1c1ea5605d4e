/**
 * Alerts at the host: what watches every source that runs, on screen or not, and what it opens. Each source is judged by itself; what is
 * known of one stays when it is disconnected, so that what comes back soon is the same alert.
 */
import type { Change, Entry } from '#core/alerts/book.ts'
import { AlertWatch } from '#core/alerts/watch.ts'
import type { Alert, AlertRule, AlertRuleFace } from '#core/api/incidents.ts'
import { ok, type Failure, type Result } from '#core/base/result.ts'
import { ended, type Steps } from '#core/base/steps.ts'
import { inTurns } from '../../history/in-turns.ts'
import type { Console } from '../console.ts'
import { AlertIncidents } from './alert-incidents.ts'
import { AlertSettings } from './alert-settings.ts'
import { watchConsole, type ConsoleWatch } from './alert-watch.ts'
import type { NotebookService } from './notebook-service.ts'

/** Alerts that are listed, and those of one source in its status. */
const LISTED = 100
const IN_STATUS = 20
/** An alert that is over stays in the status for so long, ms. */
const AFTER_MS = 600_000
/** Sources that are remembered. */
const SOURCES = 128

export interface AlertServiceParts {
  /** Folder of the console's data; undefined: settings are in memory only. */
  readonly dataDir: string | undefined
  readonly notebooks: NotebookService
  readonly changed: () => void
  /** This machine's clock, ms. */
  readonly wallMs?: (() => number) | undefined
  /** Whether the console goes on while an incident is opened: with ten thousand jobs that takes a third of a second. */
  readonly inTurns?: boolean | undefined
}

interface Source {
  readonly watch: AlertWatch
  /** Incidents by alert. */
  readonly incidents: Map<string, string>
  /** While it runs. */
  running: ConsoleWatch | undefined
  lastMs: number
  /** What changed while an incident of it was being opened, oldest first; the first is being told. */
  readonly untold: Steps<void>[]
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

  /** Why settings of before are not in force. */
  get notice(): Failure | undefined {
    return this.#settings.notice
  }

  /** Watches a source while it runs; returns how to stop. */
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

  /** Of every source that is watched, those that go on first, newest first. */
  list(): Alert[] {
    return [...this.#sources.values()].flatMap(alertsOf).sort(byStanding).slice(0, LISTED)
  }

  /** Those of one source that go on, and those that ended a short while ago. */
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

  /** The incident that an alert opened or joined. */
  incidentOf(cluster: string, id: string): string | null {
    return this.#sources.get(cluster)?.incidents.get(id) ?? null
  }

  rules(): AlertRuleFace[] {
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

  /** Nobody watches any more; what goes on is not told to have ended. Incidents that are being opened are. */
  close(): void {
    for (const s of this.#sources.values()) {
      tell(s)
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
        (source = { watch, incidents: new Map(), running: undefined, lastMs: -Infinity, untold: [] }),
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
    // An entry goes on changing while it waits.
    const then = changes.map(({ what, entry }) => ({ what, entry: { ...entry } }))
    source.untold.push(this.#telling(cluster, source, then, atMs))
    if (source.untold.length > 1) return
    if (this.#parts.inTurns) void this.#tellInTurns(source)
    else tell(source)
  }

  async #tellInTurns({ untold }: Source): Promise<void> {
    for (let steps = untold[0]; steps; steps = untold[0]) {
      try {
        // One that was ended meanwhile, because the service was closed, is over here too.
        await inTurns(steps)
      } catch (e) {
        // A defect of ours in one incident ends neither the console nor the telling of the others.
        process.emitWarning(e instanceof Error ? e : new Error(String(e)))
      }
      if (untold[0] === steps) untold.shift()
    }
  }

  *#telling(cluster: string, source: Source, changes: readonly Change[], atMs: number): Steps<void> {
    for (const { what, entry } of changes) {
      const incident = source.incidents.get(entry.id)
      if (what === 'ended' && incident !== undefined) this.#incidents.end(cluster, incident, entry)
      if ((what === 'opened' || what === 'reopened') && this.#opens(entry)) {
        const id = yield* this.#incidents.beginInSteps(cluster, entry, atMs)
        if (id !== null) source.incidents.set(entry.id, id)
      }
      if (what === 'opened') for (const listen of [...this.#began]) listen(cluster, entry)
    }
    const kept = new Set(source.watch.entries.map((e) => e.id))
    for (const id of source.incidents.keys()) if (!kept.has(id)) source.incidents.delete(id)
    this.#parts.changed()
  }

  #opens({ kind }: Entry): boolean {
    return this.#settings.rules.find((r) => r.kind === kind)?.opens ?? false
  }
}

/** All that is not told yet, at once. */
function tell({ untold }: Source): void {
  for (let steps = untold[0]; steps; steps = untold[0]) {
    try {
      ended(steps)
    } finally {
      untold.shift()
    }
  }
}

const alertsOf = ({ watch, incidents }: Source): Alert[] =>
  watch.entries.map(({ id, kind, level, text, where, fromMs, endMs }) => ({
    ...{ id, kind, level, text, where, fromMs, endMs },
    incident: incidents.get(id) ?? null,
  }))

const byStanding = (a: Alert, b: Alert): number =>
  Number(a.endMs !== null) - Number(b.endMs !== null) || b.fromMs - a.fromMs
