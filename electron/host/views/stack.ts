/** Stacked chart: top jobs by mean over the window, largest first, then the sum of all others. */
import type { Stack } from '#core/api/frames.ts'
import { jobColumn, TOTAL, totalColumn, type JobMeasure, type TotalMeasure } from '../../cluster/state/recent.ts'
import type { ClusterView } from '../../cluster/cluster-view.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { orZero } from '../position.ts'
import { largest } from './rank.ts'

const TOP = 7
const POINTS = 300

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
): Stack {
  if (sample === 0) return { t: [], series: [] }
  const { tier, to } = viewed.recent.tierFor(sample, windowMs)
  const { from, step } = tier.jobs.window(to, windowMs, POINTS)
  const n = to - from + 1
  const columns = measures.map(jobColumn)
  const names = Array.isArray(tier.jobs.names) ? (tier.jobs.names as readonly string[]) : [...tier.jobs.names]
  const used = new Float64Array(names.length)
  for (const c of columns) {
    const means = tier.jobs.means(names, c, to, n)
    for (let i = 0; i < used.length; i++) used[i] = (used[i] as number) + orZero(means[i] as number)
  }
  for (let i = 0; i < used.length; i++) if (!((used[i] as number) > 0)) used[i] = NaN
  const { top: rows, ranked } = largest(used, TOP, (a, b) => byCodeUnit(names[a]!, names[b]!))
  const top = rows.map((i) => names[i] as string)
  viewed.jobs.colour(top)
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
  const series = top.map((jobId) => ({
    jobId,
    colour: viewed.jobs.find(jobId)?.colour ?? 0,
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
