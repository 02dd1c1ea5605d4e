/** Comparison instant A next to the cursor (B): the same measures at A, and A's window drawn on B's axis. */
import { TOTAL, totalColumn, type TotalMeasure } from '../../cluster/state/recent.ts'
import type { ClusterView } from '../../cluster/cluster-view.ts'
import { orNull } from '../position.ts'

/** Position of A: in the view of B, or in kept samples of an earlier time. */
export interface Against {
  readonly viewed: ClusterView
  readonly sample: number
  readonly atMs: number
}

/** Finds A; undefined if nothing is kept near it. */
export type FindAgainst = (atMs: number) => Against | undefined

const OVERLAY_POINTS = 300

/** A for a query; `head` is reported in the frame: null if nothing is kept, absent without a comparison. */
export function againstOf(
  againstMs: number | null | undefined,
  find: FindAgainst | undefined,
): { readonly a: Against | undefined; readonly head: { against?: { atMs: number } | null } } {
  if (againstMs === null || againstMs === undefined) return { a: undefined, head: {} }
  const a = find?.(againstMs)
  return { a, head: { against: a ? { atMs: a.atMs } : null } }
}

/** Cluster totals over the window that ends at A, shifted to end at `atMs`. Several measures are summed. */
export function overlayOf(
  a: Against | undefined,
  atMs: number | null,
  windowMs: number,
  measures: readonly TotalMeasure[],
): { t: number[]; values: (number | null)[] } | null {
  if (!a || atMs === null) return null
  const { tier, to } = a.viewed.recent.tierFor(a.sample, windowMs)
  const { from, step } = tier.totals.window(to, windowMs, OVERLAY_POINTS)
  const parts = measures.map((m) => tier.totals.downsample(TOTAL, totalColumn(m), from, to, step))
  const values = (parts[0] ?? []).map((_, k) =>
    parts.some((p) => p[k] === null) ? null : parts.reduce((sum, p) => sum + (p[k] ?? 0), 0),
  )
  return { t: tier.totals.times(from, to, step).map((t) => t - a.atMs + atMs), values }
}

/**
 * Resamples a series to another axis: each instant gets the mean of the values since the previous instant, or the last
 * value if it is no older than 1.5 times the coarser interval.
 */
export function onAxis(
  t: readonly number[],
  values: readonly (number | null)[],
  axis: readonly number[],
): (number | null)[] {
  const gap = (x: readonly number[]): number =>
    x.length < 2 ? 0 : ((x.at(-1) as number) - (x[0] as number)) / (x.length - 1)
  const reach = 1.5 * Math.max(gap(t), gap(axis))
  let k = 0
  return axis.map((at, i) => {
    const after = i === 0 ? at - gap(axis) : (axis[i - 1] as number)
    let sum = 0
    let count = 0
    for (; k < t.length && (t[k] as number) <= at; k++) {
      const v = values[k]
      if (v === null || v === undefined || (t[k] as number) <= after) continue
      sum += v
      count++
    }
    if (count > 0) return sum / count
    const last = k - 1
    return last >= 0 && (t[last] as number) <= after && at - (t[last] as number) <= reach
      ? (values[last] ?? null)
      : null
  })
}

/** Values of jobs at A in the order of `ids`; null for a gap, and for a job that did not exist. */
export function columnAt(a: Against, ids: readonly string[], column: number, n: number): (number | null)[] {
  return Array.from(a.viewed.recent.raw.jobs.means(ids, column, a.sample, n), orNull)
}
