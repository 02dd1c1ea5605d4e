/**
 * Tables of locks, metadata and tokens at the instants of the page: the leading series of each, all others in one row, and the
 * charts of their main measures. Columns are rolled up as in the history.
 */
import { HUES } from '#core/base/categorical-color.ts'
import { plainText } from '#core/base/plain-text.ts'
import { PROMINENT, type JobColors } from '#core/series/job-colors.ts'
import {
  PLANE_TABLES,
  planeColumn,
  type PlaneColumn,
  type PlaneTable,
  type PlaneTableId,
} from '#core/series/plane-tables.ts'
import { valuesOf } from '#core/snapshot/column.ts'
import {
  SERIES_MOST,
  type Column,
  type ReplayData,
  type ReplayPlane,
  type ReplayPlaneChart,
  type ReplaySeries,
} from '#core/snapshot/replay-data.ts'
import { packed, rounded, roundedTime } from '#core/snapshot/replay-downsample.ts'
import { cadenceOf } from '../../history/parts.ts'
import type { Block, PlaneSeries } from '../../history/reader.ts'
import { READ_MOST, type Reading } from './replay-reading.ts'

/** Columns that only the CSV files have: parts of a period, which is shorter than the page's instants. */
const NOT_SHOWN = /^pool_check_\d+$/

/** Value of a period for a set of rows, by the rule of the column for others; of a limit without a sum the largest. */
function combined({ others }: PlaneColumn, values: Float32Array, rows: readonly number[], isAll: boolean): number {
  let known = 0
  let value = NaN
  for (const i of rows) {
    const v = values[i] as number
    if (v !== v) continue
    if (known === 0) value = v
    else value = others === 'max' || others === 'gap' ? Math.max(value, v) : value + v
    known++
  }
  if (others === 'gap' && !isAll) return NaN
  return others === 'mean' ? value / known : value
}

const figure = (value: number): number | null => (Math.abs(value) >= 1e5 ? rounded(value) : roundedTime(value))

/** One column of one series at the instants of the page. */
class RolledUp {
  readonly #values: Float64Array
  readonly #known: Uint32Array
  /** Periods with a row whose value is a gap. */
  readonly #gaps: Uint32Array
  readonly #of: PlaneColumn['rollUp']
  #isMeasured = false

  constructor(length: number, of: PlaneColumn['rollUp']) {
    this.#values = new Float64Array(length)
    this.#known = new Uint32Array(length)
    this.#gaps = new Uint32Array(length)
    this.#of = of
  }

  add(i: number, value: number): void {
    if (value !== value) {
      this.#gaps[i] = (this.#gaps[i] as number) + 1
      return
    }
    const before = this.#values[i] as number
    const known = this.#known[i] as number
    const of = this.#of
    if (known === 0 || of === 'last') this.#values[i] = value
    else if (of === 'max') this.#values[i] = Math.max(before, value)
    else if (of === 'min') this.#values[i] = Math.min(before, value)
    else this.#values[i] = before + value
    this.#known[i] = known + 1
    this.#isMeasured = true
  }

