/** Standard charts of every bundle besides those of its notebook: activity of the whole source over the time range. */
import { valuesOf } from './column.ts'
import type { PageFacts } from './page-facts.ts'
import type { Column, ReplayData } from './replay-data.ts'
import type { ChartCell } from './notebook.ts'

/** Number of jobs shown individually in bytes by job; the rest is aggregated. */
const JOBS = 7

type Series = ChartCell['series'][number]

/** Sum of two columns; a gap in either is a gap. */
export function summed(a: Column, b: Column, n: number): (number | null)[] {
  const x = valuesOf(a, n)
  const y = valuesOf(b, n)
  return x.map((v, i) => {
    const w = y[i] ?? null
    return v === null || w === null ? null : v + w
  })
}

const meanOf = (values: readonly (number | null)[]): number => {
  const known = values.filter((v): v is number => v !== null)
  return known.length === 0 ? 0 : known.reduce((a, b) => a + b, 0) / known.length
}

/** Bytes/s of the jobs with the most bytes, and of all other jobs; largest first. */
export function bytesByJob(data: ReplayData): Series[] {
  const n = data.t.length
  const all = data.jobs.map((job) => ({ job, values: summed(job.readBps, job.writeBps, n) }))
  const order = all.toSorted((a, b) => meanOf(b.values) - meanOf(a.values) || (a.job.name < b.job.name ? -1 : 1))
  const shown = order.slice(0, JOBS).filter(({ values }) => meanOf(values) > 0)
  const rest = summed(data.other.readBps, data.other.writeBps, n)
  for (const { values } of order.slice(shown.length))
    values.forEach((v, i) => (rest[i] = v === null ? (rest[i] ?? null) : (rest[i] ?? 0) + v))
  const series = shown.map(({ job, values }): Series => ({
    label: { kind: 'job', text: job.name.slice(0, 512) },
    ink: job.ink,
    area: true,
    values,
  }))
  const isAny = data.other.jobs > 0 || order.length > shown.length
  return isAny ? [...series, { label: { kind: 'text', text: 'other' }, ink: 0, area: true, values: rest }] : series
}

/** Means of every `each` consecutive values; gaps are ignored unless all of them are gaps. */
function thinned(values: readonly (number | null)[], each: number): (number | null)[] {
  return Array.from({ length: Math.ceil(values.length / each) }, (_, k) => {
    const known = values.slice(k * each, (k + 1) * each).filter((v): v is number => v !== null)
    return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length
  })
}

/**
 * @param most  maximum number of points of a chart; means if there are more.
 * @returns     total RPC/s, bytes by job, service time, queued RPCs; those of locks, metadata and tokens.
 */
export function standardCharts(data: ReplayData, facts: PageFacts, most = Infinity): ChartCell[] {
  const { source } = facts.manifest
  const n = data.t.length
  const each = Math.max(1, Math.ceil(n / most))
  const of: ChartCell['of'] = {
    kind: source.kind,
    cluster: source.cluster,
    fromMs: data.fromMs,
    toMs: data.toMs,
    tier: data.tier,
    frozenMs: 0,
  }
  const chart = (id: string, title: string, unit: string, series: Series[]): ChartCell => ({
    id,
    atMs: data.toMs,
    kind: 'chart',
    title,
    unit,
    of,
    t: data.t.filter((_, i) => i % each === 0),
    series: each === 1 ? series : series.map((s) => ({ ...s, values: thinned(s.values, each) })),
    place: { kind: 'cluster', names: [] },
    limit: null,
    marks: [],
  })
  const one = (label: string, column: Column, color: number): Series[] => [
    { label: { kind: 'text', text: label }, ink: color, area: true, values: valuesOf(column, n) },
  ]
  return [
    chart('rpcs', 'Total RPCs', 'RPC/s', one('all jobs', data.cluster.rpcs, 1)),
    chart('bytes', 'Bytes by job', 'B/s, read and write', bytesByJob(data)),
    chart('wait', 'Service time', 'ms, mean over all RPCs', one('service time', data.cluster.serviceMs, 2)),
    chart('queued', 'Queued RPCs', 'RPCs', one('queued', data.cluster.queued, 4)),
    ...data.planeCharts.map(({ title, unit, isStacked, lines }, i) =>
      chart(
        `plane${i + 1}`,
        title,
        unit,
        lines.map(({ name, ink, values }) => ({
          label: { kind: 'text', text: name.slice(0, 512) },
          ink,
          area: isStacked,
          values: valuesOf(values, n),
        })),
      ),
    ),
  ]
}
