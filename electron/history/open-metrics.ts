/**
 * Latest values as OpenMetrics 1.0 text, for the Prometheus or VictoriaMetrics of a site. Rates are gauges, as they are measured;
 * gaps and values older than a minute are not exported.
 */
import { PLANE_TABLES, type PlaneColumn, type PlaneTable, type PlaneTableId } from '#core/series/plane-tables.ts'
import type { Eviction } from './evictions.ts'
import { CLUSTER_COLUMNS, JOB_COLUMNS, TARGET_COLUMNS, type Block, type HistoryReader } from './reader.ts'
import type { StoreUsage } from './store.ts'

/** Age from which a sample is not current any more. */
const STALE_MS = 60_000
const LABEL_MAX = 256

export interface MetricsOptions {
  /** Unix ms on the source's clock. */
  readonly nowMs: number
  /** Number of jobs that are exported, those with the highest RPC/s; all of them would be unbounded series. */
  readonly jobs: number
  readonly store?: { readonly usage: StoreUsage; readonly evictions: readonly Eviction[] } | undefined
}

interface Family {
  readonly name: string
  readonly unit: string
  readonly help: string
}

const PER_S = 'per_second'
type Of<C extends string> = Readonly<Record<C, Family | undefined>>
const family = (name: string, unit: string, help: string): Family => ({ name, unit, help })

export const CLUSTER_METRICS: Of<(typeof CLUSTER_COLUMNS)[number]> = {
  rpcs: family('sluice_cluster_rpcs_per_second', PER_S, 'Data RPCs served by all targets'),
  readBps: family('sluice_cluster_read_bytes_per_second', PER_S, 'Bytes read from all targets'),
  writeBps: family('sluice_cluster_write_bytes_per_second', PER_S, 'Bytes written to all targets'),
  serviceMs: family('sluice_cluster_service_seconds', 'seconds', 'Mean service time of a data RPC'),
  queued: family('sluice_cluster_queued_rpcs', 'rpcs', 'RPCs waiting in the policies of all servers'),
  rules: family('sluice_cluster_rules', '', 'Token bucket rules on all servers'),
  onLoan: family('sluice_cluster_loaned_tokens', 'tokens', 'Tokens lent'),
  mdops: family('sluice_cluster_metadata_rpcs_per_second', PER_S, 'Metadata RPCs served'),
}

export const TARGET_METRICS: Of<(typeof TARGET_COLUMNS)[number]> = {
  rpcs: family('sluice_target_rpcs_per_second', PER_S, 'Data RPCs served by a target'),
  serviceMs: family('sluice_target_service_seconds', 'seconds', 'Mean service time of a data RPC'),
  queued: family('sluice_target_queued_rpcs', 'rpcs', 'RPCs waiting on the server of a target'),
}

export const JOB_METRICS: Of<(typeof JOB_COLUMNS)[number]> = {
  rpcs: family('sluice_job_rpcs_per_second', PER_S, 'Data RPCs of a job'),
  readBps: family('sluice_job_read_bytes_per_second', PER_S, 'Bytes that a job reads'),
  writeBps: family('sluice_job_write_bytes_per_second', PER_S, 'Bytes that a job writes'),
  throttled: family(
    'sluice_job_limited_ratio',
    'ratio',
    'Share of its servers on which a job runs at its rule’s limit',
  ),
  record: family('sluice_job_record_tokens', 'tokens', 'Tokens lent (positive) or borrowed by a job'),
  mdops: family('sluice_job_metadata_rpcs_per_second', PER_S, 'Metadata RPCs of a job'),
  recordRest: undefined,
}

/** Units of columns of the planes: that of a metric, the end of its name, and the factor to it. */
interface MetricUnit {
  /** End of the column's name that the metric's unit replaces. */
  readonly of: RegExp
  readonly unit: string
  readonly scale: number
}
const UNITS: Readonly<Record<string, MetricUnit>> = {
  '/s': { of: /_per_s$/, unit: PER_S, scale: 1 },
  'op/s': { of: /_per_s$/, unit: PER_S, scale: 1 },
  // Prometheus has no milliseconds.
  ms: { of: /_ms$/, unit: 'seconds', scale: 1 / 1000 },
  's/s': { of: /_s_per_s$/, unit: 'seconds_per_second', scale: 1 },
  tokens: { of: /$/, unit: 'tokens', scale: 1 },
  '': { of: /$/, unit: '', scale: 1 },
}
const RATIO: MetricUnit = { of: /_share$/, unit: 'ratio', scale: 1 }

