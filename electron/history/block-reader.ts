/**
 * Reads one cluster's instants and blocks from a file. Instants and sums are stored separately, so that reading them touches no
 * block.
 */
import type { Database, Statement } from 'better-sqlite3'
import type { TierId } from '#core/api/history.ts'
import { TIERS } from '#core/api/history.ts'
import { KINDS, unpack, unpackLead, type Kind, type PlaneKind } from './block.ts'
import { CLUSTER_COLUMNS, type Block } from './reader.ts'
import { RAW, SECOND, stepOf, tierNumber, tierOf } from './tiers.ts'

/** Most blocks held in memory while a span is iterated. */
const AT_ONCE = 64
const SUMS_BYTES = 4 * CLUSTER_COLUMNS.length

export interface Extent {
  readonly fromMs: number
  readonly toMs: number
}

type Row = [atMs: number, n: number, lead: Buffer, rest: Buffer]

/** SQLite takes integers; a span may be unbounded. */
const integer = (ms: number): number =>
  Math.round(Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, ms)))

export class BlockReader {
  readonly #cluster: number
  readonly #isForeign: boolean
  readonly #first: Statement<number[]>
  readonly #last: Statement<number[]>
  readonly #one: Statement<number[]>
  readonly #newest: Statement<number[]>
  readonly #firstOf: Statement<number[]>
  readonly #lastOf: Statement<number[]>
  readonly #lead: Statement<number[]>
  readonly #page: Statement<number[]>
  readonly #sums: Statement<number[]>
  readonly #sumsPage: Statement<number[]>
  readonly #instants: Statement<number[]>
  readonly #count: Statement<number[]>
  readonly #before: Statement<number[]>
  readonly #after: Statement<number[]>

