/**
 * Aggregates the runs of a comparison: medians and bands over the seeds for every metric, the roles, and the verdict.
 */
import { OBJECTIVE_KEYS, OBJECTIVES, type ObjectiveKey } from '../controllers/objectives.ts'
import { byCodeUnit } from '../base/order.ts'
import type { Scenario } from '../emulator/scenario.ts'
import { isData } from '../emulator/operations.ts'
import { fixedJobColors, type JobColors } from '../series/job-colors.ts'
import { bandOf, medianOf, type Band } from './band.ts'
import type { ChartSeries, Comparison, JobTable, MetricName, SeedFigures, VariantFigures } from './comparison.ts'
import { METRIC_NAMES } from './comparison.ts'
import { rolesOf, type Roles } from './roles.ts'
import type { Column, DigestPlan, RunDigest } from './run-digest.ts'
import { variantSummary } from './variant-summary.ts'
import type { Variant } from './variant.ts'
import { verdictOf } from './verdict.ts'

/** Facts about a scenario's jobs for the result of a comparison. */
interface JobFacts {
  readonly jobId: string
  readonly user: string
  /** Compute nodes: the weight of its share. */
  readonly nodes: number
  /** True if it reads or writes: its bytes are served by OSTs. */
  readonly isData: boolean
}

const jobFacts = (scenario: Pick<Scenario, 'jobs'>): Map<string, JobFacts> =>
  new Map(
    scenario.jobs.map((j) => [
      j.id,
      {
        jobId: j.id,
        user: j.user,
        nodes: Math.max(1, new Set(j.clients).size),
        isData: j.op.some(isData),
      },
    ]),
  )

/** Maximum remarks per variant. */
const REMARKS_SHOWN = 20

export interface AggregateInput {
  readonly scenario: Scenario
  /** The first is the baseline. */
  readonly variants: readonly Variant[]
  readonly plan: DigestPlan
  /** One per variant and seed, in any order. */
  readonly runs: readonly RunDigest[]
  /** Colors of the jobs in other views; without them, those of this comparison alone. */
  readonly jobColors?: JobColors | undefined
}

/** Runs of one variant, by seed. */
type Runs = readonly RunDigest[]

const cells = (runs: Runs, column: Column, row: number): number[] => runs.map((r) => r.jobs[column][row] ?? NaN)

const UNKNOWN: Omit<JobFacts, 'jobId'> = { user: '', nodes: 1, isData: true }

function rolesIn(baseline: Runs, plan: DigestPlan, facts: ReadonlyMap<string, JobFacts>): Roles {
  const median = (column: Column, row: number): number => medianOf(cells(baseline, column, row))
  // A job without any reply has no p95; it has waited for as long as it starved.
  const waited = ({ jobs, thinning }: RunDigest, row: number): number => {
    const p95 = jobs.waitP95Ms[row] ?? NaN
    const starvedS = jobs.starvedS[row] ?? 0
    return Number.isNaN(p95) && starvedS > 0 ? (starvedS / thinning) * 1000 : p95
  }
  return rolesOf(
    plan.table.map((jobId, row) => ({
      ...(facts.get(jobId) ?? UNKNOWN),
      jobId,
      servedRpcs: median('servedRpcs', row),
      fairRpcs: median('fairRpcs', row),
      waitP95Ms: medianOf(baseline.map((r) => waited(r, row))),
    })),
  )
}

/** Rows of the plan's table in display order: jobs with a role, then those that the baseline served most. */
function rowOrder(baseline: Runs, plan: DigestPlan, { hog, victim }: Roles): number[] {
  const keys = plan.table.map((jobId, row) => ({
    jobId,
    row,
    rank: jobId === hog ? 0 : jobId === victim ? 1 : 2,
    bytes: medianOf(cells(baseline, 'servedBytes', row)) || 0,
    rpcs: medianOf(cells(baseline, 'servedRpcs', row)) || 0,
  }))
  keys.sort((a, b) => a.rank - b.rank || b.bytes - a.bytes || b.rpcs - a.rpcs || byCodeUnit(a.jobId, b.jobId))
  return keys.map((k) => k.row)
}

function chartOf(runs: Runs, plan: DigestPlan, jobColors: JobColors): Omit<VariantFigures['chart'], 'onS'> {
  const [first] = runs
  const points = runs.reduce((n, r) => Math.max(n, r.chart.bytes[0]?.length ?? 0), 0)
  const binS = first?.chart.binS ?? 1
  // The last bin may be cut by the end of the run.
  const lengthOf = (i: number): number => Math.min(binS, (first?.seconds ?? 0) - i * binS)
  const at = Array.from({ length: points }, (_, i) => i).filter((i) => lengthOf(i) > 1e-9)
  const series = (jobId: string, k: number): ChartSeries => ({
    jobId,
    colour: jobColors.of(jobId),
    values: at.map((i) => (medianOf(runs.map((r) => r.chart.bytes[k]?.[i] ?? NaN)) || 0) / lengthOf(i)),
  })
  return {
    t: at.map((i) => i * binS + lengthOf(i) / 2),
    series: [...plan.chart.map(series), series('', plan.chart.length)],
  }
}

