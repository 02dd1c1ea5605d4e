/**
 * Reads counters of every Lustre server that are not part of a sample, at an interval of their own: disk I/O of targets
 * (brw_stats) and service estimates (timeouts). A slow server delays neither samples nor other servers, and is not read
 * again meanwhile; the reason of a failed reading is kept until the next success.
 */
import { firstLine } from '#core/base/plain-text.ts'
import { brwBins, brwDelta, parseBrwStats, type BrwStats } from '#core/lustre/brw-stats.ts'
import { getParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseServiceTimeouts } from '#core/lustre/service-timeouts.ts'
import { formatReason, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { BrwRecord, BrwSample, TimeoutRecord, TimeoutSample } from '../../history/io-table.ts'
import type { ExecResult, NodeConnection } from '../../base/connection.ts'
import { within } from '../../base/deadline.ts'
import { detach } from '../../base/detach.ts'
import { BRW_PARAMETERS, servicesOf, timeoutsOf, type Service } from '../../base/service.ts'

/** Deadline of a server, wall ms. */
const LATE_MS = 10_000
/** 256 targets with full histograms print about half of it. */
const ANSWER_MAX = 4_000_000
const TARGETS_MAX = 256
const CPTS_MAX = 256
const REASON_MAX = 300

const BRW = /^(?:osd-[^.]+|obdfilter)\.(.+-OST[0-9a-f]{4})\.brw_stats$/

export interface CountersOptions {
  readonly read: (node: NodeConnection, command: string) => Promise<Result<ExecResult>>
  /** Seconds between two readings. */
  readonly everyS: () => number
}

/** One kind of counters: its command, and the handling of the answer. */
interface Kind {
  /** undefined: the server has no such counters. */
  readonly command: (node: NodeConnection) => string | undefined
  /** false: no part of it could be parsed. */
  readonly take: (node: NodeConnection, atMs: number, values: ReadonlyMap<string, string>) => boolean
  /** Drops the previous reading, from which the next cannot be counted. */
  readonly forget: (host: string) => void
}

class CountersReader {
  readonly #nodes: readonly NodeConnection[]
  readonly #kind: Kind
  readonly #options: CountersOptions
  readonly #pending = new Set<string>()
  readonly #faults = new Map<string, string>()
  #nextNs = 0

  constructor(nodes: readonly NodeConnection[], kind: Kind, options: CountersOptions) {
    this.#nodes = nodes.filter((n) => kind.command(n) !== undefined)
    this.#kind = kind
    this.#options = options
  }

  /** Reason why the last reading of a server failed; undefined if it succeeded. */
  fault(host: string): string | undefined {
    return this.#faults.get(host)
  }

  pause(why: string): void {
    for (const { host } of this.#nodes) this.#miss(host, why)
    this.#nextNs = 0
  }

  /** Reads if due; resolves when every server that was read has answered or timed out. Never rejects. */
  async refresh(atNs: number, atMs: number): Promise<void> {
    if (atNs < this.#nextNs) return
    this.#nextNs = atNs + this.#options.everyS() * NS_PER_S
    await Promise.all(this.#nodes.filter((n) => !this.#pending.has(n.host)).map((n) => this.#read(n, atMs)))
  }

  async #read(node: NodeConnection, atMs: number): Promise<void> {
    const { host } = node
    this.#pending.add(host)
    const answer = this.#options.read(node, this.#kind.command(node) ?? '')
    const ended = (): void => void this.#pending.delete(host)
    void answer.then(ended, ended)
    const ran = await within(answer, LATE_MS)
    if (!ran.ok) return this.#miss(host, firstLine(formatReason(ran.error), REASON_MAX))
    const { stdout, stderr, code } = ran.value
    if (stdout.length > ANSWER_MAX) return this.#miss(host, `it answered more than ${ANSWER_MAX} characters`)
    // One of several parameters may be absent: those printed count.
    if (this.#kind.take(node, atMs, splitParams(stdout))) this.#faults.delete(host)
    else this.#miss(host, firstLine(stderr, REASON_MAX) || `lctl exited with ${code} and printed none of it`)
  }

  #miss(host: string, why: string): void {
    this.#faults.set(host, why)
    this.#kind.forget(host)
  }
}

type Sink<R> = (atMs: number, node: string, records: readonly R[]) => void

/** Disk I/O of OSTs, as differences between two readings. */
export class BrwReader extends CountersReader {
  readonly #newest: Map<string, BrwSample>

  constructor(nodes: readonly NodeConnection[], sink: Sink<BrwRecord>, options: CountersOptions) {
    const newest = new Map<string, BrwSample>()
    /** Previous values by server, then target. */
    const before = new Map<string, Map<string, BrwStats>>()
    const take: Kind['take'] = ({ host }, atMs, values) => {
      const was = before.get(host)
      const now = new Map<string, BrwStats>()
      const records: BrwRecord[] = []
      for (const [name, text] of values) {
        const target = BRW.exec(name)?.[1]
        if (target === undefined || now.has(target) || now.size >= TARGETS_MAX) continue
        const stats = parseBrwStats(text)
        if (stats.sections.length === 0) continue
        // Detached from a long text, which would otherwise be kept in memory.
        const own = detach(target)
        now.set(own, JSON.parse(JSON.stringify(stats)) as BrwStats)
        const old = was?.get(own)
        const delta = old && brwDelta(old, stats)
        if (delta) records.push({ target: own, seconds: delta.seconds, bins: brwBins(delta.sections) })
      }
      before.set(host, now)
      for (const r of records) newest.set(r.target, { ...r, atMs })
      if (records.length > 0) sink(atMs, host, records)
      return now.size > 0
    }
    const command = getParamCommand(...BRW_PARAMETERS)
    super(
      nodes,
      {
        command: (node) => (node.roles.includes('oss') ? command : undefined),
        take,
        forget: (host) => void before.delete(host),
      },
      options,
    )
    this.#newest = newest
  }

  /** Newest reading of a target. */
  newest(target: string): BrwSample | undefined {
    return this.#newest.get(target)
  }
}

/** Service estimates of OSSes and MDSes. */
export class TimeoutsReader extends CountersReader {
  readonly #newest: Map<string, readonly TimeoutSample[]>

  constructor(nodes: readonly NodeConnection[], sink: Sink<TimeoutRecord>, options: CountersOptions) {
    const newest = new Map<string, readonly TimeoutSample[]>()
    const firstOf = ({ roles }: NodeConnection): readonly Service[] => servicesOf(roles).filter((s) => s.isFirst)
    const take: Kind['take'] = (node, atMs, values) => {
      const { host } = node
      const records = firstOf(node).flatMap((service): TimeoutRecord[] => {
        const text = values.get(timeoutsOf(service)) ?? ''
        const { estimates } = parseServiceTimeouts(text === '' ? '' : `${text}\n`)
        // One line per CPT, in order (measured A21).
        return estimates.slice(0, CPTS_MAX).map(({ current, worst, worstAt: worstAtS }, cpt) => {
          return { service: service.name, cpt, current, worst, worstAtS }
        })
      })
      newest.set(
        host,
        records.map((r) => ({ ...r, atMs, node: host })),
      )
      if (records.length > 0) sink(atMs, host, records)
      return records.length > 0
    }
    const command = (node: NodeConnection): string | undefined => {
      const names = firstOf(node).map(timeoutsOf)
      return names.length === 0 ? undefined : getParamCommand(...names)
    }
    super(nodes, { command, take, forget: () => undefined }, options)
    this.#newest = newest
  }

  /** Newest estimates of a server: one entry per CPT. */
  newest(host: string): readonly TimeoutSample[] {
    return this.#newest.get(host) ?? []
  }
}