  /**
   * @param isForeign  set for a file that Sluice may not have written: invalid values become gaps, blocks out of order are
   * ignored.
   */
  constructor(db: Database, cluster: number, isForeign = false) {
    this.#cluster = cluster
    this.#isForeign = isForeign
    const prepare = (sql: string): Statement<number[]> => db.prepare(sql)
    const instants = 'FROM instant WHERE cluster = ? AND tier = ?'
    this.#first = prepare(`SELECT at_ms ${instants} ORDER BY at_ms LIMIT 1`).pluck()
    this.#last = prepare(`SELECT at_ms ${instants} ORDER BY at_ms DESC LIMIT 1`).pluck()
    this.#before = prepare(`SELECT at_ms ${instants} AND at_ms < ? ORDER BY at_ms DESC LIMIT 1`).pluck()
    this.#after = prepare(`SELECT at_ms ${instants} AND at_ms > ? ORDER BY at_ms LIMIT 1`).pluck()
    this.#instants = prepare(`SELECT at_ms ${instants} AND at_ms BETWEEN ? AND ? ORDER BY at_ms`).pluck()
    this.#count = prepare(`SELECT count(*) FROM (SELECT 1 ${instants} AND at_ms BETWEEN ? AND ? LIMIT ?)`).pluck()
    const span = 'at_ms BETWEEN ? AND ? ORDER BY at_ms'
    this.#sums = prepare(`SELECT at_ms, data ${instants} AND ${span}`).raw()
    const ofKind = 'FROM block WHERE cluster = ? AND kind = ? AND tier = ?'
    this.#one = prepare(`SELECT at_ms, n, lead, rest ${ofKind} AND at_ms = ?`).raw()
    this.#firstOf = prepare(`SELECT at_ms ${ofKind} ORDER BY at_ms LIMIT 1`).pluck()
    this.#lastOf = prepare(`SELECT at_ms ${ofKind} ORDER BY at_ms DESC LIMIT 1`).pluck()
    this.#newest = prepare(
      `SELECT at_ms, n, lead, rest ${ofKind} AND at_ms > ? AND at_ms <= ? ORDER BY at_ms DESC LIMIT 1`,
    ).raw()
    this.#lead = prepare(`SELECT at_ms, n, lead ${ofKind} AND ${span}`).raw()
    this.#page = prepare(`SELECT at_ms, n, lead, rest ${ofKind} AND ${span} LIMIT ${AT_ONCE}`).raw()
    this.#sumsPage = prepare(`SELECT at_ms, 1, data, x'' ${instants} AND ${span} LIMIT ${AT_ONCE}`).raw()
  }

  extent(tier: number): Extent | undefined {
    const fromMs = this.#first.get(this.#cluster, tier) as number | undefined
    const toMs = this.#last.get(this.#cluster, tier) as number | undefined
    return fromMs === undefined || toMs === undefined ? undefined : { fromMs, toMs }
  }

  /** First and last block of a kind in a tier. */
  extentOf(kind: PlaneKind, tier: number): Extent | undefined {
    const of = [this.#cluster, kind, tier] as const
    const fromMs = this.#firstOf.get(...of) as number | undefined
    const toMs = this.#lastOf.get(...of) as number | undefined
    return fromMs === undefined || toMs === undefined ? undefined : { fromMs, toMs }
  }

  /** First and last instant with data in any tier. */
  fullExtent(): Extent | undefined {
    const all = TIERS.flatMap((t) => this.extent(tierNumber(t)) ?? [])
    if (all.length === 0) return undefined
    return { fromMs: Math.min(...all.map((e) => e.fromMs)), toMs: Math.max(...all.map((e) => e.toMs)) }
  }

  tierFor(fromMs: number, toMs: number, points: number): TierId {
    const stored = this.fullExtent()
    let coarsest: TierId = 'raw'
    for (const tier of TIERS) {
      const number = tierNumber(tier)
      const extent = this.extent(number)
      if (!stored || !extent) continue
      coarsest = tier
      // An interval of a coarser tier starts before the sample it is made of.
      const slackMs = Math.max(...TIERS.map((t) => stepOf(tierNumber(t))))
      if (extent.fromMs - slackMs > Math.max(fromMs, stored.fromMs)) continue
      if (this.count(number, fromMs, toMs, points + 1) <= points) return tier
    }
    return coarsest
  }

  instants(tier: number, fromMs: number, toMs: number): Float64Array {
    return Float64Array.from(this.#instants.all(this.#cluster, tier, integer(fromMs), integer(toMs)) as number[])
  }

  /** Number of instants in [fromMs, toMs], at most `limit`; Infinity, which SQLite does not take, means all. */
  count(tier: number, fromMs: number, toMs: number, limit: number): number {
    return Number(this.#count.get(this.#cluster, tier, integer(fromMs), integer(toMs), Math.min(limit, 2 ** 31)))
  }

  /** Nearest instant before or after another one. */
  beside(tier: number, atMs: number, direction: 'before' | 'after'): number | undefined {
    const statement = direction === 'before' ? this.#before : this.#after
    return statement.get(this.#cluster, tier, integer(atMs)) as number | undefined
  }

  one(kind: Exclude<Kind, typeof KINDS.cluster>, tier: number, atMs: number): Block | undefined {
    const row = this.#one.get(this.#cluster, kind, tier, integer(atMs)) as Row | undefined
    return row && this.#blockOf(kind, row)
  }

  /** Newest block in (fromMs, toMs]. */
  newest(kind: Exclude<Kind, typeof KINDS.cluster>, tier: number, fromMs: number, toMs: number): Block | undefined {
    const row = this.#newest.get(this.#cluster, kind, tier, integer(fromMs), integer(toMs)) as Row | undefined
    return row && this.#blockOf(kind, row)
  }

  /** Blocks in [fromMs, toMs], oldest first, a few held at a time; the caller may write to the file between two of them. */
  *between(kind: Kind, tier: number, fromMs: number, toMs: number): Generator<Block, void, void> {
    const page = kind === KINDS.cluster ? this.#sumsPage : this.#page
    const of = kind === KINDS.cluster ? [this.#cluster, tier] : [this.#cluster, kind, tier]
    for (let from = integer(fromMs); ;) {
      const rows = page.all(...of, from, integer(toMs)) as Row[]
      for (const row of rows) {
        const block = this.#blockOf(kind, row)
        if (block) yield block
      }
      const last = rows.at(-1)
      if (!last || rows.length < AT_ONCE) return
      from = last[0] + 1
    }
  }

  /** Visits keys and RPC/s of the jobs at every instant of a span, in one query: nothing may be written before it returns. */
  eachJobs(
    tier: number,
    fromMs: number,
    toMs: number,
    take: (atMs: number, keys: Uint32Array, rpcs: Float32Array) => void,
  ): void {
    const rows = this.#lead.iterate(this.#cluster, KINDS.jobs, tier, integer(fromMs), integer(toMs))
    for (const [atMs, n, lead] of rows as Iterable<[number, number, Buffer]>) {
      const head = unpackLead(n, lead)
      if (head && this.#isForeign && !isSound(head.keys, [head.first])) continue
      if (head) take(atMs, head.keys, head.first)
    }
  }

  /**
   * Visits the cluster sums at every instant of a span, columns by position; as above, nothing may be written before it returns.
   */
  eachSums(tier: number, fromMs: number, toMs: number, take: (atMs: number, data: Buffer) => void): void {
    const rows = this.#sums.iterate(this.#cluster, tier, integer(fromMs), integer(toMs))
    for (const [atMs, data] of rows as Iterable<[number, Buffer]>) {
      if (data.length !== SUMS_BYTES) continue
      if (this.#isForeign) {
        for (let c = 0; c < CLUSTER_COLUMNS.length; c++) if (!isValue(sumOf(data, c))) data.writeFloatLE(NaN, 4 * c)
      }
      take(atMs, data)
    }
  }

  #blockOf(kind: Kind, [atMs, n, lead, rest]: Row): Block | undefined {
    const block = unpack(kind, atMs, { n, lead, rest })
    return block && this.#isForeign && !isSound(block.keys, block.columns) ? undefined : block
  }
}

/** Largest valid value; sums of larger ones would no longer be exact integers. */
const VALUE_MAX = 2 ** 52
const isValue = (v: number): boolean => Math.abs(v) <= VALUE_MAX

/** True if the keys ascend; replaces invalid values with gaps, in place. */
function isSound(keys: Uint32Array, columns: readonly Float32Array[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as number) >= (keys[i] as number)) return false
  for (const column of columns) {
    for (let i = 0; i < column.length; i++) if (!isValue(column[i] as number)) column[i] = NaN
  }
  return true
}

/** Reads one column of the sums. */
export const sumOf = (data: Buffer, column: number): number => data.readFloatLE(4 * column)

/** Range of a span and the tier it is read from; `weight`: weight of one of its instants in means over the span. */
export interface Segment {
  readonly tier: number
  /** Inclusive, as is `toMs`. */
  readonly fromMs: number
  readonly toMs: number
  readonly weight: number
}

/**
 * Tiers to read for [fromMs, toMs): the one with at most about `points` instants, and finer ones for the end that it does not
 * cover yet.
 *
 * @param plane  kind of a plane's rows, which have no raw tier; undefined: samples.
 */
export function segmentsOf(
  blocks: BlockReader,
  fromMs: number,
  toMs: number,
  points: number,
  plane?: PlaneKind,
): Segment[] {
  const finest = plane === undefined ? RAW : SECOND
  const out: Segment[] = []
  let from = fromMs
  const last = toMs - 1
  const first =
    plane === undefined ? tierNumber(blocks.tierFor(fromMs, last, points)) : planeTierFor(blocks, fromMs, last, points)
  for (let tier = first; tier >= finest && from <= last; tier--) {
    const extent = plane === undefined ? blocks.extent(tier) : blocks.extentOf(plane, tier)
    const step = stepOf(tier)
    // The newest second is complete only when it is over: left for the next call.
    if (out.length > 0 && tier === RAW) break
    if (!extent || extent.toMs < from) continue
    const end = Math.min(last, tier === finest ? last : extent.toMs + step - 1)
    out.push({ tier, fromMs: from, toMs: end, weight: Math.max(step, 1000) / 1000 })
    from = end + 1
  }
  return out
}

/**
 * Finest tier of planes that reaches back and has at most `points` periods: of a cluster whose samples are rare, planes may have a
 * row every second.
 */
export function planeTierFor(blocks: BlockReader, fromMs: number, toMs: number, points: number): number {
  let tier = Math.max(SECOND, tierNumber(blocks.tierFor(fromMs, toMs, points)))
  while (tier < TIERS.length - 1 && (toMs - fromMs) / stepOf(tier) > points && blocks.extent(tier + 1)) tier++
  return tier
}

export const tierOfSegments = (segments: readonly Segment[]): TierId => tierOf(segments[0]?.tier ?? 0)
