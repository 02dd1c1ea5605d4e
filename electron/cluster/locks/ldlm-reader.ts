/**
 * Reads the lock manager's counters of every Lustre server, once a second of the source's clock and apart from the
 * samples: a slow server delays neither samples nor other servers, and is not read again meanwhile.
 *
 * Only counters: Lustre exports no modes, queues or resources of locks (spec/lustre 5.4), and its dump of namespaces is
 * too expensive.
 */
import { firstLine } from '#core/base/plain-text.ts'
import { formatReason, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { getParamCommand } from '#core/lustre/lctl.ts'
import { LDLM_PARAMETERS, parseLdlm, type LdlmAnswer, type LdlmCounters } from '#core/lustre/ldlm-counters.ts'
import type { LdlmRecord } from '../../history/ldlm-table.ts'
import { isLustreServer, type ExecResult, type NodeConnection } from '../../base/connection.ts'
import { within } from '../../base/deadline.ts'
import { detach } from '../../base/detach.ts'
import { LdlmSeries, type LdlmRates, type LdlmReading } from './ldlm-series.ts'

/** Deadline of a server, wall ms. */
const LATE_MS = 10_000
/** A server with 256 targets prints less than half of it. */
const ANSWER_MAX = 1_000_000
const NAMESPACES_MAX = 256
/** Rates over more than this, and over more than so many readings, are an average over a gap. */
const GAP_S = 5
const GAP_READINGS = 2.5
const SILENCES_MAX = 50
const REASON_MAX = 300

const COMMAND = getParamCommand(...LDLM_PARAMETERS)

/** Time range without data on a server's locks. */
interface Silence {
  readonly fromMs: number
  /** undefined while it lasts. */
  toMs: number | undefined
  reason: string
}

interface Server {
  readonly node: NodeConnection
  pending: Promise<unknown> | undefined
  /** Totals of the previous reading, by namespace. */
  before: Map<string, NonNullable<LdlmCounters['total']>>
  readonly silences: Silence[]
  /** Namespaces of its last answer that did not fit. */
  left: number
}

export interface LdlmOptions {
  /** Reads a server; by default directly through its shell. */
  readonly read?: (node: NodeConnection, command: string) => Promise<Result<ExecResult>>
  /** Seconds between two readings; 1 by default. */
  readonly everyS?: () => number
}

/** Receives readings in addition to the memory. */
type LdlmSink = (atMs: number, node: string, records: readonly LdlmRecord[]) => void

const NO_RATES: LdlmRates = { grantRate: NaN, cancelRate: NaN }

/** Rates between two readings of `pool.stats`, by the server's own clock. A count that fell was cleared: a new base. */
function ratesOf(
  before: LdlmCounters['total'],
  { total, grantRate, cancelRate }: LdlmCounters,
  gapS: number,
): LdlmRates {
  // Without root only the rates since the pool was last recalculated are available, over up to a second.
  if (!total) return { grantRate: grantRate ?? NaN, cancelRate: cancelRate ?? NaN }
  if (!before) return NO_RATES
  const seconds = total.atS - before.atS
  const grants = total.grants - before.grants
  const cancels = total.cancels - before.cancels
  if (!(seconds > 0) || seconds > gapS || grants < 0 || cancels < 0) return NO_RATES
  return { grantRate: grants / seconds, cancelRate: cancels / seconds }
}

const orNull = (v: number | undefined): number | null => (v === undefined || Number.isNaN(v) ? null : v)

const recordOf = (r: LdlmReading): LdlmRecord => ({
  namespace: r.namespace,
  locks: orNull(r.locks),
  unused: orNull(r.unused),
  resources: orNull(r.resources),
  granted: orNull(r.granted),
  grants: orNull(r.rates.grantRate),
  cancels: orNull(r.rates.cancelRate),
  limit: orNull(r.limit),
  timeouts: orNull(r.timeouts),
  contentions: orNull(r.contentions),
})

/** All locks that a server grants. */
const serverRecord = (granted: number): LdlmRecord => ({
  namespace: '',
  locks: null,
  unused: null,
  resources: null,
  granted,
  grants: null,
  cancels: null,
  limit: null,
  timeouts: null,
  contentions: null,
})

export class LdlmReader {
  readonly series = new LdlmSeries()
  readonly #servers: readonly Server[]
  readonly #sink: LdlmSink
  readonly #options: LdlmOptions
  #nextNs = 0
  #costs: { bytes: number; tookMs: number }[] = []
  /** Answers of the newest row are from this time or later. */
  #rowMs = -Infinity

  constructor(nodes: readonly NodeConnection[], sink: LdlmSink, options: LdlmOptions = {}) {
    this.#options = options
    this.#servers = nodes
      .filter(isLustreServer)
      .map((node) => ({ node, pending: undefined, before: new Map(), silences: [], left: 0 }))
    this.#sink = sink
  }

  /** True if there is a server to read. */
  get hasServers(): boolean {
    return this.#servers.length > 0
  }

  /** Servers without lock data at a time, and the reasons. */
  missingAt(atMs: number): { readonly node: string; readonly reason: string }[] {
    return this.#servers.flatMap(({ node, silences }) => {
      const s = silences.findLast((x) => x.fromMs <= atMs)
      return s && (s.toMs === undefined || s.toMs > atMs) ? [{ node: node.host, reason: s.reason }] : []
    })
  }

  /** Namespaces that are not stored, because there are too many. */
  get omitted(): number {
    return this.#servers.reduce((n, s) => n + s.left, 0)
  }

  /** Cost of the readings since the last call. */
  takeCosts(): readonly { readonly bytes: number; readonly tookMs: number }[] {
    const costs = this.#costs
    this.#costs = []
    return costs
  }

  get #everyS(): number {
    return this.#options.everyS?.() ?? 1
  }

  /** Pauses the readings for a reason, which is a gap of every server. */
  pause(atMs: number, why: string): void {
    for (const s of this.#servers) this.#miss(s, atMs, why)
  }

  /** Reads if due; resolves when every server that was read has answered or timed out. Never rejects. */
  async refresh(atNs: number, atMs: number): Promise<void> {
    if (!this.hasServers || atNs < this.#nextNs) return
    this.#nextNs = atNs + this.#everyS * NS_PER_S
    // Time never goes back in the tables.
    this.#rowMs = Math.max(this.#rowMs, atMs)
    this.series.push(this.#rowMs)
    await Promise.all(this.#servers.filter((s) => !s.pending).map((s) => this.#read(s)))
  }

  async #read(server: Server): Promise<void> {
    const began = performance.now()
    const startedMs = this.#rowMs
    const answer = (this.#options.read ?? ((n, c) => n.exec(c)))(server.node, COMMAND)
    const ended = (): void => void (server.pending = undefined)
    server.pending = answer.then(ended, ended)
    const ran = await within(answer, LATE_MS)
    if (!ran.ok) {
      this.#cost(0, began)
      return this.#miss(server, startedMs, formatReason(ran.error))
    }
    const { stdout, stderr, code } = ran.value
    this.#cost(stdout.length + stderr.length, began)
    if (stdout.length > ANSWER_MAX)
      return this.#miss(server, startedMs, `it answered more than ${ANSWER_MAX} characters`)
    const read = parseLdlm(stdout)
    if (read.namespaces.length === 0) {
      const other = `lctl exited with ${code} and named no namespace of a target`
      return this.#miss(server, startedMs, firstLine(stderr, REASON_MAX) || other)
    }
    this.#take(server, read)
  }

  #cost(bytes: number, began: number): void {
    this.#costs.push({ bytes, tookMs: performance.now() - began })
    if (this.#costs.length > 1000) this.#costs.shift()
  }

  #miss(server: Server, fromMs: number, why: string): void {
    server.before = new Map()
    const reason = firstLine(why, REASON_MAX)
    const last = server.silences.at(-1)
    if (last && last.toMs === undefined) {
      last.reason = reason
      return
    }
    server.silences.push({ fromMs, toMs: undefined, reason })
    if (server.silences.length > SILENCES_MAX) server.silences.shift()
  }

  #take(server: Server, { namespaces, grantedOnNode }: LdlmAnswer): void {
    const { node, before, silences } = server
    const last = silences.at(-1)
    if (last) last.toMs ??= this.#rowMs
    const totals: Server['before'] = new Map()
    const gapS = Math.max(GAP_S, GAP_READINGS * this.#everyS)
    const readings = namespaces.slice(0, NAMESPACES_MAX).map((n): LdlmReading => {
      // Detached from a long text, which would otherwise be kept in memory.
      const namespace = detach(n.namespace)
      if (n.total) totals.set(namespace, n.total)
      return { ...n, namespace, target: detach(n.target), rates: ratesOf(before.get(namespace), n, gapS) }
    })
    server.before = totals
    server.left = namespaces.length - readings.length + this.series.set(node.host, readings, grantedOnNode)
    const records = readings.map(recordOf)
    this.#sink(this.#rowMs, node.host, [
      ...records,
      ...(grantedOnNode === undefined ? [] : [serverRecord(grantedOnNode)]),
    ])
  }
}