/** Columns that differ in a number at their end are one metric with a label, for example pool_check_1 to pool_check_10. */
const NUMBERED = /^(.*_check)_(\d+)$/

export interface PlaneMetric extends Family {
  readonly scale: number
  /** Index of its column. */
  readonly column: number
  /** Number of the column, of those that share the metric; undefined for the others. */
  readonly number?: string
}

/** Metric of a column of a plane's table: sluice_, the table in the singular, the column, its unit. */
function planeMetric({ id }: PlaneTable, of: PlaneColumn, column: number): PlaneMetric {
  const [, stem, number] = NUMBERED.exec(of.name) ?? []
  const name = stem ?? of.name
  const known = RATIO.of.test(name) ? RATIO : UNITS[of.unit]
  if (!known) throw new Error(`no metric unit for ${of.unit}`)
  const { unit, scale } = known
  const full = ['sluice', id.replace(/s$/, ''), name.replace(known.of, ''), unit]
    .filter((part) => part !== '')
    .join('_')
  const about =
    stem === undefined ? of.about : 'lowest pool at the checks of each part of a period, by the number of the part'
  const help = `${about.charAt(0).toUpperCase()}${about.slice(1)}`
  return { name: full, unit, help, scale, column, ...(number === undefined ? {} : { number }) }
}

/** Metrics of a plane's table, in the order of its columns. */
export const planeMetrics = (table: PlaneTable): readonly PlaneMetric[] =>
  table.columns.map((column, i) => planeMetric(table, column, i))

type Labels = readonly (readonly [string, string])[]

/** Escapes a label value: names are untrusted text. */
export const labelValue = (text: string): string =>
  text
    .slice(0, LABEL_MAX)
    .toWellFormed()
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replace(/[\0-\x1f\x7f]/g, '?')

const labelled = (labels: Labels): string =>
  labels.length === 0 ? '' : `{${labels.map(([k, v]) => `${k}="${labelValue(v)}"`).join(',')}}`

const head = ({ name, unit, help }: Family, type: string): string[] => [
  `# TYPE ${name} ${type}`,
  ...(unit === '' ? [] : [`# UNIT ${name} ${unit}`]),
  `# HELP ${name} ${help}.`,
]

interface Series {
  readonly labels: Labels
  /** Values by column. */
  readonly values: readonly number[]
}

function gauges<C extends string>(columns: readonly C[], of: Of<C>, series: readonly Series[], atMs: number): string[] {
  const time = (atMs / 1000).toFixed(3)
  return columns.flatMap((c, i) => {
    const f = of[c]
    if (!f) return []
    const scale = f.unit === 'seconds' ? 1 / 1000 : 1
    const known = series.filter((s) => Number.isFinite(s.values[i]))
    if (known.length === 0) return []
    const number = (v: number): string => String(Number((v * scale).toPrecision(7)))
    return [
      ...head(f, 'gauge'),
      ...known.map((s) => `${f.name}${labelled(s.labels)} ${number(s.values[i] ?? NaN)} ${time}`),
    ]
  })
}

const valuesAt = (b: Block, i: number): number[] => b.columns.map((c) => c[i] ?? NaN)

interface PlaneSample {
  readonly labels: Labels
  readonly index: number
}

