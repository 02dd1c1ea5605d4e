/** Position of a view: the sample it shows, and small calculations that views share. */
import { NS_PER_S } from '#core/base/units.ts'
import { ClusterMonitor } from '../cluster/monitor.ts'
import { TOTAL, totalColumn } from '../cluster/state/recent.ts'
import type { SeriesAt, ClusterView } from '../cluster/cluster-view.ts'

const perSecond = (viewed: ClusterView): number => NS_PER_S / viewed.source.periodNs

/** Samples behind a displayed rate: one second, so that numbers can be read; at least one. */
export const rateSamples = (viewed: ClusterView): number => Math.max(1, Math.round(perSecond(viewed)))
/** Samples behind "throttled": ten seconds. */
export const throttledSamples = (viewed: ClusterView): number => Math.max(1, Math.round(10 * perSecond(viewed)))

export interface Position {
  readonly sample: number
  readonly atMs: number | null
}

/** Newest sample, even if it is a gap. */
export const newestOf = (viewed: ClusterView): Position => resolvePosition(viewed, viewed.recent.raw.totals.newest)

/** Present sample: while no server answers, the last one with an answer, so that the last data stays visible. */
function presentOf(viewed: ClusterView): number {
  const { newest, oldest } = viewed.recent.raw.totals
  return Math.max(oldest, liveOf(viewed)?.answered ?? newest)
}

/** Requested sample, clamped to those in memory; for null the present one. */
export function resolvePosition(viewed: ClusterView, at: number | null): Position {
  const { totals } = viewed.recent.raw
  if (totals.newest === 0) return { sample: 0, atMs: null }
  const sample = Math.min(totals.newest, Math.max(totals.oldest, at ?? presentOf(viewed)))
  return { sample, atMs: totals.atMs(sample) }
}

/** Sample nearest to an instant; 0 if there is none yet. */
export function nearestSample(axis: SeriesAt, atMs: number): number {
  if (axis.newest === 0) return 0
  const after = axis.sampleAt(atMs)
  const before = Math.max(axis.oldest, after - 1)
  return atMs - axis.atMs(before) < axis.atMs(after) - atMs ? before : after
}

/** Monitor of a live view; undefined for a view of the past, which has no readings, leases or ledger. */
export const liveOf = (viewed: ClusterView): ClusterMonitor | undefined =>
  viewed instanceof ClusterMonitor ? viewed : viewed.live

/**
 * True if a sample is of the last second. Data kept of the present only (operations of the last second, sizes, the raw
 * text, timers) is shown only there: a past view never shows a new number.
 */
export function isPresent(viewed: ClusterView, sample: number): boolean {
  if (!liveOf(viewed)) return false
  const near = (at: number): boolean => Math.abs(at - sample) <= rateSamples(viewed)
  // While no server answers, samples between the last answer and now are not present.
  return near(presentOf(viewed)) || near(viewed.recent.raw.totals.newest)
}

/** Samples searched back for the number of rules if a sample was not fully read: it seldom changes. */
const RULES_BACK = 30

/** Number of rules on all servers at a sample, or at the last known one before it; null if none is near. */
export function rulesKnownAt(viewed: ClusterView, sample: number): number | null {
  if (sample === 0) return 0
  const { totals } = viewed.recent.raw
  for (let s = sample; s >= Math.max(1, totals.oldest, sample - RULES_BACK); s--) {
    const v = totals.value(TOTAL, totalColumn('rules'), s)
    if (!Number.isNaN(v)) return v
  }
  return null
}

/** null for a gap. */
export const orNull = (v: number): number | null => (Number.isNaN(v) ? null : v)
/** 0 for a gap: only if a gap means that nothing was served. */
export const orZero = (v: number): number => (Number.isNaN(v) ? 0 : v)
