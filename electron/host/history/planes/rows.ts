/** Rows of a plane's table at an instant, and charts of its columns over a window. */
import { planeColumn, planeTable, type PlaneColumn, type PlaneTableId } from '#core/series/plane-tables.ts'
import { partsOf } from '../../../history/parts.ts'
import type { Block, HistoryReader, PlaneSeries } from '../../../history/reader.ts'
import { stepOf, tierNumber } from '../../../history/tiers.ts'

/** null: a gap, or no row. */
type Values = (number | null)[]

export interface RowAt extends PlaneSeries {
  readonly value: (column: string) => number | null
}

export interface RowsAt {
  readonly atMs: number
  readonly rows: readonly RowAt[]
}

/** Distance to the newest period, in steps of the tier shown: a period that ended this long ago still describes an instant. */
const STEPS = 1.5
const SECOND_MS = 1000

const orNull = (v: number | undefined): number | null => (v === undefined || Number.isNaN(v) ? null : v)

function rowsOf(reader: HistoryReader, table: PlaneTableId, { atMs, keys, columns }: Block): RowsAt {
  const rows = Array.from(keys, (key, i): RowAt | undefined => {
    const series = reader.planeSeries(key)
    return series && { ...series, value: (name) => orNull(columns[planeColumn(table, name)]?.[i]) }
  })
  return { atMs, rows: rows.filter((row) => row !== undefined) }
}

/**
 * Rows of the newest period at an instant; undefined if none is near.
 *
 * @param stepMs  distance of the samples that are shown, or the period of the source.
 */
export function rowsAt(
  reader: HistoryReader,
  table: PlaneTableId,
  atMs: number | null,
  stepMs: number,
): RowsAt | undefined {
  const block = atMs === null ? undefined : reader.planeAt(table, atMs, STEPS * Math.max(SECOND_MS, stepMs))
  return block && rowsOf(reader, table, block)
}

/** Rows of each second in (atMs - lengthMs, atMs], oldest first. */
export function* secondsBefore(
  reader: HistoryReader,
  table: PlaneTableId,
  atMs: number,
  lengthMs: number,
): Generator<RowsAt> {
  const from = Math.floor(atMs - lengthMs) + 1
  for (const block of reader.planeBetween(table, '1s', from, atMs)) yield rowsOf(reader, table, block)
}

/** Sum, largest or mean of a column over rows, by its rule for the row of the other series; null if none is known. */
export function overRows(table: PlaneTableId, column: string, rows: readonly RowAt[]): number | null {
  const { others } = planeTable(table).columns[planeColumn(table, column)] as PlaneColumn
  const known = rows.map((row) => row.value(column)).filter((v) => v !== null)
  if (known.length === 0) return null
  if (others === 'max' || others === 'gap') return Math.max(...known)
  const sum = known.reduce((n, v) => n + v, 0)
  return others === 'mean' ? sum / known.length : sum
}

/** Values of one group of series over a chart, added block by block. */
class Line {
  readonly #column: PlaneColumn
  readonly #sums: Float64Array
  readonly #counts: Uint32Array
  /** Value of the group in the block that is being read. */
  #value = NaN
  #known = 0
  #rows = 0

  constructor(column: PlaneColumn, parts: number) {
    this.#column = column
    this.#sums = new Float64Array(parts)
    this.#counts = new Uint32Array(parts)
  }

  add(v: number): void {
    this.#rows++
    if (Number.isNaN(v)) return
    const { others } = this.#column
    const isLargest = others === 'max' || others === 'gap'
    this.#value = this.#known === 0 ? v : isLargest ? Math.max(this.#value, v) : this.#value + v
    this.#known++
  }

