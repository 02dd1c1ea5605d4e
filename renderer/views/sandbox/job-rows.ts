/** Rows of the jobs of a result: medians of one measure under every variant, and the differences from the baseline. */
import type { Band, RunResult } from '#core/api/sandbox.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatPercent, formatSigned, NOTHING, rateUnit } from '../../format/units.ts'

export type JobMeasure = 'wait' | 'throughput' | 'tokens'
/** Sort key: `given` is the order of the host; else the job's name or the median of a variant. */
export interface JobSort {
  readonly by: 'given' | 'job' | number
  readonly descending: boolean
}
export interface JobCell {
  readonly text: string
  /** Difference from the baseline; empty for the baseline itself. */
  readonly delta: string
  /** Effect of the difference on the job. */
  readonly way: 'better' | 'worse' | ''
  readonly title: string
}
export interface JobRow {
  /** Index in the result; -1 for the row of the other jobs. */
  readonly at: number
  readonly id: string
  readonly name: string
  readonly role: 'hog' | 'victim' | ''
  readonly colour: number
  readonly medians: readonly number[]
  readonly cells: readonly JobCell[]
}
export interface JobUnit {
  readonly key: 'waitP95Ms' | 'bps' | 'rpcs' | 'record'
  readonly unit: string
  readonly divisor: number
  readonly decimals: number
}

/** Unit of a measure; throughput is in bytes, or in RPCs if no data moves. */
export function unitOf(result: RunResult, measure: JobMeasure): JobUnit {
  const most = (key: JobUnit['key']): number =>
    result.variants.reduce((top, v) => v.jobs[key].reduce((t, b) => Math.max(t, Math.abs(b?.median ?? 0)), top), 0)
  if (measure === 'tokens') return { key: 'record', unit: 'tokens', divisor: 1, decimals: 0 }
  if (measure === 'wait') return { key: 'waitP95Ms', unit: 'ms', divisor: 1, decimals: most('waitP95Ms') < 10 ? 2 : 0 }
  if (most('bps') <= 0) return { key: 'rpcs', unit: 'RPC/s', divisor: 1, decimals: most('rpcs') < 100 ? 1 : 0 }
  return { key: 'bps', ...rateUnit(), decimals: most('bps') < rateUnit(true).divisor ? 1 : 0 }
}

const NONE: JobCell = { text: NOTHING, delta: '', way: '', title: 'not measured' }
function cellOf(band: Band, median: number, base: number | null, unit: JobUnit, measure: JobMeasure): JobCell {
  if (!Number.isFinite(median)) return NONE
  const text = (v: number): string =>
    measure === 'tokens' ? formatSigned(v / unit.divisor, unit.decimals) : formatNumber(v / unit.divisor, unit.decimals)
  const title =
    band === null ? '' : `5\u201395\u202F% of the seeds: ${text(band.low)} to ${text(band.high)} ${unit.unit}`
  if (base === null || !Number.isFinite(base)) return { text: text(median), delta: '', way: '', title }
  const shown = text(median)
  if (measure === 'tokens' || base === 0 || shown === text(base)) return { text: shown, delta: '', way: '', title }
  const share = (median - base) / Math.abs(base)
  const percent = formatPercent(share)
  const delta = share > 0 ? `+${percent}` : percent
  if (!/[1-9]/.test(percent)) return { text: shown, delta: '', way: '', title }
  const isBetter = measure === 'wait' ? share < 0 : share > 0
  return { text: shown, delta, way: isBetter ? 'better' : 'worse', title }
}

export function jobRows(result: RunResult, measure: JobMeasure): JobRow[] {
  const unit = unitOf(result, measure)
  return result.jobs.jobId.map((id, at) => {
    const bands = result.variants.map((v) => v.jobs[unit.key][at] ?? null)
    const medians = bands.map((b) => b?.median ?? NaN)
    const base = medians[0] ?? NaN
    return {
      at,
      id,
      medians,
      name: plainText(id),
      role: result.jobs.role[at] ?? '',
      colour: result.jobs.colour[at] ?? 0,
      cells: bands.map((b, i) => cellOf(b, medians[i] ?? NaN, i === 0 ? null : base, unit, measure)),
    }
  })
}

const byRole = { hog: 0, victim: 1, '': 2 } as const
export function sortedRows(rows: readonly JobRow[], { by, descending }: JobSort): JobRow[] {
  const sign = descending ? -1 : 1
  if (by === 'given') return [...rows].sort((a, b) => byRole[a.role] - byRole[b.role] || a.at - b.at)
  if (by === 'job') return [...rows].sort((a, b) => sign * (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
  // Rows that were not measured are last in both directions.
  return [...rows].sort((a, b) => {
    const x = a.medians[by] ?? NaN
    const y = b.medians[by] ?? NaN
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a.at - b.at
    return sign * (x - y) || a.at - b.at
  })
}

function middle(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b)
  const half = sorted.length >> 1
  if (sorted.length === 0) return NaN
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

/** Aggregates jobs into one row: the median of waits, the sum of rates and tokens. */
export function otherJobsRow(result: RunResult, rows: readonly JobRow[], measure: JobMeasure): JobRow {
  const unit = unitOf(result, measure)
  const fold = (values: readonly number[]): number =>
    measure === 'wait' ? middle(values) : values.reduce((sum, v) => sum + (Number.isFinite(v) ? v : 0), 0)
  const medians = result.variants.map((_, i) => fold(rows.map((row) => row.medians[i] ?? NaN)))
  const title = measure === 'wait' ? `median over ${rows.length} jobs` : `sum over ${rows.length} jobs`
  return {
    at: -1,
    id: '',
    role: '',
    colour: 0,
    medians,
    name: `${formatNumber(rows.length)} other ${rows.length === 1 ? 'job' : 'jobs'}`,
    cells: medians.map((m, i) => ({ ...cellOf(null, m, i === 0 ? null : (medians[0] ?? NaN), unit, measure), title })),
  }
}

/** Number of rows that a summary names. */
const NAMED = 6
/** Indices of the rows that a summary names: jobs with a role, jobs with their own band in the charts, then the first ones. */
export function namedRows(rows: readonly JobRow[], charted: ReadonlySet<string>): ReadonlySet<number> {
  const first = rows.filter((row) => row.role !== '' || charted.has(row.id))
  const more = rows.filter((row) => !first.includes(row)).slice(0, Math.max(0, NAMED - first.length))
  return new Set([...first, ...more].map(({ at }) => at))
}
