/**
 * Digest of a run among hundreds of others: its metrics, one row of numbers per job, and the series of the few jobs in
 * a chart. A whole report holds two series per job, too much for 1,200 runs of 2,000 jobs.
 */
import { byCodeUnit } from '../base/order.ts'
import type { JobReport, PlaneFigure, RunReport } from './run-report.ts'

/** Jobs in a table; the rest is summed. */
export const TABLE_JOBS = 2000
/** Jobs in a chart; the rest is `other`. */
export const CHART_JOBS = 7
/** Points of a chart: `POINTS_MAX` of the contract. */
export const CHART_POINTS = 240
/** Maximum remarks of a run. */
const REMARKS = 20

/** Jobs with rows and jobs with series: the same in every run of a comparison. */
export interface DigestPlan {
  readonly table: readonly string[]
  readonly chart: readonly string[]
}

/** Columns of a job's row. */
export const COLUMNS = [
  'wantedRpcs',
  'servedRpcs',
  'servedBytes',
  'fairRpcs',
  'waitP50Ms',
  'waitP95Ms',
  'waitP99Ms',
  'starvedS',
  'record',
] as const
export type Column = (typeof COLUMNS)[number]
/** shape [jobs of the plan's table]; NaN if not measured. */
export type JobColumns = Readonly<Record<Column, Float64Array>>

/** Metrics of a whole run. */
export const FIGURES = ['throughputBps', 'throughputRpcs', 'jain', 'starvedS', 'sloMisses', 'utilisation'] as const
export type Figure = (typeof FIGURES)[number]

export interface RunDigest {
  readonly variant: number
  readonly seed: number
  readonly seconds: number
  readonly thinning: number
  readonly events: number
  readonly figures: Readonly<Record<Figure, number>>
  readonly jobs: JobColumns
  /** Jobs outside the table, summed. */
  readonly rest: { readonly jobs: number; readonly servedRpcs: number; readonly servedBytes: number }
  readonly chart: {
    readonly binS: number
    /** Bytes served in each bin, in the order of the plan's chart; the last is everything else. */
    readonly bytes: readonly Float64Array[]
  }
  readonly planes: readonly PlaneFigure[]
  readonly remarks: readonly string[]
}

/** Largest first; ties by id, so that the choice is the same on every machine. */
const largest = (jobs: readonly JobReport[], by: (j: JobReport) => number, most: number): string[] =>
  jobs
    .toSorted((a, b) => by(b) - by(a) || byCodeUnit(a.jobId, b.jobId))
    .slice(0, most)
    .map((j) => j.jobId)

/**
 * Creates the plan of a comparison from one run of its baseline: charts of the jobs that moved most bytes, rows of
 * those that wanted most RPCs.
 */
export const planOf = (baseline: RunReport): DigestPlan => ({
  table: largest(baseline.jobs, (j) => j.wantedRpcs, TABLE_JOBS),
  chart: largest(baseline.jobs, (j) => j.servedBytes, CHART_JOBS),
})

/** Adds the bytes of a series, `each` bins together. */
function addBins(into: Float64Array, bytes: ArrayLike<number>, each: number): void {
  for (let i = 0; i < bytes.length; i++) {
    const at = Math.floor(i / each)
    into[at] = (into[at] as number) + (bytes[i] as number)
  }
}

function chartOf(report: RunReport, { chart }: DigestPlan): RunDigest['chart'] {
  const bins = report.jobs.reduce((n, j) => Math.max(n, j.bytes.length), 0)
  const each = Math.max(1, Math.ceil(bins / CHART_POINTS))
  const points = Math.ceil(bins / each)
  const bytes = Array.from({ length: chart.length + 1 }, () => new Float64Array(points))
  const row = new Map(chart.map((jobId, i) => [jobId, i]))
  for (const job of report.jobs) addBins(bytes[row.get(job.jobId) ?? chart.length] as Float64Array, job.bytes, each)
  return { binS: report.binS * each, bytes }
}

/** Creates the digest of a run under a plan. */
export function digestOf(report: RunReport, plan: DigestPlan): RunDigest {
  const { variant, seed, seconds, thinning, events, planes } = report
  const row = new Map(plan.table.map((jobId, i) => [jobId, i]))
  const column = (): Float64Array => new Float64Array(plan.table.length).fill(NaN)
  const jobs = Object.fromEntries(COLUMNS.map((name) => [name, column()])) as Record<Column, Float64Array>
  const rest = { jobs: 0, servedRpcs: 0, servedBytes: 0 }
  for (const job of report.jobs) {
    const at = row.get(job.jobId)
    if (at !== undefined) for (const name of COLUMNS) jobs[name][at] = job[name]
    else {
      rest.jobs++
      rest.servedRpcs += job.servedRpcs
      rest.servedBytes += job.servedBytes
    }
  }
  return {
    variant,
    seed,
    seconds,
    thinning,
    events,
    jobs,
    rest,
    planes,
    figures: Object.fromEntries(FIGURES.map((name) => [name, report[name]])) as Record<Figure, number>,
    chart: chartOf(report, plan),
    remarks: report.remarks.slice(0, REMARKS),
  }
}

/** Buffers of a digest that can be transferred to another thread instead of copied. */
export const buffersOf = ({ jobs, chart }: RunDigest): ArrayBuffer[] =>
  [...COLUMNS.map((name) => jobs[name]), ...chart.bytes].map((a) => a.buffer as ArrayBuffer)