  /** @param periods  of the table in each instant: one without a row was idle, a rate of zero. */
  column(periods: Uint32Array): Column {
    return packed(Array.from(this.#values, (_, i) => this.#at(i, periods[i] as number)))
  }

  #at(i: number, periods: number): number | null {
    const value = this.#values[i] as number
    const known = this.#known[i] as number
    if (this.#of === 'rate') {
      const measured = periods - (this.#gaps[i] as number)
      return this.#isMeasured && measured > 0 ? figure(value / measured) : null
    }
    if (known === 0) return null
    return figure(this.#of === 'mean' ? value / known : value)
  }
}

/** Instants of the page that belong to a period: those in it, or the one whose interval it is a part of. */
function instantsOf({ thinned }: Reading, stepMs: number): (atMs: number, lengthMs: number) => readonly number[] {
  const { t } = thinned
  // An instant without a sample marks a gap.
  const isGap = new Uint8Array(t.length).fill(1)
  for (const i of thinned.of) isGap[i] = 0
  return (atMs, lengthMs) => {
    let first = 0
    let end = t.length
    while (first < end) {
      const mid = (first + end) >> 1
      if ((t[mid] as number) < atMs) first = mid + 1
      else end = mid
    }
    const within: number[] = []
    for (let i = first; i < t.length && (t[i] as number) < atMs + lengthMs; i++) if (isGap[i] === 0) within.push(i)
    if (within.length > 0) return within
    const before = first - 1
    return before >= 0 && isGap[before] === 0 && atMs - (t[before] as number) < stepMs ? [before] : []
  }
}

interface Candidates {
  readonly instants: Float64Array
  /** Keys of the leading series, by the sum of their ranked columns. */
  readonly leading: readonly PlaneSeries[]
}

function candidates({ reader, fromMs, lastMs }: Reading, table: PlaneTableId, of: PlaneTable): Candidates {
  const ranked = of.rank.map((name) => planeColumn(table, name))
  const scores = new Map<number, number>()
  const instants: number[] = []
  for (const { atMs, keys, columns } of blocksOf({ reader, fromMs, lastMs }, table)) {
    instants.push(atMs)
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as number
      let score = scores.get(key) ?? 0
      for (const c of ranked) {
        const v = columns[c]?.[i] ?? NaN
        if (v === v) score += Math.abs(v)
      }
      scores.set(key, score)
    }
  }
  const leading = [...scores]
    .flatMap(([key, score]) => {
      const series = reader.planeSeries(key)
      return series && !series.isOthers ? [{ series, score }] : []
    })
    .sort((a, b) => b.score - a.score || a.series.key - b.series.key)
    .slice(0, SERIES_MOST)
    .map(({ series }) => series)
  return { instants: Float64Array.from(instants), leading }
}

const blocksOf = (
  { reader, fromMs, lastMs }: Pick<Reading, 'reader' | 'fromMs' | 'lastMs'>,
  table: PlaneTableId,
): Iterable<Block> => reader.planeBetween(table, reader.planeTierFor(fromMs, lastMs, READ_MOST), fromMs, lastMs)

function tableOf(from: Reading, stepMs: number, id: PlaneTableId, jobColors: JobColors): ReplayPlane | undefined {
  const of: PlaneTable = PLANE_TABLES.find((t) => t.id === id) as PlaneTable
  const { instants, leading } = candidates(from, id, of)
  if (instants.length === 0 || from.thinned.t.length === 0) return undefined
  const n = from.thinned.t.length
  const shown = of.columns.map((c, index) => ({ of: c, index })).filter((c) => !NOT_SHOWN.test(c.of.name))
  const rolled = (): RolledUp[] => shown.map((c) => new RolledUp(n, c.of.rollUp))
  const own = new Map(leading.map((series) => [series.key, rolled()]))
  const others = rolled()
  const total = rolled()
  const periods = new Uint32Array(n)
  const lengthMs = cadenceOf(instants, 1000)
  const placesOf = instantsOf(from, stepMs)
  let hasOthers = false
  for (const { atMs, keys, columns } of blocksOf(from, id)) {
    const places = placesOf(atMs, lengthMs)
    if (places.length === 0) continue
    const all = Array.from(keys, (_, i) => i)
    const rest = all.filter((i) => !own.has(keys[i] as number))
    if (rest.length > 0) hasOthers = true
    for (const at of places) periods[at] = (periods[at] as number) + 1
    const ofRows = all.flatMap((i) => {
      const rolls = own.get(keys[i] as number)
      return rolls ? [{ i, rolls }] : []
    })
    shown.forEach(({ of: column, index }, c) => {
      const values = columns[index] as Float32Array
      const sum = combined(column, values, all, true)
      const ofRest = combined(column, values, rest, false)
      for (const at of places) {
        for (const { i, rolls } of ofRows) rolls[c]?.add(at, values[i] as number)
        if (rest.length > 0) others[c]?.add(at, ofRest)
        if (all.length > 0) total[c]?.add(at, sum)
      }
    })
  }
  const columnsOf = (rolls: readonly RolledUp[]): Column[] => rolls.map((r) => r.column(periods))
  const main = shown.findIndex((c) => c.of.name === of.main)
  const series = leading
    .map((s) => {
      const values = columnsOf(own.get(s.key) ?? [])
      return { of: s, values, mean: meanOf(values[main] ?? null, n) }
    })
    .sort((a, b) => (b.mean ?? -1) - (a.mean ?? -1) || a.of.key - b.of.key)
  if (of.hasJob)
    jobColors.colors([...new Set(series.slice(0, PROMINENT).map((s) => s.of.jobId))].filter((j) => j !== ''))
  return {
    id,
    plane: of.plane,
    title: of.title,
    nameIs: of.nameIs,
    placeIs: of.placeIs,
    hasJob: of.hasJob,
    columns: shown.map(({ of: { name, title, unit } }) => ({ name, title, unit })),
    main,
    series: series.map(({ of: { name, place, jobId }, values, mean }, i): ReplaySeries => ({
      name: plainText(name),
      place: plainText(place),
      job: plainText(jobId),
      ink: jobId === '' ? inkAt(i) : jobColors.of(jobId),
      mean,
      values,
    })),
    others: hasOthers ? columnsOf(others) : null,
    total: columnsOf(total),
  }
}

/** Color of a series without a job: one of the hues by its position, gray after them. */
const inkAt = (i: number): number => (i < HUES ? i + 1 : 0)

function meanOf(column: Column, n: number): number | null {
  const known = valuesOf(column, n).filter((v) => v !== null)
  return known.length === 0 ? null : figure(known.reduce((sum, v) => sum + v, 0) / known.length)
}

interface ChartOf {
  readonly title: string
  readonly table: PlaneTableId
  /** One column: a line for each leading series. Several: a line for each column, over all series. */
  readonly columns: readonly string[]
  readonly isStacked: boolean
}

const CHARTS: readonly ChartOf[] = [
  { title: 'Lock wait, p95', table: 'lock_resources', columns: ['wait_p95_ms'], isStacked: false },
  { title: 'Lock conflicts', table: 'lock_resources', columns: ['conflicts_per_s'], isStacked: true },
  {
    title: 'Metadata operations',
    table: 'metadata_jobs',
    columns: ['asked_per_s', 'served_per_s', 'false_allocation_per_s'],
    isStacked: false,
  },
  { title: 'Metadata served by job', table: 'metadata_jobs', columns: ['served_per_s'], isStacked: true },
  {
    title: 'Token pool and capacity',
    table: 'token_nodes',
    columns: ['estimate', 'used', 'pool_lowest'],
    isStacked: false,
  },
  { title: 'Tokens used by client', table: 'token_clients', columns: ['used'], isStacked: true },
]
/** Lines of a chart; series after them are part of the others. */
const LINES = 7

type Line = ReplayPlaneChart['lines'][number]

/** Short name of a series in a chart; its place is added if another one has the same. */
function labelsOf({ id, series }: ReplayPlane): string[] {
  const short = series.map(({ name, job }) => (id === 'metadata_jobs' && job !== '' ? job : name))
  return series.map(({ name, place }, i) => {
    const label = short[i] as string
    if (short.indexOf(label) === short.lastIndexOf(label)) return label
    return [label, label === name ? place : name].filter((part) => part !== '').join(', ')
  })
}

/** Lines of the series with most of a column, largest first. */
function seriesLines(of: ReplayPlane, column: number, n: number): Line[] {
  const labels = labelsOf(of)
  return of.series
    .map((s, i) => ({ ink: s.ink, name: labels[i] as string, values: s.values[column] ?? null }))
    .map((line) => ({ line, mean: meanOf(line.values, n) ?? 0 }))
    .filter(({ mean }) => mean > 0)
    .sort((a, b) => b.mean - a.mean)
    .slice(0, LINES)
    .map(({ line }, i) => (of.hasJob ? line : { ...line, ink: inkAt(i) }))
}

/** All series that have no line. */
function otherLine(of: ReplayPlane, column: number, n: number, lines: readonly Line[]): Line[] {
  if (of.others === null && of.series.length <= lines.length) return []
  const shown = lines.map((line) => valuesOf(line.values, n))
  const values = valuesOf(of.total[column] ?? null, n).map((total, i) =>
    total === null ? null : figure(Math.max(0, total - shown.reduce((sum, line) => sum + (line[i] ?? 0), 0))),
  )
  return values.every((v) => v === null || v === 0) ? [] : [{ name: 'other', ink: 0, values: packed(values) }]
}

function chartsOf(planes: readonly ReplayPlane[], n: number): ReplayPlaneChart[] {
  return CHARTS.flatMap(({ title, table, columns, isStacked }) => {
    const of = planes.find((p) => p.id === table)
    if (!of) return []
    const indices = columns.map((name) => of.columns.findIndex((c) => c.name === name))
    const [first = 0] = indices
    const ofSeries = columns.length === 1 ? seriesLines(of, first, n) : []
    const lines =
      columns.length === 1
        ? [...ofSeries, ...(isStacked ? otherLine(of, first, n, ofSeries) : [])]
        : indices.map((c, i) => ({ name: of.columns[c]?.title ?? '', ink: inkAt(i), values: of.total[c] ?? null }))
    const unit = of.columns[first]?.unit ?? ''
    return lines.length === 0 ? [] : [{ plane: of.plane, title, unit, isStacked, lines }]
  })
}

/** @param jobColors  the leading jobs without a color get one. */
export function replayPlanes(
  from: Reading,
  stepMs: number,
  jobColors: JobColors,
): Pick<ReplayData, 'planes' | 'planeCharts'> {
  const planes = PLANE_TABLES.flatMap(({ id }) => tableOf(from, stepMs, id, jobColors) ?? [])
  return { planes, planeCharts: chartsOf(planes, from.thinned.t.length) }
}
