/** Reader of one cluster's tables of planes: rows at an instant, lines of a column, movers between two spans. */
import type { Database, Statement } from 'better-sqlite3'
import { TIERS, type Span, type TierId } from '#core/api/history.ts'
import {
  OTHERS,
  OTHERS_KEY,
  othersValue,
  planeColumn,
  planeTable,
  type PlaneColumn,
  type PlaneTableId,
} from '#core/series/plane-tables.ts'
import { planeTierFor, segmentsOf, tierOfSegments, type BlockReader } from './block-reader.ts'
import type { PlaneKind } from './block.ts'
import { partsOf } from './parts.ts'
import type { Block, HistoryReader, PlaneSeries } from './reader.ts'
import { SECOND, stepOf, tierNumber } from './tiers.ts'

const NAME_MAX = 256
const SERIES_MAX = 100_000
/** Instants read of a span for its movers. */
const MOVER_POINTS = 1_500

interface Row {
  readonly id: number
  readonly name: string
  readonly place: string
  readonly job_id: string
}

const kindOf = (table: PlaneTableId): PlaneKind => planeTable(table).kind as PlaneKind

const seriesOf = (r: Row): PlaneSeries => ({
  key: r.id,
  name: r.name,
  place: r.place,
  jobId: r.job_id,
  isOthers: false,
})

const OTHERS_SERIES: PlaneSeries = {
  key: OTHERS_KEY,
  name: OTHERS.name,
  place: OTHERS.place,
  jobId: OTHERS.jobId,
  isOthers: true,
}

export class PlaneReader {
  readonly #blocks: BlockReader
  readonly #cluster: number
  readonly #one: Statement<number[]>
  readonly #all: Statement<number[]>
  readonly #known = new Map<number, PlaneSeries>()

  constructor(db: Database, cluster: number, blocks: BlockReader) {
    this.#blocks = blocks
    this.#cluster = cluster
    const series = `SELECT id, substr(name, 1, ${NAME_MAX}) AS name, substr(place, 1, ${NAME_MAX}) AS place,
      substr(job_id, 1, ${NAME_MAX}) AS job_id FROM plane_series WHERE cluster = ?`
    this.#one = db.prepare(`${series} AND id = ?`)
    this.#all = db.prepare(`${series} AND kind = ? ORDER BY id LIMIT ${SERIES_MAX}`)
  }

  at(table: PlaneTableId, atMs: number, withinMs: number): Block | undefined {
    const kind = kindOf(table)
    for (let tier = SECOND; tier < TIERS.length; tier++) {
      const block = this.#blocks.newest(kind, tier, atMs - Math.max(withinMs, 1.5 * stepOf(tier)), atMs)
      if (block) return block
    }
    return undefined
  }

  between(table: PlaneTableId, tier: TierId, fromMs: number, toMs: number): Iterable<Block> {
    return this.#blocks.between(kindOf(table), Math.max(SECOND, tierNumber(tier)), fromMs, toMs)
  }

