/**
 * Reads the global controller of PADLL's stages: `sluice padll status` once a second of the source's clock, never two
 * at once. Its figures are stored by sample; joins, leaves, policies and losses become events.
 */
import type { Mark } from '#core/api/frames.ts'
import { formatReason, type Failure, fail, ok, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { STATUS_COMMAND } from '#core/padll/console.ts'
import { isSuperseded, type PadllStatus, padllStatus } from '#core/padll/status.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { endsWithin, within } from '../../base/deadline.ts'
import type { EventLog } from '../state/event-log.ts'
import { PadllSeries } from './padll-series.ts'

/** Kept as long as raw samples of a cluster can be in memory, and up to so many characters in total. */
const RETENTION_MS = 1_800_000
const CHARS_MAX = 32_000_000
/** A longer answer is not a status. */
const DOCUMENT_MAX = 16_000_000

/** Parses a status document; the error describes its fault. */
function readStatus(text: string): Result<PadllStatus, string> {
  if (text.length > DOCUMENT_MAX) return fail(`the answer has ${text.length} characters`)
  let plain: unknown
  try {
    plain = JSON.parse(text)
  } catch {
    return fail('the answer is not JSON')
  }
  const read = padllStatus.safeParse(plain)
  if (read.success) return ok(read.data)
  const issue = read.error.issues[0]
  return fail(`${issue?.path.map(String).join('.').slice(0, 100) ?? ''}: ${issue?.message ?? 'not a status document'}`)
}

/** Recent status documents, as text, so that a paused sample can be reproduced exactly. Bounded by size. */
export class PadllDocuments {
  #kept: { readonly atMs: number; readonly text: string }[] = []
  #chars = 0
  #hasDropped = false
  #last: { readonly atMs: number; readonly status: PadllStatus } | undefined
  /** Cached document of a paused view. */
  #past: { readonly atMs: number; readonly status: PadllStatus | undefined } | undefined

  /** @param atMs  time of the reading on the source's clock, never going back. */
  add(atMs: number, text: string, status: PadllStatus): void {
    this.#kept.push({ atMs, text })
    this.#chars += text.length
    this.#last = { atMs, status }
    let gone = 0
    // The document before the first recent one is kept: it was current then.
    const isOver = (): boolean =>
      this.#chars > CHARS_MAX || (this.#kept[gone + 1]?.atMs ?? Infinity) <= atMs - RETENTION_MS
    while (gone < this.#kept.length - 1 && isOver()) this.#chars -= this.#kept[gone++]?.text.length ?? 0
    if (gone === 0) return
    this.#kept.splice(0, gone)
    this.#hasDropped = true
  }

  /** Time from the oldest to the newest document, ms, if an instant precedes them and its document was dropped. */
  forgottenAt(atMs: number): number | undefined {
    const oldestMs = this.#kept[0]?.atMs ?? -Infinity
    return this.#hasDropped && atMs < oldestMs ? (this.#last?.atMs ?? NaN) - oldestMs : undefined
  }

  get newest(): { readonly atMs: number; readonly status: PadllStatus } | undefined {
    return this.#last
  }

  /** Newest document at a time; undefined before the first, and for one that is no longer stored. */
  at(atMs: number): { readonly atMs: number; readonly status: PadllStatus } | undefined {
    if (this.#last && atMs >= this.#last.atMs) return this.#last
    let lo = 0
    let hi = this.#kept.length
    while (lo < hi) {
      const mid = (lo + hi) >> 1
      if ((this.#kept[mid]?.atMs ?? 0) <= atMs) lo = mid + 1
      else hi = mid
    }
    const found = this.#kept[lo - 1]
    if (!found) return undefined
    if (this.#past?.atMs !== found.atMs) {
      const read = readStatus(found.text)
      this.#past = { atMs: found.atMs, status: read.ok ? read.value : undefined }
    }
    const { status } = this.#past
    return status && { atMs: found.atMs, status }
  }
}

/** Deadline of a controller, wall ms. */
const LATE_MS = 10_000
/** Maximum stored events of the controller. */
const EVENTS_MAX = 1_000
/** Age up to which events are reported at the first reading, ms. */
const NEWS_MS = 5_000

export type PadllEvent = PadllStatus['events'][number]

const MARK_KINDS = { join: 'job', leave: 'job', policy: 'change', lost: 'lost', controller: 'controller' } as const

export const levelOf = (kind: PadllEvent['kind']): Mark['level'] =>
  kind === 'lost' ? 'bad' : kind === 'controller' ? 'watch' : kind === 'policy' ? 'ok' : 'idle'

/** Cost of one reading. */
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
  /** Pending reading; a late one is not awaited, and not repeated before it is answered. */
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

  /** Reason why there is no current status; undefined while the controller answers. */
  get failure(): Failure | undefined {
    return this.#failure
  }

  /** Present jobs; none while it does not answer, or if another controller is in command. */
  get jobsNow(): PadllStatus['jobs'] {
    const status = this.#failure ? undefined : this.documents.newest?.status
    return status && !isSuperseded(status) ? status.jobs : []
  }

  /** Events in (fromMs, toMs], oldest first. */
  events(fromMs: number, toMs: number): readonly PadllEvent[] {
    return this.#kept.filter((e) => e.atMs > fromMs && e.atMs <= toMs)
  }

  /** Cost of the readings since the last call. */
  takeCosts(): readonly PadllCost[] {
    const costs = this.#costs
    this.#costs = []
    return costs
  }

  /** Reads once a second has passed and no earlier reading is pending. Never rejects. */
  async refresh(atNs: number, atMs: number): Promise<void> {
    if (atNs < this.#nextNs) return
    this.#nextNs = atNs + NS_PER_S
    if (!this.#pending) await this.#read(atMs)
    else if (this.#failure) this.#addGap(atMs)
  }

  /** Reads the current status, after a pending reading; true if the answer was stored. Never rejects. */
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
    const why = stderr.trim().split('\n')[0]?.slice(0, 300) || `it exited with ${code}`
    return this.#miss(atMs, 'CONTROLLER_SILENT', why)
  }

  #miss(atMs: number, code: 'CONTROLLER_SILENT' | 'CONTROLLER_UNREADABLE', why: string): boolean {
    this.#addGap(atMs)
    const what =
      code === 'CONTROLLER_SILENT'
        ? `The global controller on ${this.node.host} does not answer`
        : `The answer of the global controller on ${this.node.host} cannot be parsed`
    if (this.#failure?.code !== code) {
      const text = `${what}: ${why}`
      this.#events.add({ atMs, kind: 'lost', level: 'bad', subject: 'PADLL', text, where: this.node.host })
    }
    this.#failure = {
      code,
      what,
      why,
      unaffected: 'Stages continue by their leases; everything else is shown as usual.',
      next:
        code === 'CONTROLLER_SILENT'
          ? `Check whether it runs: ${STATUS_COMMAND}.`
          : `Compare the versions of Sluice here and on ${this.node.host}.`,
    }
    return false
  }

  /** Time never goes back in the tables, even if an answer was late. */
  #addGap(atMs: number): void {
    this.#lastMs = Math.max(this.#lastMs, atMs)
    this.series.add(this.#lastMs, undefined)
  }

  #take(atMs: number, stdout: string): boolean {
    const read = readStatus(stdout.slice(0, DOCUMENT_MAX + 1))
    if (!read.ok) return this.#miss(atMs, 'CONTROLLER_UNREADABLE', read.error)
    const status = read.value
    this.#lastMs = Math.max(this.#lastMs, atMs)
    this.series.add(this.#lastMs, isSuperseded(status) ? undefined : status)
    this.documents.add(this.#lastMs, stdout, status)
    if (this.#failure) {
      const text = `the global controller on ${this.node.host} answers again, epoch ${status.epoch}`
      this.#events.add({ atMs, kind: 'lost', level: 'ok', subject: 'PADLL', text, where: this.node.host })
    }
    this.#failure = undefined
    this.#report(atMs, status)
    return true
  }

  /** Reports new events of the controller, in the order of its numbers; a new run counts from 0. */
  #report(atMs: number, status: PadllStatus): void {
    const run = `${status.controller} ${status.epoch} ${status.startedMs}`
    const isSame = run === this.#news.run
    const sinceMs = this.#news.run === '' ? atMs - NEWS_MS : this.#news.atMs
    // Event times are the controller's, whose clock may differ from that of the samples.
    const events = status.events.map((e) => ({ ...e, atMs: e.atMs + atMs - status.atMs }))
    const fresh = events.filter((e) => (isSame ? e.seq > this.#news.seq : e.atMs >= sinceMs))
    for (const e of fresh) {
      // Events between two readings get the time of the later one: the log is in order of time.
      const mark = { atMs, kind: MARK_KINDS[e.kind], level: levelOf(e.kind), subject: 'PADLL' }
      this.#events.add({ ...mark, text: e.text, where: e.where })
    }
    this.#kept.push(...fresh)
    if (this.#kept.length > EVENTS_MAX) this.#kept = this.#kept.slice(-EVENTS_MAX / 2)
    this.#news = { run, seq: Math.max(-1, ...status.events.map((e) => e.seq)), atMs }
  }
}
