/**
 * Frozen charts: of the whole source, of single targets and jobs. At most 1,200 points, gaps null, with the events of
 * the range.
 */
import { ended, type Steps } from '#core/base/steps.ts'
import type { ClusterMeasure, Mark } from '#core/api/history.ts'
import type { ChartCell, NameKind } from '#core/snapshot/notebook.ts'
import { planeTable, type PlaneTableId } from '#core/series/plane-tables.ts'
import { JOB_COLUMNS, TARGET_COLUMNS, type HistoryReader, type PlaneSeries } from '../../../history/reader.ts'
import { columnOf, curvesOf, gappy, meanExcept, POINTS, type Curves } from './curves.ts'
import { provenanceOf, type Standpoint } from './standpoint.ts'
import type { RangeMs } from './ranges.ts'
import { oneLine } from './summary-text.ts'

/** Most named series. */
const NAMED = 5
const MARKS = 200
/** Events searched for those that concern the chart. */
const LOOKED_AT = 2_000
const NAME_MOST = 512

export type NewChart = Omit<ChartCell, 'id' | 'atMs'>
export type TargetMeasure = 'rpcs' | 'serviceMs' | 'queued'
export type JobMeasure = 'rpcs' | 'bytes'

type Series = ChartCell['series'][number]
type Limit = ChartCell['limit']

const LABELS: Readonly<Record<TargetMeasure | 'bytes', { readonly title: string; readonly unit: string }>> = {
  rpcs: { title: 'RPCs', unit: 'RPC/s' },
  serviceMs: { title: 'Service time', unit: 'ms' },
  queued: { title: 'Queued RPCs', unit: 'RPCs' },
  bytes: { title: 'Throughput', unit: 'B/s' },
}

const named = (kind: NameKind, text: string): { kind: NameKind; text: string } => ({
  kind,
  text: text.slice(0, NAME_MOST),
})

/** True if an event is about one of the names. */
const concerns = (mark: Mark, names: readonly string[]): boolean =>
  names.some((n) => n !== '' && (mark.where.includes(n) || mark.text.includes(n)))

const WEIGHT: Readonly<Record<Mark['level'], number>> = { bad: 0, watch: 1, ok: 2, unknown: 3, idle: 4 }

/** Events of a range in time order; if there are too many, those that concern the names, then the most severe. */
export function marksIn(reader: HistoryReader, span: RangeMs, names: readonly string[]): ChartCell['marks'] {
  const all = reader.events(span.fromMs - 1, span.toMs - 1, LOOKED_AT)
  const rank = (m: Mark): number => (concerns(m, names) ? 0 : 10) + WEIGHT[m.level]
  return [...all]
    .sort((x, y) => rank(x) - rank(y) || y.atMs - x.atMs)
    .slice(0, MARKS)
    .sort((x, y) => x.atMs - y.atMs)
    .map((m) => ({ atMs: m.atMs, text: oneLine(`${m.subject}: ${m.text}`, NAME_MOST), level: m.level }))
}

/** Chart of measured points; none if nothing was measured. */
function chartOf(
  standpoint: Standpoint,
  reader: HistoryReader,
  span: RangeMs,
  of: {
    readonly title: string
    readonly unit: string
    readonly place: ChartCell['place']
    readonly limit?: Limit | undefined
    readonly area?: boolean
    readonly series: readonly { readonly label: Series['label']; readonly ink: number }[]
    readonly curves: Pick<Curves, 't' | 'values'> & { readonly tier: string }
  },
): NewChart | undefined {
  const { curves } = of
  const series = of.series.flatMap(({ label, ink }, i): Series[] => {
    const values = curves.values[i] ?? []
    return values.some((v) => v !== null) ? [{ label, ink, area: of.area ?? false, values }] : []
  })
  if (series.length === 0) return undefined
  const { title, unit, place } = of
  return {
    kind: 'chart',
    title,
    unit,
    series,
    place: { kind: place.kind, names: place.names.slice(0, 64).map((n) => n.slice(0, NAME_MOST)) },
    t: curves.t,
    limit: of.limit ?? null,
    marks: marksIn(reader, span, place.names),
    of: provenanceOf(standpoint, span, curves.tier),
  }
}