function seedFigures(runs: Runs, plan: DigestPlan, { hog, victim }: Roles, movesBytes: boolean): SeedFigures {
  const rowOf = (jobId: string | undefined): number => (jobId === undefined ? -1 : plan.table.indexOf(jobId))
  const hogRow = rowOf(hog)
  const victimRow = rowOf(victim)
  const rates = (row: number): Float64Array =>
    Float64Array.from(runs, (r) => (r.jobs[movesBytes ? 'servedBytes' : 'servedRpcs'][row] ?? NaN) / r.seconds)
  const of = (metric: MetricName): Float64Array => {
    if (metric === 'victimP95Ms') return Float64Array.from(cells(runs, 'waitP95Ms', victimRow))
    if (metric === 'victimP99Ms') return Float64Array.from(cells(runs, 'waitP99Ms', victimRow))
    return Float64Array.from(runs, (r) => r.figures[metric])
  }
  return {
    seeds: runs.map((r) => r.seed),
    metrics: Object.fromEntries(METRIC_NAMES.map((m) => [m, of(m)])) as Record<MetricName, Float64Array>,
    hogRate: rates(hogRow),
    victimRate: rates(victimRow),
    planes: planeValues(runs),
  }
}

function jobBands(runs: Runs, order: readonly number[]): VariantFigures['jobs'] {
  const bands = (column: Column, scale: (r: RunDigest) => number = () => 1): (Band | null)[] =>
    order.map((row) => bandOf(runs.map((r) => (r.jobs[column][row] ?? NaN) * scale(r))))
  const perSecond = (r: RunDigest): number => 1 / r.seconds
  return {
    waitP95Ms: bands('waitP95Ms'),
    waitP99Ms: bands('waitP99Ms'),
    rpcs: bands('servedRpcs', perSecond),
    bps: bands('servedBytes', perSecond),
    record: bands('record'),
    starvedS: bands('starvedS'),
  }
}

/** Objectives of the planes that some run has, in the order of the registry; NaN for runs without one. */
function planeValues(runs: Runs): Map<ObjectiveKey, Float64Array> {
  const values = runs.map((r) => new Map(r.planes.map((p) => [p.key, p.value])))
  const keys = OBJECTIVE_KEYS.filter((key) => values.some((v) => v.has(key)))
  return new Map(keys.map((key) => [key, Float64Array.from(values, (v) => v.get(key) ?? NaN)]))
}

const planesOf = (values: SeedFigures['planes']): VariantFigures['planes'] =>
  [...values].map(([key, of]) => {
    const { plane, what, unit, better } = OBJECTIVES[key]
    return { key, plane, what, unit, better, value: bandOf(of) }
  })

/** Returns each remark once, with the seed if not every run has it. */
function remarksOf(runs: Runs): string[] {
  const seedsOf = new Map<string, number[]>()
  for (const { seed, remarks } of runs) {
    for (const text of new Set(remarks)) seedsOf.set(text, [...(seedsOf.get(text) ?? []), seed])
  }
  const all = [...seedsOf].map(([text, seeds]) =>
    seeds.length === runs.length
      ? text
      : `${text} (seed ${seeds[0]}${seeds.length > 1 ? ` and ${seeds.length - 1} more` : ''})`,
  )
  const more = all.length - REMARKS_SHOWN
  return more > 0 ? [...all.slice(0, REMARKS_SHOWN), `${more} more remarks`] : all
}

/** True if any part of a variant starts at its `onS`. */
const hasPolicy = (v: Variant): boolean => v.controller !== 'none' || v.rules.length > 0

/**
 * Aggregates the runs of a comparison. Metrics that no run measured are null; a run without a value does not count in
 * its band. Independent of the order of the runs.
 */
export function aggregate({
  scenario,
  variants,
  plan,
  runs,
  jobColors = fixedJobColors(),
}: AggregateInput): Comparison {
  const facts = jobFacts(scenario)
  const byVariant = variants.map((_, i) => runs.filter((r) => r.variant === i).toSorted((a, b) => a.seed - b.seed))
  const baseline = byVariant[0] ?? []
  const roles = rolesIn(baseline, plan, facts)
  const order = rowOrder(baseline, plan, roles)
  jobColors.colors(plan.chart)
  // One unit for all variants, also for one that moves no bytes.
  const movesBytes = runs.some((r) => r.figures.throughputBps > 0)
  const figures = byVariant.map((of) => seedFigures(of, plan, roles, movesBytes))
  const jobs: JobTable = { jobId: [], user: [], nodes: [], colour: [], role: [] }
  for (const row of order) {
    const jobId = plan.table[row] as string
    const { user, nodes } = facts.get(jobId) ?? UNKNOWN
    jobs.jobId.push(jobId)
    jobs.user.push(user)
    jobs.nodes.push(nodes)
    jobs.colour.push(jobColors.of(jobId))
    jobs.role.push(jobId === roles.hog ? 'hog' : jobId === roles.victim ? 'victim' : '')
  }
  return {
    jobs,
    variants: variants.map((v, i) => {
      const of = byVariant[i] ?? []
      const { metrics, planes } = figures[i] as SeedFigures
      return {
        name: v.name,
        detail: variantSummary(v, scenario),
        metrics: Object.fromEntries(METRIC_NAMES.map((m) => [m, bandOf(metrics[m])])) as VariantFigures['metrics'],
        chart: { ...chartOf(of, plan, jobColors), onS: v.onS > 0 && hasPolicy(v) ? v.onS : null },
        jobs: jobBands(of, order),
        planes: planesOf(planes),
        remarks: remarksOf(of),
      }
    }),
    verdict: verdictOf(figures, roles),
    rest: {
      jobs: baseline[0]?.rest.jobs ?? 0,
      rpcs: medianOf(baseline.map((r) => r.rest.servedRpcs / r.seconds)) || 0,
      bps: medianOf(baseline.map((r) => r.rest.servedBytes / r.seconds)) || 0,
    },
  }
}
