/**
 * Reads the global controller of PADLL's stages: `sluice padll status` once a second of the source's clock, never two at
 * once. What it tells is kept by sample; what it says of joins, leaves, policies and losses becomes events.
 */
import type { Mark } from '#core/api/frames.ts'
import { formatReason, type Failure } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { STATUS_COMMAND } from '#core/padll/console.ts'
import { isOverruled, type PadllStatus } from '#core/padll/status.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { endsWithin, within } from '../../base/deadline.ts'
import type { EventLog } from '../state/event-log.ts'
import { DOCUMENT_MAX, PadllDocuments, readStatus } from './padll-documents.ts'
import { PadllSeries } from './padll-series.ts'

/** A controller is waited for this long, wall ms. */
const LATE_MS = 10_000
/** Events of the controller that views can go back to. */
const EVENTS_KEPT = 1_000
/** At the first reading only what has just happened is news. */
const NEWS_MS = 5_000

export type PadllEvent = PadllStatus['events'][number]

const MARK_KINDS = { join: 'job', leave: 'job', policy: 'change', lost: 'lost', controller: 'controller' } as const

export const levelOf = (kind: PadllEvent['kind']): Mark['level'] =>
  kind === 'lost' ? 'bad' : kind === 'controller' ? 'watch' : kind === 'policy' ? 'ok' : 'idle'

/** What one reading cost. */
export interface PadllCost {
  readonly bytes: number
  readonly tookMs: number
}

export class PadllReader {
  readonly node: NodeConnection
  readonly documents = new PadllDocuments()
  readonly series = new PadllSeries()
  readonly #events: EventLog
  #kept: PadllEvent[] = []
  /** The reading that is under way; one that is late is not waited for, and not asked again before it answers. */
  #pending: Promise<unknown> | undefined
  #nextNs = 0
  #costs: PadllCost[] = []
  #failure: Failure | undefined
  #lastMs = -Infinity
  /** Run of the controller whose events were counted last, and the newest of them. */
  #news = { run: '', seq: -1, atMs: -Infinity }

  constructor(node: NodeConnection, events: EventLog) {
    this.node = node
    this.#events = events
  }

  /** Why nothing is known now; undefined while it answers. */
  get failure(): Failure | undefined {
    return this.#failure
  }

  /** Jobs that are there now; none while it does not answer, or another controller commands. */
  get jobsNow(): PadllStatus['jobs'] {
    const status = this.#failure ? undefined : this.documents.newest?.status
    return status && !isOverruled(status) ? status.jobs : []
  }

  /** Events in (fromMs, toMs], oldest first. */
  events(fromMs: number, toMs: number): readonly PadllEvent[] {
    return this.#kept.filter((e) => e.atMs > fromMs && e.atMs <= toMs)
  }

  /** What readings cost since it was last asked for. */
  takeCosts(): readonly PadllCost[] {
    const costs = this.#costs
    this.#costs = []
    return costs
  }

