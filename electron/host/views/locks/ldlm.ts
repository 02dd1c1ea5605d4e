/**
 * Locks frame of Lustre's own lock manager: counters of its servers at the shown sample. Modes, queues and resources of
 * single locks are not included; servers do not export them.
 */
import type { LocksFrame, LocksSort } from '#core/api/locks.ts'
import { grouped } from '#core/control/sentence.ts'
import type { Result } from '#core/base/result.ts'
import type { Level, Notice } from '#core/api/parts.ts'
import {
  LDLM_COLUMNS,
  LDLM_TOTAL,
  LDLM_TOTAL_COLUMNS,
  ldlmColumn,
  type KnownNamespace,
  type LdlmMeasure,
  type LdlmSeries,
} from '../../../cluster/locks/ldlm-series.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import { orNull, type Position } from '../../position.ts'
import { comparison, entry, glob, parseFilter, type FilterError, type RowTest } from '../../job-filter.ts'

/** Window in which events are reported, rows of a second. */
const LATELY = 60
/** Window of current cancels, compared with the minutes before. */
const NOW = 5
const USUAL = 300
/** Fewest rows that determine the usual level. */
const KNOWN = 30
/** Far above usual: this many times as many, and a minimum per second. */
const FAR = 4
const FAR_PER_S = 20
/** Shares of the pool's limit. */
const NEAR = 0.75
const FULL = 0.9

interface Condition {
  readonly level: Level
  readonly why: string
}

/** Increase of a counter over the last minute; a decrease is a restart of the counter. */
function risen(series: LdlmSeries, key: string, m: LdlmMeasure, row: number): number {
  const { table } = series
  let sum = 0
  let before = NaN
  for (let r = Math.max(table.oldest, row - LATELY); r <= row; r++) {
    const v = table.value(key, ldlmColumn(m), r)
    if (Number.isNaN(v)) continue
    if (v > before) sum += v - before
    before = v
  }
  return sum
}

/** Condition of a namespace at a row of its series: the worst one that applies. */
export function conditionOf(series: LdlmSeries, key: string, row: number): Condition {
  const at = (m: LdlmMeasure): number => series.value(series.table, key, ldlmColumn(m), row)
  const timeouts = risen(series, key, 'timeouts', row)
  if (timeouts > 0) {
    const callbacks = timeouts === 1 ? '1 callback was' : `${grouped(timeouts)} callbacks were`
    return { level: 'bad', why: `${callbacks} not answered in time in the last minute: clients are evicted` }
  }
  const used = at('granted') / at('limit')
  if (used >= NEAR) {
    const why = `${grouped(used * 100)} % of the pool's limit is granted: clients must release locks`
    return { level: used >= FULL ? 'bad' : 'watch', why }
  }
  const contended = risen(series, key, 'contentions', row)
  if (contended > 0) {
    return { level: 'watch', why: `resources were contended ${grouped(contended)} × in the last minute` }
  }
  const column = ldlmColumn('cancelRate')
  const cancels = series.table.mean(key, column, row, NOW)
  const usual = series.table.mean(key, column, row - NOW, USUAL)
  const isKnown = row - NOW - KNOWN >= 1 && !Number.isNaN(series.table.value(key, column, row - NOW - KNOWN))
  if (isKnown && cancels >= FAR_PER_S && cancels > FAR * usual) {
    return {
      level: 'watch',
      why: `${grouped(cancels)} cancels/s, usually ${usual < 10 ? usual.toFixed(1) : grouped(usual)}`,
    }
  }
  const moves = at('grantRate') + at('cancelRate')
  if (moves === 0) return { level: 'idle', why: 'no grants or cancels' }
  return { level: 'ok', why: '' }
}

type LdlmRow = Readonly<Record<LdlmMeasure, number>> & { readonly namespace: string; readonly node: string }