/** Chart of one measure of the whole source. */
export function clusterChart(
  standpoint: Standpoint,
  reader: HistoryReader,
  span: RangeMs,
  measure: TargetMeasure | 'bytes',
  limit?: Limit,
): NewChart | undefined {
  const measures: readonly ClusterMeasure[] = measure === 'bytes' ? ['readBps', 'writeBps'] : [measure]
  const lines = measures.map((m) => reader.line(m, span, POINTS))
  const [first] = lines
  if (!first) return undefined
  const labels = measure === 'bytes' ? ['read', 'write'] : ['all targets']
  return chartOf(standpoint, reader, span, {
    ...LABELS[measure],
    limit,
    place: { kind: 'cluster', names: [standpoint.source.cluster] },
    series: labels.map((w, i) => ({ label: named('text', w), ink: i + 1 })),
    curves: { t: first.t, values: lines.map((l) => gappy(l.values)), tier: first.tier },
  })
}

/** Chart of one measure of some targets, and in gray the mean of all others. */
export function targetsChart(
  standpoint: Standpoint,
  reader: HistoryReader,
  span: RangeMs,
  measure: TargetMeasure,
  targets: readonly { readonly key: number; readonly target: string }[],
  limit?: Limit,
): NewChart | undefined {
  const shown = targets.slice(0, NAMED)
  const column = TARGET_COLUMNS.indexOf(measure)
  const keys = new Set(shown.map((t) => t.key))
  const otherCount = reader.allTargets().length - keys.size
  const rest = otherCount > 0 && shown.length > 1 ? [meanExcept(keys, column)] : []
  const curves = curvesOf(reader, 'targets', span, [...shown.map((t) => columnOf(t.key, column)), ...rest])
  return chartOf(standpoint, reader, span, {
    ...LABELS[measure],
    limit,
    curves,
    place: { kind: 'target', names: shown.map((t) => t.target) },
    series: [
      ...shown.map((t, i) => ({ label: named('target', t.target), ink: i + 1 })),
      ...rest.map(() => ({ label: named('text', `mean of ${otherCount} others`), ink: 0 })),
    ],
  })
}

/** Chart of the RPCs queued on a server: each of its targets has the total. */
export function serverQueueChart(
  standpoint: Standpoint,
  reader: HistoryReader,
  span: RangeMs,
  host: string,
  limit?: Limit,
): NewChart | undefined {
  const target = reader.allTargets().find((t) => t.node === host)
  if (!target) return undefined
  const curves = curvesOf(reader, 'targets', span, [columnOf(target.key, TARGET_COLUMNS.indexOf('queued'))])
  return chartOf(standpoint, reader, span, {
    ...LABELS.queued,
    limit,
    curves,
    place: { kind: 'host', names: [host] },
    series: [{ label: named('host', host), ink: 1 }],
  })
}

/** Chart of the RPC/s of the jobs that sent most. */
export function topJobsChart(
  ...of: [standpoint: Standpoint, reader: HistoryReader, span: RangeMs, limit?: Limit]
): NewChart | undefined {
  return ended(topJobsInSteps(...of))
}

/** Same in steps. */
export function* topJobsInSteps(
  standpoint: Standpoint,
  reader: HistoryReader,
  span: RangeMs,
  limit?: Limit,
): Steps<NewChart | undefined> {
  const { t, series } = yield* reader.topInSteps(span, 'job', NAMED, POINTS)
  const colors = standpoint.jobColors.colors(series.map((s) => s.name))
  return chartOf(standpoint, reader, span, {
    title: 'RPCs of the largest jobs',
    unit: 'RPC/s',
    limit,
    place: { kind: 'job', names: series.map((s) => s.name) },
    series: series.map((s, i) => ({ label: named('job', s.name), ink: colors[i] ?? 0 })),
    curves: {
      t,
      values: series.map((s) => gappy(s.values)),
      tier: reader.tierFor(span.fromMs, span.toMs, POINTS),
    },
  })
}

