/** Digests of runs by their values, for tests of their aggregation. */
import {
  COLUMNS,
  FIGURES,
  type Column,
  type DigestPlan,
  type Figure,
  type RunDigest,
} from '#core/sandbox/run-digest.ts'
import type { Variant } from '#core/sandbox/variant.ts'

export const BASE: Variant = {
  name: 'Baseline',
  controller: 'none',
  maxRate: null,
  periodMs: null,
  adaptbf: {},
  rules: [],
  metadata: null,
  metadataLimits: [],
  haechi: 'scenario',
  tokens: {},
  locks: null,
  lockOptions: {},
  onS: 0,
}

type Cells = Partial<Record<Column, number>>

/** A run with these cells; omitted ones were not measured. */
export function digest(
  plan: DigestPlan,
  of: {
    readonly variant: number
    readonly seed: number
    readonly figures?: Partial<Record<Figure, number>>
    readonly jobs?: readonly Cells[]
    readonly bytes?: readonly number[]
  },
): RunDigest {
  return {
    variant: of.variant,
    seed: of.seed,
    seconds: 60,
    thinning: 1,
    events: 1000,
    figures: Object.fromEntries(FIGURES.map((f) => [f, of.figures?.[f] ?? NaN])) as Record<Figure, number>,
    jobs: Object.fromEntries(
      COLUMNS.map((c) => [c, Float64Array.from(plan.table, (_, i) => of.jobs?.[i]?.[c] ?? NaN)]),
    ) as Record<Column, Float64Array>,
    rest: { jobs: 0, servedRpcs: 0, servedBytes: 0 },
    chart: { binS: 1, bytes: [...plan.chart, ''].map((_, i) => Float64Array.of(of.bytes?.[i] ?? 0)) },
    planes: [],
    remarks: [],
  }
}