const TEXT: Readonly<Record<string, (r: LdlmRow) => string>> = { ns: (r) => r.namespace, node: (r) => r.node }
/** NaN, a gap, matches no comparison. */
const NUMBER: Readonly<Record<string, (r: LdlmRow) => number>> = {
  locks: (r) => r.locks,
  resources: (r) => r.resources,
  granted: (r) => r.granted,
  grants: (r) => r.grantRate,
  cancels: (r) => r.cancelRate,
  timeouts: (r) => r.timeouts,
  contentions: (r) => r.contentions,
}

function term(word: string): RowTest<LdlmRow> | string {
  const number = /^([a-z]+)(>=|<=|>|<|=)(.*)$/.exec(word)
  if (number) {
    const [, name = '', op = '', value = ''] = number
    const valueOf = entry(NUMBER, name)
    if (!valueOf) return `${name} is not numeric; numeric fields are ${Object.keys(NUMBER).join(', ')}`
    const passes = comparison(op, value)
    return typeof passes === 'string' ? passes : (r) => passes(valueOf(r))
  }
  const [, name = '', value = ''] = /^([a-z]+):(.*)$/.exec(word) ?? []
  if (name === '') {
    const has = glob(word)
    return (r) => has(r.namespace) || has(r.node)
  }
  if (value === '') return `${name}: needs a value`
  const textOf = entry(TEXT, name)
  if (!textOf) return `${name}: is not a field; fields are ${Object.keys(TEXT).join(', ')}`
  const has = glob(value)
  return (r) => has(textOf(r))
}

/**
 * Parses a filter of the namespace table, `ns:OST0000 node:oss granted>10k cancels>=5`; an empty one matches
 * everything.
 */
const parseLdlmFilter = (text: string): Result<RowTest<LdlmRow>, FilterError> => parseFilter(text, term)

const SERIES_POINTS = 300
const SPARK_POINTS = 40
/** Age from which a row no longer describes the shown instant. */
const STALE_MS = 3_000

export interface LdlmQuery {
  readonly windowMs: number
  readonly sort: LocksSort
  readonly filter: string
  readonly offset: number
  readonly limit: number
  /** Name of a namespace. */
  readonly selected: string
}

/** Fields of a frame that the `ldlm` plane fills. */
export type LdlmPart = Pick<
  LocksFrame,
  | 'manager'
  | 'held'
  | 'grants'
  | 'cancels'
  | 'series'
  | 'filterError'
  | 'known'
  | 'shown'
  | 'offset'
  | 'ldlm'
  | 'notices'
>

/** Counters to build the part of: those in memory, or readings of the past. */
export interface LdlmCounts {
  readonly series: LdlmSeries
  /** Series of the charts, if a window reaches further back than `series`. */
  readonly charts?: LdlmSeries
  /** Namespaces that are not in `series`, because there are too many. */
  readonly omitted: number
  /** Servers without data at a time, and the reasons. */
  missingAt(atMs: number): { readonly node: string; readonly reason: string }[]
}

/** True if a source has servers with a readable lock manager. */
export const hasLdlm = (monitor: ClusterMonitor): boolean => monitor.ldlm.hasServers

/** One namespace at the shown row. */
interface Row {
  readonly known: KnownNamespace
  readonly values: Readonly<Record<LdlmMeasure, number>>
  /** Reason why its server does not report; undefined while it does. */
  readonly silent: string | undefined
}

function valuesAt(series: LdlmSeries, key: string, row: number): Row['values'] {
  const values = LDLM_COLUMNS.map((m) => [m, series.value(series.table, key, ldlmColumn(m), row)])
  return Object.fromEntries(values) as Row['values']
}

const GAPS = Object.fromEntries(LDLM_COLUMNS.map((m) => [m, NaN])) as Row['values']
const hasValues = ({ locks, granted }: Row['values']): boolean => !Number.isNaN(locks) || !Number.isNaN(granted)
/** Grants and cancels per second. */
const moves = ({ values: { grantRate, cancelRate } }: Row): number => {
  const sum = (Number.isNaN(grantRate) ? 0 : grantRate) + (Number.isNaN(cancelRate) ? 0 : cancelRate)
  return sum
}
const byName = (a: Row, b: Row): number => {
  const [x, y] = [a, b].map(({ known: k }) => `${k.namespace}\u0000${k.node}`) as [string, string]
  return x < y ? -1 : x > y ? 1 : 0
}