/** Chart of one job. */
export function jobChart(
  standpoint: Standpoint,
  reader: HistoryReader,
  span: RangeMs,
  measure: JobMeasure,
  jobId: string,
  limit?: Limit,
): NewChart | undefined {
  const key = reader.jobByName(jobId)?.key
  if (key === undefined) return undefined
  const columns = measure === 'bytes' ? (['readBps', 'writeBps'] as const) : (['rpcs'] as const)
  const curves = curvesOf(
    reader,
    'jobs',
    span,
    columns.map((c) => columnOf(key, JOB_COLUMNS.indexOf(c))),
  )
  const [color = 0] = standpoint.jobColors.colors([jobId])
  return chartOf(standpoint, reader, span, {
    ...LABELS[measure],
    limit,
    curves,
    place: { kind: 'job', names: [jobId] },
    series:
      measure === 'bytes'
        ? ['read', 'write'].map((w, i) => ({ label: named('text', w), ink: i + 1 }))
        : [{ label: named('job', jobId), ink: color }],
  })
}

/**
 * Chart of the requests that waited for a lock; only a lock manager that traces every step has them, and only in
 * memory.
 */
export function locksChart(
  standpoint: Standpoint,
  reader: HistoryReader,
  span: RangeMs,
  limit?: Limit,
): NewChart | undefined {
  const locks = standpoint.monitor?.locks
  if (!locks || !standpoint.monitor) return undefined
  const end = Math.min(span.toMs, standpoint.newestMs)
  const { totals } = standpoint.monitor.recent.raw
  const { t, waiting } = locks.series.window(totals.sampleAt(end), end - span.fromMs, POINTS)
  return chartOf(standpoint, reader, span, {
    title: 'Requests waiting for a lock',
    unit: 'requests',
    limit,
    place: { kind: 'cluster', names: [standpoint.source.cluster] },
    series: [{ label: named('text', 'waiting'), ink: 1 }],
    curves: { t, values: [gappy(waiting)], tier: 'memory' },
  })
}

/**
 * Chart of columns of a plane's table, all in one unit: each column of the first series, or one column of several series.
 *
 * @param isSeries  selects among the series with a row of their own.
 */
export function planeChart(
  standpoint: Standpoint,
  reader: HistoryReader,
  span: RangeMs,
  of: {
    readonly table: PlaneTableId
    readonly columns: readonly string[]
    readonly isSeries: (series: PlaneSeries) => boolean
    readonly place: ChartCell['place']
  },
): NewChart | undefined {
  const table = planeTable(of.table)
  const columns = of.columns.flatMap((name) => table.columns.find((c) => c.name === name) ?? [])
  const isByJob = columns.length === 1
  const found = reader.allPlaneSeries(of.table).filter((s) => !s.isOthers && of.isSeries(s))
  const lines = found.slice(0, isByJob ? NAMED : 1).flatMap(({ key, jobId }) =>
    columns.map((c) => ({
      label: isByJob ? named('job', jobId) : named('text', c.title.toLowerCase()),
      ...reader.planeLine(of.table, c.name, span, POINTS, key),
    })),
  )
  const [first] = lines
  if (!first) return undefined
  const titles = columns.map((c) => c.title.toLowerCase()).join(', ')
  return chartOf(standpoint, reader, span, {
    title: `${table.title}: ${titles}`,
    unit: columns[0]?.unit ?? '',
    place: of.place,
    series: lines.map(({ label }, i) => ({ label, ink: i + 1 })),
    curves: { t: first.t, values: lines.map((l) => gappy(l.values)), tier: first.tier },
  })
}
