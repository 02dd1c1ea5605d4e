/** Where a view stands: the sample it shows, and the small sums every view takes from there. */
import { NS_PER_S } from '#core/base/units.ts'
import { ClusterMonitor } from '../cluster/monitor.ts'
import { TOTAL, totalColumn } from '../cluster/state/recent.ts'
import type { SeriesAt, Viewed } from '../cluster/viewed.ts'

const perSecond = (viewed: Viewed): number => NS_PER_S / viewed.source.periodNs

/** Samples behind a displayed rate: one second, so that numbers can be read; at least one. */
export const rateSamples = (viewed: Viewed): number => Math.max(1, Math.round(perSecond(viewed)))
/** Samples behind "throttled": ten seconds. */
export const throttledSamples = (viewed: Viewed): number => Math.max(1, Math.round(10 * perSecond(viewed)))

export interface Position {
  readonly sample: number
  readonly atMs: number | null
}

/** The newest sample, be it a gap. */
export const newestOf = (viewed: Viewed): Position => stand(viewed, viewed.recent.raw.totals.newest)

/** Where the present is: while no server answers, the last sample that one had part in, so that the last data stays. */
function presentOf(viewed: Viewed): number {
  const { newest, oldest } = viewed.recent.raw.totals
  return Math.max(oldest, liveOf(viewed)?.answered ?? newest)
}

/** The sample asked for, moved into what is still in memory; for null that of the present. */
export function stand(viewed: Viewed, at: number | null): Position {
  const { totals } = viewed.recent.raw
  if (totals.newest === 0) return { sample: 0, atMs: null }
  const sample = Math.min(totals.newest, Math.max(totals.oldest, at ?? presentOf(viewed)))
  return { sample, atMs: totals.atMs(sample) }
}

/** The sample nearest to an instant; 0 before the first. */
export function nearestSample(axis: SeriesAt, atMs: number): number {
  if (axis.newest === 0) return 0
  const after = axis.sampleAt(atMs)
  const before = Math.max(axis.oldest, after - 1)
  return atMs - axis.atMs(before) < axis.atMs(after) - atMs ? before : after
}

/** The source itself, where it is not a picture of its past: it alone has readings, leases and a ledger. */
export const liveOf = (viewed: Viewed): ClusterMonitor | undefined =>
  viewed instanceof ClusterMonitor ? viewed : viewed.live

/**
 * Whether a sample is of the last second. What is kept of the present only (operations of the last second, sizes, the raw
 * text, timers) is shown there and nowhere else: an old picture never holds a new number.
 */
export function isPresent(viewed: Viewed, sample: number): boolean {
  if (!liveOf(viewed)) return false
  const near = (at: number): boolean => Math.abs(at - sample) <= rateSamples(viewed)
  // While nobody answers, what lies between the last answer and now is neither.
  return near(presentOf(viewed)) || near(viewed.recent.raw.totals.newest)
}

/** Samples before one of which not all was read, in which the number of rules is looked for: it seldom changes. */
const RULES_BACK = 30

/** Rules on all servers at a sample, or at the last one before it that has them; null where none near it does. */
export function rulesKnownAt(viewed: Viewed, sample: number): number | null {
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
/** 0 for a gap: only where a gap means that nothing was served. */
export const orZero = (v: number): number => (Number.isNaN(v) ? 0 : v)