  tierFor(fromMs: number, toMs: number, points: number): TierId {
    return TIERS[planeTierFor(this.#blocks, fromMs, toMs, points)] ?? '1min'
  }

  series(key: number): PlaneSeries | undefined {
    if (key === OTHERS_KEY) return OTHERS_SERIES
    const known = this.#known.get(key)
    if (known) return known
    const row = this.#one.get(this.#cluster, key) as Row | undefined
    if (!row) return undefined
    if (this.#known.size >= SERIES_MAX) this.#known.clear()
    const series = seriesOf(row)
    this.#known.set(key, series)
    return series
  }

  allSeries(table: PlaneTableId): readonly PlaneSeries[] {
    return (this.#all.all(this.#cluster, kindOf(table)) as Row[]).map(seriesOf)
  }

  line(
    ...[table, name, span, points, key]: Parameters<HistoryReader['planeLine']>
  ): ReturnType<HistoryReader['planeLine']> {
    const c = planeColumn(table, name)
    const column = planeTable(table).columns[c] as PlaneColumn
    const segments = segmentsOf(this.#blocks, span.fromMs, span.toMs, points, kindOf(table))
    const instants: number[] = []
    const values: number[] = []
    for (const s of segments) {
      for (const block of this.between(table, TIERS[s.tier] ?? '1s', s.fromMs, s.toMs)) {
        instants.push(block.atMs)
        values.push(valueOf(column, block, c, key))
      }
    }
    const least = Math.max(1000, stepOf(segments[0]?.tier ?? SECOND))
    const { t, of } = partsOf(Float64Array.from(instants), span.fromMs, span.toMs, points, least)
    const sums = new Float64Array(t.length)
    const counts = new Uint32Array(t.length)
    values.forEach((v, i) => {
      if (v !== v) return
      const part = of[i] as number
      const sum = sums[part] as number
      const isFirst = counts[part] === 0
      if (column.rollUp === 'max') sums[part] = isFirst ? v : Math.max(sum, v)
      else if (column.rollUp === 'min') sums[part] = isFirst ? v : Math.min(sum, v)
      else sums[part] = sum + v
      counts[part] = (counts[part] as number) + 1
    })
    const isExtreme = column.rollUp === 'max' || column.rollUp === 'min'
    const at = (part: number): number | null => {
      const n = counts[part] as number
      if (n === 0) return null
      return isExtreme ? (sums[part] as number) : (sums[part] as number) / n
    }
    return {
      t,
      values: t.map((_, part) => at(part)),
      tier: tierOfSegments(segments) === 'raw' ? '1s' : tierOfSegments(segments),
    }
  }

  movers(
    ...[table, name, a, b, limit]: Parameters<HistoryReader['planeMovers']>
  ): ReturnType<HistoryReader['planeMovers']> {
    const c = planeColumn(table, name)
    const before = this.#means(table, c, a)
    const after = this.#means(table, c, b)
    const rows = [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
      const series = this.series(key)
      return series ? [{ ...series, a: before.get(key) ?? 0, b: after.get(key) ?? 0 }] : []
    })
    rows.sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a) || x.key - y.key)
    const rest = rows.slice(limit)
    return {
      rows: rows.slice(0, limit),
      rest: {
        names: rest.length,
        a: rest.reduce((n, r) => n + r.a, 0),
        b: rest.reduce((n, r) => n + r.b, 0),
      },
    }
  }

  /** Mean of a column over a span by series; a period without a row counts as zero for a rate. */
  #means(table: PlaneTableId, c: number, span: Span): Map<number, number> {
    const isRate = planeTable(table).columns[c]?.rollUp === 'rate'
    const sums = new Map<number, { sum: number; weight: number }>()
    let all = 0
    for (const { tier, fromMs, toMs, weight } of segmentsOf(
      this.#blocks,
      span.fromMs,
      span.toMs,
      MOVER_POINTS,
      kindOf(table),
    )) {
      for (const { keys, columns } of this.between(table, TIERS[tier] ?? '1s', fromMs, toMs)) {
        all += weight
        const column = columns[c] as Float32Array
        for (let i = 0; i < keys.length; i++) {
          const v = column[i] as number
          if (v !== v) continue
          const key = keys[i] as number
          const known = sums.get(key)
          if (known) {
            known.sum += v * weight
            known.weight += weight
          } else sums.set(key, { sum: v * weight, weight })
        }
      }
    }
    return new Map([...sums].map(([key, { sum, weight }]) => [key, sum / (isRate ? all : weight)]))
  }
}

/** Value of one series in a block, or of all rows. A series without a row was idle: zero for a rate, otherwise a gap. */
function valueOf(column: PlaneColumn, { keys, columns }: Block, c: number, key: number | undefined): number {
  const values = columns[c] as Float32Array
  if (key === undefined) return othersValue(column.others === 'gap' ? { ...column, others: 'max' } : column, values)
  const i = keys.indexOf(key)
  if (i >= 0) return values[i] as number
  return column.rollUp === 'rate' ? 0 : NaN
}