/** Namespaces at a row; those of a silent server as gaps, unless another server has taken them over. */
function rowsAt(series: LdlmSeries, row: number, silent: ReadonlyMap<string, string>): Row[] {
  const rows: Row[] = []
  const gone: Row[] = []
  for (const known of series.known) {
    const why = silent.get(known.node)
    const values = why === undefined ? valuesAt(series, known.key, row) : GAPS
    if (why !== undefined) gone.push({ known, values, silent: why })
    else if (hasValues(values)) rows.push({ known, values, silent: undefined })
  }
  const here = new Set(rows.map((r) => r.known.namespace))
  return [...rows, ...gone.filter((r) => !here.has(r.known.namespace) && r.known.firstRow <= row)]
}

const conditionAt = (series: LdlmSeries, { known, silent }: Row, row: number): Condition =>
  silent === undefined ? conditionOf(series, known.key, row) : { level: 'unknown', why: silent }

/** Rows of a chart, and how many of them are one point. */
type ChartRows = ReturnType<LdlmSeries['table']['window']>

function sparkOf(series: LdlmSeries, key: string, { from, to, step }: ChartRows): (number | null)[] {
  const past = (m: LdlmMeasure): (number | null)[] => series.table.downsample(key, ldlmColumn(m), from, to, step)
  const cancels = past('cancelRate')
  return past('grantRate').map((g, i) => (g === null && cancels[i] == null ? null : (g ?? 0) + (cancels[i] ?? 0)))
}

/**
 * Sums over the namespaces at a row, and over the window up to a row of the charts.
 *
 * @param isWhole  true if every server reports: sums still pending are then replaced by the previous ones.
 */
function totalsOf(
  series: LdlmSeries,
  row: number,
  isWhole: boolean,
  { totals: past }: LdlmSeries,
  { from, to, step }: ChartRows,
): Pick<LdlmPart, 'held' | 'grants' | 'cancels' | 'series'> {
  const { totals } = series
  const column = (m: (typeof LDLM_TOTAL_COLUMNS)[number]): number => LDLM_TOTAL_COLUMNS.indexOf(m)
  const all = (m: (typeof LDLM_TOTAL_COLUMNS)[number]): (number | null)[] =>
    past.downsample(LDLM_TOTAL, column(m), from, to, step)
  const now = (m: (typeof LDLM_TOTAL_COLUMNS)[number]): number | null =>
    orNull(isWhole ? series.value(totals, LDLM_TOTAL, column(m), row) : totals.value(LDLM_TOTAL, column(m), row))
  return {
    held: now('held'),
    grants: now('grants'),
    cancels: now('cancels'),
    series: {
      t: past.times(from, to, step),
      held: all('held'),
      grants: all('grants'),
      cancels: all('cancels'),
      waiting: all('waiting'),
    },
  }
}

/** Description of the lock manager, and of data it does not provide. */
function managerOf({ series, omitted }: LdlmCounts, row: number): string {
  const counts = [...series.nodes.names]
    .map((n) => series.value(series.nodes, n, 0, row))
    .filter((v) => !Number.isNaN(v))
  const sum = grouped(counts.reduce((n, v) => n + v, 0))
  const servers = counts.length === 1 ? '1 server' : `${counts.length} servers`
  const all = counts.length === 0 ? '' : ` ${sum} locks granted on ${servers};`
  const more = omitted === 0 ? '' : ` ${grouped(omitted)} more namespaces than can be shown;`
  return `Lustre LDLM, counters of servers:${all}${more} modes, queues and holders of locks are not exported`
}