  /** Reads when a second has passed and no earlier reading is under way. Never rejects. */
  async refresh(atNs: number, atMs: number): Promise<void> {
    if (atNs < this.#nextNs) return
    this.#nextNs = atNs + NS_PER_S
    if (!this.#pending) await this.#read(atMs)
    else if (this.#failure) this.#addGap(atMs)
  }

  /** Reads what stands now, after a reading that is under way; true when the answer is kept. Never rejects. */
  async readNow(clockMs: () => number): Promise<boolean> {
    const end = performance.now() + LATE_MS
    while (this.#pending && performance.now() < end) await endsWithin(this.#pending, LATE_MS)
    return !this.#pending && this.#read(clockMs())
  }

  async #read(atMs: number): Promise<boolean> {
    const began = performance.now()
    const answer = this.node.exec(STATUS_COMMAND)
    const pending: Promise<unknown> = answer.then(
      () => (this.#pending = undefined),
      () => (this.#pending = undefined),
    )
    this.#pending = pending
    const ran = await within(answer, LATE_MS)
    const { stdout, stderr, code } = ran.ok ? ran.value : { stdout: '', stderr: '', code: 0 }
    this.#costs.push({ bytes: stdout.length + stderr.length, tookMs: performance.now() - began })
    if (this.#costs.length > 100) this.#costs.shift()
    if (!ran.ok) return this.#miss(atMs, 'CONTROLLER_SILENT', formatReason(ran.error))
    if (code === 0) return this.#take(atMs, stdout)
    const why = stderr.trim().split('\n')[0]?.slice(0, 300) || `it ended with ${code}`
    return this.#miss(atMs, 'CONTROLLER_SILENT', why)
  }

  #miss(atMs: number, code: 'CONTROLLER_SILENT' | 'CONTROLLER_UNREADABLE', why: string): boolean {
    this.#addGap(atMs)
    const what =
      code === 'CONTROLLER_SILENT'
        ? `The global controller on ${this.node.host} does not answer`
        : `What the global controller on ${this.node.host} answers cannot be read`
    if (this.#failure?.code !== code) {
      const text = `${what}: ${why}`
      this.#events.add({ atMs, kind: 'lost', level: 'bad', subject: 'PADLL', text, where: this.node.host })
    }
    this.#failure = {
      code,
      what,
      why,
      unaffected: 'Stages go on by their leases; everything else is shown as usual.',
      next:
        code === 'CONTROLLER_SILENT'
          ? `Look whether it runs: ${STATUS_COMMAND}.`
          : `Compare the versions of Sluice here and on ${this.node.host}.`,
    }
    return false
  }

  /** Time never goes back in the tables, also when an answer was long in coming. */
  #addGap(atMs: number): void {
    this.#lastMs = Math.max(this.#lastMs, atMs)
    this.series.add(this.#lastMs, undefined)
  }

  #take(atMs: number, stdout: string): boolean {
    const read = readStatus(stdout.slice(0, DOCUMENT_MAX + 1))
    if (!read.ok) return this.#miss(atMs, 'CONTROLLER_UNREADABLE', read.error)
    const status = read.value
    this.#lastMs = Math.max(this.#lastMs, atMs)
    this.series.add(this.#lastMs, isOverruled(status) ? undefined : status)
    this.documents.add(this.#lastMs, stdout, status)
    if (this.#failure) {
      const text = `the global controller on ${this.node.host} answers again, epoch ${status.epoch}`
      this.#events.add({ atMs, kind: 'lost', level: 'ok', subject: 'PADLL', text, where: this.node.host })
    }
    this.#failure = undefined
    this.#tell(atMs, status)
    return true
  }

  /** New events of the controller, in the order in which it counts them; a run counts from 0 again. */
  #tell(atMs: number, status: PadllStatus): void {
    const run = `${status.controller} ${status.epoch} ${status.startedMs}`
    const isSame = run === this.#news.run
    const sinceMs = this.#news.run === '' ? atMs - NEWS_MS : this.#news.atMs
    // Their times are the controller's: its clock may be another one than that of the samples.
    const events = status.events.map((e) => ({ ...e, atMs: e.atMs + atMs - status.atMs }))
    const fresh = events.filter((e) => (isSame ? e.seq > this.#news.seq : e.atMs >= sinceMs))
    for (const e of fresh) {
      // What happened between two readings is news of this one: the log is in the order of time.
      const mark = { atMs, kind: MARK_KINDS[e.kind], level: levelOf(e.kind), subject: 'PADLL' }
      this.#events.add({ ...mark, text: e.text, where: e.where })
    }
    this.#kept.push(...fresh)
    if (this.#kept.length > EVENTS_KEPT) this.#kept = this.#kept.slice(-EVENTS_KEPT / 2)
    this.#news = { run, seq: Math.max(-1, ...status.events.map((e) => e.seq)), atMs }
  }
}
