/** Result of a comparison as plain data: content of the contract's `runResult`. */
import type { Band } from './band.ts'
import type { ObjectiveKey, ObjectiveUnit, Plane } from '../controllers/objectives.ts'

export const METRIC_NAMES = [
  'throughputBps',
  'throughputRpcs',
  'jain',
  'victimP95Ms',
  'victimP99Ms',
  'starvedS',
  'sloMisses',
  'utilisation',
] as const
export type MetricName = (typeof METRIC_NAMES)[number]

export interface ChartSeries {
  /** Empty for all other jobs. */
  jobId: string
  colour: number
  /** Bytes/s. */
  values: number[]
}

/** Objective of a plane under one variant, with its description from the registry. */
export interface PlaneResult {
  key: ObjectiveKey
  plane: Plane
  what: string
  unit: ObjectiveUnit
  /** Direction of a gain; null: not judged. */
  better: 'higher' | 'lower' | null
  value: Band | null
}

export interface VariantFigures {
  name: string
  detail: string
  metrics: Record<MetricName, Band | null>
  chart: { t: number[]; series: ChartSeries[]; onS: number | null }
  jobs: Record<'waitP95Ms' | 'waitP99Ms' | 'rpcs' | 'bps' | 'record' | 'starvedS', (Band | null)[]>
  planes: PlaneResult[]
  remarks: string[]
}

export interface JobTable {
  jobId: string[]
  user: string[]
  nodes: number[]
  colour: number[]
  role: ('hog' | 'victim' | '')[]
}

export interface Verdict {
  best: number | null
  parts: { text: string; strong: boolean }[]
  detail: string
}

export interface Comparison {
  readonly jobs: JobTable
  readonly variants: VariantFigures[]
  readonly verdict: Verdict
  /** Number of jobs outside the table, and the RPC/s and bytes/s served to them together in the baseline, medians. */
  readonly rest: { readonly jobs: number; readonly rpcs: number; readonly bps: number }
}

/** Metrics of one variant by seed, in the order of the seeds: input of the verdict. */
export interface SeedFigures {
  readonly seeds: readonly number[]
  /** shape [seeds]; NaN if not measured. */
  readonly metrics: Readonly<Record<MetricName, Float64Array>>
  /** Rate of the hog, 1/s; bytes if the scenario moves any, else RPCs. */
  readonly hogRate: Float64Array
  /** Rate of the victim, in the same unit. */
  readonly victimRate: Float64Array
  /** Objectives of the planes that the variant has, in the order of the registry; shape [seeds] each. */
  readonly planes: ReadonlyMap<ObjectiveKey, Float64Array>
}
