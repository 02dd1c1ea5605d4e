/** Stacked chart: top jobs or groups by mean over the window, largest first, then the sum of all others. */
import type { Stack } from '#core/api/frames.ts'
import { jobColumn, TOTAL, totalColumn, type JobMeasure, type TotalMeasure } from '../../cluster/state/recent.ts'
import type { ChartTier, ClusterView } from '../../cluster/cluster-view.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { orZero } from '../position.ts'
import { largest } from './rank.ts'

const TOP = 7
const POINTS = 300
/** Most jobs whose series are summed, those with most use; the rest is too little to be seen. */
const SUMMED = 500

/** Part of the jobs, or groups of them, in place of single jobs. */
export interface StackOf {
  /** Jobs that pass a filter; undefined for all. */
  readonly names?: readonly string[] | undefined
  /** Group of a job, with the colors of groups. */
  readonly groups?: { of(jobId: string): string; colors(names: readonly string[]): number[] } | undefined
}

/**
 * @param measures  job measures to sum, for example read and write bytes per second.
 * @param totals    same for the whole cluster; `other` is the difference to the top jobs.
 */
export function stackFrame(
  viewed: ClusterView,
  sample: number,
  windowMs: number,
  measures: readonly JobMeasure[],
  totals: readonly TotalMeasure[],
  part: StackOf = {},
): Stack {
  if (sample === 0) return { t: [], series: [] }
  const { tier, to } = viewed.recent.tierFor(sample, windowMs)
  const { from, step } = tier.jobs.window(to, windowMs, POINTS)
  const n = to - from + 1
  const columns = measures.map(jobColumn)
  const names =
    part.names ?? (Array.isArray(tier.jobs.names) ? (tier.jobs.names as readonly string[]) : [...tier.jobs.names])
  const used = new Float64Array(names.length)
  for (const c of columns) {
    const means = tier.jobs.means(names, c, to, n)
    for (let i = 0; i < used.length; i++) used[i] = (used[i] as number) + orZero(means[i] as number)
  }
  for (let i = 0; i < used.length; i++) if (!((used[i] as number) > 0)) used[i] = NaN
  if (part.names !== undefined || part.groups !== undefined) {
    const colorsOf = (top: readonly string[]): number[] => part.groups?.colors(top) ?? viewed.jobs.jobColors.colors(top)
    return partOf(names, used, part, { tier, from, to, step, columns, colorsOf })
  }
  const { top: rows, ranked } = largest(used, TOP, (a, b) => byCodeUnit(names[a]!, names[b]!))
  const top = rows.map((i) => names[i] as string)
  const colors = viewed.jobs.jobColors.colors(top)
  const sum = (of: (i: number) => (number | null)[], count: number): (number | null)[] => {
    const all = count === 0 ? [] : of(0)
    for (let i = 1; i < count; i++) {
      const part = of(i)
      for (let k = 0; k < all.length; k++) {
        const v = part[k] ?? null
        if (v !== null) all[k] = (all[k] ?? 0) + v
      }
    }
    return all
  }
  const all = sum(
    (i) => tier.totals.downsample(TOTAL, totalColumn(totals[i] as TotalMeasure), from, to, step),
    totals.length,
  )
  const series = top.map((jobId, i) => ({
    jobId,
    colour: colors[i] ?? 0,
    // A job that did not exist yet used nothing; gaps are only those of the cluster itself.
    values: sum((i) => tier.jobs.downsample(jobId, columns[i] as number, from, to, step), columns.length).map((v, k) =>
      all[k] === null ? null : (v ?? 0),
    ),
  }))
  const other = all.map((v, k) =>
    v === null ? null : Math.max(0, v - series.reduce((s, x) => s + (x.values[k] ?? 0), 0)),
  )
  if (ranked > TOP) series.push({ jobId: '', colour: 0, values: other })
  return { t: tier.totals.times(from, to, step), series }
}

interface Range {
  readonly tier: ChartTier['tier']
  readonly from: number
  readonly to: number
  readonly step: number
  readonly columns: readonly number[]
  readonly colorsOf: (names: readonly string[]) => number[]
}

/** Stack of the jobs that pass a filter, or of groups: the largest ones, then the sum of the others. */
function partOf(names: readonly string[], used: Float64Array, { groups }: StackOf, range: Range): Stack {
  const { tier, from, to, step, columns, colorsOf } = range
  const { top: members } = largest(used, SUMMED, (a, b) => byCodeUnit(names[a]!, names[b]!))
  const of = new Map<string, { use: number; jobs: string[] }>()
  for (const i of members) {
    const jobId = names[i] as string
    const name = groups?.of(jobId) ?? jobId
    const group = of.get(name) ?? { use: 0, jobs: [] }
    of.set(name, group)
    group.use += used[i] as number
    group.jobs.push(jobId)
  }
  const sorted = [...of].sort((a, b) => b[1].use - a[1].use || byCodeUnit(a[0], b[0]))
  const t = tier.totals.times(from, to, step)
  // Gaps are those of the cluster itself.
  const known = tier.totals.downsample(TOTAL, totalColumn('rpcs'), from, to, step)
  const sum = (jobs: readonly string[]): (number | null)[] => {
    const values = known.map((v): number | null => (v === null ? null : 0))
    for (const jobId of jobs) {
      for (const column of columns) {
        tier.jobs.downsample(jobId, column, from, to, step).forEach((v, k) => {
          const at = values[k]
          if (v !== null && at !== null && at !== undefined) values[k] = at + v
        })
      }
    }
    return values
  }
  const shown = sorted.slice(0, TOP)
  const colors = colorsOf(shown.map(([name]) => name))
  const series = shown.map(([jobId, { jobs }], i) => ({ jobId, colour: colors[i] ?? 0, values: sum(jobs) }))
  const rest = sorted.slice(TOP).flatMap(([, { jobs }]) => jobs)
  if (rest.length > 0) series.push({ jobId: '', colour: 0, values: sum(rest) })
  return { t, series }
}