const NOTHING: LdlmPart = {
  manager: 'Lustre LDLM',
  held: null,
  grants: null,
  cancels: null,
  known: 0,
  shown: 0,
  offset: 0,
  series: { t: [], held: [], grants: [], cancels: [], waiting: [] },
  ldlm: {
    namespace: [],
    target: [],
    node: [],
    locks: [],
    unused: [],
    resources: [],
    granted: [],
    grantRate: [],
    cancelRate: [],
    limit: [],
    timeouts: [],
    contentions: [],
    level: [],
    why: [],
    spark: [],
    selected: '',
    series: { t: [], locks: [], grantRate: [], cancelRate: [], limit: [] },
    missing: [],
  },
  notices: [],
}

function forgotten({ table }: LdlmSeries): Notice {
  const minutes = Math.floor((table.atMs(table.newest) - table.atMs(table.oldest)) / 60_000)
  return {
    code: 'LOCKS_FORGOTTEN',
    what: 'The lock counters of this sample are no longer in memory',
    why: `they are kept for the last ${minutes} min`,
  }
}

/**
 * Counters of namespaces with their rates, at the shown sample.
 *
 * @param staleMs  age from which a row no longer describes the sample.
 */
export function ldlmPart(
  counts: LdlmCounts,
  query: LdlmQuery,
  { atMs }: Pick<Position, 'atMs'>,
  staleMs = STALE_MS,
): LdlmPart {
  const { series, charts = series } = counts
  if (atMs === null) return NOTHING
  const missing = counts.missingAt(atMs)
  const row = series.rowAt(atMs)
  if (row === 0 || atMs - series.table.atMs(row) > staleMs) {
    const isForgotten = series.table.oldest > 1 && atMs < series.table.atMs(series.table.oldest)
    const notices = isForgotten ? [forgotten(series)] : []
    return { ...NOTHING, notices, ldlm: NOTHING.ldlm && { ...NOTHING.ldlm, missing } }
  }
  const all = rowsAt(series, row, new Map(missing.map((m) => [m.node, m.reason])))
  const filter = parseLdlmFilter(query.filter)
  const passing = filter.ok ? all.filter((r) => filter.value({ ...r.known, ...r.values })) : all
  const sorted = passing.sort(query.sort === 'name' ? byName : (a, b) => moves(b) - moves(a) || byName(a, b))
  const rows = sorted.slice(query.offset, query.offset + query.limit)
  const conditions = rows.map((r) => conditionAt(series, r, row))
  const chosen = all.find((r) => r.known.namespace === query.selected) ?? sorted[0]
  const { table } = charts
  const last = charts.rowAt(atMs)
  const spark = table.window(last, query.windowMs, SPARK_POINTS)
  const chart = table.window(last, query.windowMs, SERIES_POINTS)
  const column = (m: LdlmMeasure): (number | null)[] => rows.map((r) => orNull(r.values[m]))
  const past = (m: LdlmMeasure): (number | null)[] =>
    chosen ? table.downsample(chosen.known.key, ldlmColumn(m), chart.from, chart.to, chart.step) : []
  return {
    manager: managerOf(counts, row),
    ...totalsOf(series, row, !all.some((r) => r.silent !== undefined), charts, chart),
    ...(filter.ok ? {} : { filterError: filter.error }),
    known: all.length,
    shown: sorted.length,
    offset: query.offset,
    ldlm: {
      namespace: rows.map((r) => r.known.namespace),
      target: rows.map((r) => r.known.target),
      node: rows.map((r) => r.known.node),
      locks: column('locks'),
      unused: column('unused'),
      resources: column('resources'),
      granted: column('granted'),
      grantRate: column('grantRate'),
      cancelRate: column('cancelRate'),
      limit: column('limit'),
      timeouts: column('timeouts'),
      contentions: column('contentions'),
      level: conditions.map((c) => c.level),
      why: conditions.map((c) => c.why),
      spark: rows.map((r) => sparkOf(charts, r.known.key, spark)),
      selected: chosen?.known.namespace ?? '',
      series: {
        t: chosen ? table.times(chart.from, chart.to, chart.step) : [],
        locks: past('locks'),
        grantRate: past('grantRate'),
        cancelRate: past('cancelRate'),
        limit: past('limit'),
      },
      missing,
    },
    notices: [],
  }
}
