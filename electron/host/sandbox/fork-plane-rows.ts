/** Rows of the planes over a range, each column by its roll-up, as inputs of a fork. */
import type { Span } from '#core/api/history.ts'
import type { ForkRow, ForkRows } from '#core/sandbox/fork-inputs.ts'
import { PLANE_TABLES, type PlaneColumn, type PlaneTable, type PlaneTableId } from '#core/series/plane-tables.ts'
import type { HistoryReader } from '../../history/reader.ts'

/** Most periods read of a table. */
const POINTS_MAX = 2_400

/** Running values of one column of a series. */
class ColumnValues {
  first = NaN
  last = NaN
  sum = 0
  least = Infinity
  most = -Infinity
  count = 0

  add(v: number): void {
    if (Number.isNaN(v)) return
    if (this.count === 0) this.first = v
    this.last = v
    this.sum += v
    this.least = Math.min(this.least, v)
    this.most = Math.max(this.most, v)
    this.count++
  }

  /** @param periods  periods of the table, with or without a row of the series. */
  rolledUp({ rollUp }: PlaneColumn, periods: number): number {
    if (this.count === 0) return NaN
    if (rollUp === 'rate') return this.sum / periods
    if (rollUp === 'mean') return this.sum / this.count
    if (rollUp === 'max') return this.most
    return rollUp === 'min' ? this.least : this.last
  }
}

interface Series {
  readonly columns: readonly ColumnValues[]
  /** First and last period, by number and time. */
  readonly from: number
  readonly fromMs: number
  to: number
  toMs: number
  rows: number
}

function rowsOfTable(reader: HistoryReader, table: PlaneTable & { readonly id: PlaneTableId }, span: Span): ForkRow[] {
  const tier = reader.planeTierFor(span.fromMs, span.toMs - 1, POINTS_MAX)
  const series = new Map<number, Series>()
  let periods = 0
  for (const { atMs, keys, columns } of reader.planeBetween(table.id, tier, span.fromMs, span.toMs - 1)) {
    keys.forEach((key, at) => {
      let s = series.get(key)
      if (!s) {
        const fresh = table.columns.map(() => new ColumnValues())
        series.set(key, (s = { columns: fresh, from: periods, fromMs: atMs, to: periods, toMs: atMs, rows: 0 }))
      }
      s.to = periods
      s.toMs = atMs
      s.rows++
      s.columns.forEach((c, i) => c.add(columns[i]?.[at] ?? NaN))
    })
    periods++
  }
  const byName = (valueOf: (c: ColumnValues, column: PlaneColumn) => number, of: Series): Record<string, number> =>
    Object.fromEntries(table.columns.map((column, i) => [column.name, valueOf(of.columns[i] as ColumnValues, column)]))
  return [...series].flatMap(([key, s]): ForkRow[] => {
    const named = reader.planeSeries(key)
    if (!named) return []
    const { name, place, jobId, isOthers } = named
    return [
      {
        name,
        place,
        jobId,
        isOthers,
        fromS: (s.fromMs - span.fromMs) / 1000,
        toS: (s.toMs - span.fromMs) / 1000,
        rows: s.rows,
        first: byName((c) => c.first, s),
        values: byName((c, column) => c.rolledUp(column, periods), s),
        means: byName(
          (c, { rollUp }) => (c.count === 0 ? NaN : c.sum / (rollUp === 'rate' ? s.to - s.from + 1 : c.count)),
          s,
        ),
      },
    ]
  })
}

/** Rows of all planes in [fromMs, toMs); undefined if there are none. */
export function planeRowsOf(reader: HistoryReader, span: Span): ForkRows | undefined {
  const tables = new Map<PlaneTableId, readonly ForkRow[]>()
  for (const table of PLANE_TABLES) {
    const rows = rowsOfTable(reader, table, span)
    if (rows.length > 0) tables.set(table.id, rows)
  }
  return tables.size > 0 ? { tables } : undefined
}