  /** Ends a block: a series without a row was idle, which is zero for a rate. */
  end(part: number): void {
    const { others, rollUp } = this.#column
    let v = this.#rows === 0 && rollUp === 'rate' ? 0 : this.#value
    if (others === 'mean') v /= Math.max(1, this.#known)
    this.#value = NaN
    this.#known = this.#rows = 0
    if (Number.isNaN(v)) return
    const sum = this.#sums[part] as number
    const isFirst = this.#counts[part] === 0
    if (isFirst || rollUp === 'last') this.#sums[part] = v
    else if (rollUp === 'max') this.#sums[part] = Math.max(sum, v)
    else if (rollUp === 'min') this.#sums[part] = Math.min(sum, v)
    else this.#sums[part] = sum + v
    this.#counts[part] = (this.#counts[part] as number) + 1
  }

  get values(): Values {
    const isMean = this.#column.rollUp === 'rate' || this.#column.rollUp === 'mean'
    return Array.from(this.#counts, (n, part) => (n === 0 ? null : (this.#sums[part] as number) / (isMean ? n : 1)))
  }
}

export interface PlaneChart {
  /** Unix ms of the points. */
  readonly t: number[]
  /** Names of the groups with a row. */
  readonly groups: readonly string[]
  /** Values of a column over the series of a group. */
  readonly of: (group: string, column: string) => Values
}

/** Most points of a chart. */
const POINTS = 400

/** Blocks of a window; the end of a coarse tier that is not rolled up yet is read by seconds. */
function blocksOf(reader: HistoryReader, table: PlaneTableId, fromMs: number, toMs: number): Block[] {
  const tier = reader.planeTierFor(fromMs, toMs, POINTS)
  const stepMs = stepOf(tierNumber(tier))
  const blocks = [...reader.planeBetween(table, tier, fromMs, toMs)]
  const endMs = (blocks.at(-1)?.atMs ?? fromMs - stepMs) + stepMs
  if (tier === '1s' || toMs - endMs > 2 * stepMs) return blocks
  return [...blocks, ...reader.planeBetween(table, '1s', endMs, toMs)]
}

/**
 * Chart of some columns over the window (atMs - windowMs, atMs], of groups of series, in one pass.
 *
 * @param groupsOf  groups of a series; none leaves it out.
 */
export function planeChart(
  reader: HistoryReader,
  table: PlaneTableId,
  { atMs, windowMs }: { readonly atMs: number; readonly windowMs: number },
  columns: readonly string[],
  groupsOf: (series: PlaneSeries) => readonly string[],
): PlaneChart {
  const fromMs = Math.floor(atMs - windowMs) + 1
  const blocks = blocksOf(reader, table, fromMs, atMs)
  const { t, of } = partsOf(
    Float64Array.from(blocks, (b) => b.atMs),
    fromMs,
    atMs + 1,
    POINTS,
    SECOND_MS,
  )
  const indices = columns.map((name) => planeColumn(table, name))
  const linesOf = (): Line[] => indices.map((i) => new Line(planeTable(table).columns[i] as PlaneColumn, t.length))
  const groups = new Map<string, Line[]>()
  const known = new Map<number, readonly Line[][]>()
  const groupsOfKey = (key: number): readonly Line[][] => {
    const series = reader.planeSeries(key)
    return (series ? groupsOf(series) : []).map((name) => {
      const lines = groups.get(name) ?? linesOf()
      groups.set(name, lines)
      return lines
    })
  }
  for (const { keys } of blocks) {
    for (const key of keys) if (!known.has(key)) known.set(key, groupsOfKey(key))
  }
  blocks.forEach((block, k) => {
    block.keys.forEach((key, row) => {
      for (const lines of known.get(key) ?? []) {
        lines.forEach((line, c) => line.add(block.columns[indices[c] as number]?.[row] ?? NaN))
      }
    })
    for (const lines of groups.values()) for (const line of lines) line.end(of[k] as number)
  })
  const none: Values = t.map(() => null)
  return {
    t,
    groups: [...groups.keys()],
    of: (group, column) => groups.get(group)?.[columns.indexOf(column)]?.values ?? none,
  }
}