/** Rows of a plane's newest period; a table has a bounded number of them. */
function planeLines(reader: HistoryReader, table: PlaneTable & { readonly id: PlaneTableId }, nowMs: number): string[] {
  const block = reader.planeAt(table.id, nowMs, STALE_MS)
  if (!block) return []
  const time = (block.atMs / 1000).toFixed(3)
  const samples = new Map<string, PlaneSample>()
  for (const [index, key] of block.keys.entries()) {
    const series = reader.planeSeries(key)
    if (!series) continue
    const labels: [string, string][] = [
      ['cluster', reader.cluster],
      ['name', series.name],
    ]
    if (table.placeIs !== '') labels.push(['place', series.place])
    if (table.hasJob) labels.push(['job', series.jobId])
    // Names that differ only in what a label leaves out would be one series twice, which a scraper refuses.
    const text = labelled(labels)
    if (!samples.has(text)) samples.set(text, { labels, index })
  }
  const families = new Map<string, { readonly family: Family; readonly lines: string[] }>()
  for (const metric of planeMetrics(table)) {
    const of = families.get(metric.name) ?? { family: metric, lines: [] }
    families.set(metric.name, of)
    for (const { labels, index } of samples.values()) {
      const value = block.columns[metric.column]?.[index]
      if (value === undefined || !Number.isFinite(value)) continue
      const all: Labels = metric.number === undefined ? labels : [...labels, ['check', metric.number]]
      of.lines.push(`${metric.name}${labelled(all)} ${Number((value * metric.scale).toPrecision(7))} ${time}`)
    }
  }
  return [...families.values()].flatMap(({ family: f, lines }) =>
    lines.length === 0 ? [] : [...head(f, 'gauge'), ...lines],
  )
}

function jobSeries(reader: HistoryReader, block: Block, cluster: string, limit: number): Series[] {
  const rpcs = block.columns[0] as Float32Array
  const order = Array.from(block.keys, (_, i) => i).filter((i) => Number.isFinite(rpcs[i]))
  order.sort((a, b) => (rpcs[b] as number) - (rpcs[a] as number))
  return order.slice(0, limit).flatMap((i) => {
    const job = reader.job(block.keys[i] as number)
    if (!job) return []
    const labels = [
      ['cluster', cluster],
      ['job', job.jobId],
      ['user', job.user],
      ['account', job.account],
    ] as const
    return [{ labels, values: valuesAt(block, i) }]
  })
}

function storeLines({ usage, evictions }: NonNullable<MetricsOptions['store']>): string[] {
  const bytes = family('sluice_history_size_bytes', 'bytes', 'Size of the history')
  const quota = family('sluice_history_quota_bytes', 'bytes', 'Quota of the history')
  const out = [...head(bytes, 'gauge'), `${bytes.name} ${usage.bytes}`, ...head(quota, 'gauge')]
  out.push(`${quota.name} ${usage.quotaBytes}`)
  const gone = new Map<string, number>()
  for (const { tier, reason, samples } of evictions) {
    const labels = labelled([
      ['tier', tier],
      ['reason', reason],
    ])
    gone.set(labels, (gone.get(labels) ?? 0) + samples)
  }
  if (gone.size > 0)
    out.push(...head(family('sluice_history_evicted_samples', 'samples', 'Samples deleted'), 'counter'))
  for (const [labels, n] of gone) out.push(`sluice_history_evicted_samples_total${labels} ${n}`)
  return out
}

/** Formats the metrics; without samples of the last minute those of the cluster are omitted. */
export function openMetrics(reader: HistoryReader, { nowMs, jobs: limit, store }: MetricsOptions): string {
  const { cluster } = reader
  const out: string[] = []
  const atMs = reader.extentOf('1s')?.toMs
  if (atMs !== undefined && Math.abs(nowMs - atMs) <= STALE_MS) {
    const sums = reader.clusterBetween('1s', atMs, atMs)
    const whole = [{ labels: [['cluster', cluster]] as const, values: sums.columns.map((c) => c[0] ?? NaN) }]
    out.push(...gauges(CLUSTER_COLUMNS, CLUSTER_METRICS, whole, atMs))
    const targets = reader.targets('1s', atMs)
    const ofTargets = Array.from(targets?.keys ?? [], (key, i) => {
      const t = reader.target(key)
      const labels = [
        ['cluster', cluster],
        ['target', t?.target ?? ''],
        ['node', t?.node ?? ''],
      ] as const
      return { labels, values: targets ? valuesAt(targets, i) : [] }
    })
    out.push(...gauges(TARGET_COLUMNS, TARGET_METRICS, ofTargets, atMs))
    const jobs = reader.jobs('1s', atMs)
    if (jobs) out.push(...gauges(JOB_COLUMNS, JOB_METRICS, jobSeries(reader, jobs, cluster, limit), atMs))
  }
  for (const table of PLANE_TABLES) out.push(...planeLines(reader, table, nowMs))
  if (store) out.push(...storeLines(store))
  return `${out.join('\n')}${out.length > 0 ? '\n' : ''}# EOF\n`
}

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
