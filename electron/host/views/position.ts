/** Where a view stands: the sample it shows, and the small sums every view takes from there. */
import { NS_PER_S } from '#core/base/units.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'

const perSecond = (monitor: ClusterMonitor): number => NS_PER_S / monitor.source.periodNs

/** Samples behind a displayed rate: one second, so that numbers can be read; at least one. */
export const rateSamples = (monitor: ClusterMonitor): number => Math.max(1, Math.round(perSecond(monitor)))
/** Samples behind "throttled": ten seconds. */
export const throttledSamples = (monitor: ClusterMonitor): number => Math.max(1, Math.round(10 * perSecond(monitor)))

export interface Position {
  readonly sample: number
  readonly atMs: number | null
}

/** The sample asked for, moved into what is still in memory; the newest for null. */
export function stand(monitor: ClusterMonitor, at: number | null): Position {
  const { totals } = monitor.recent.raw
  if (totals.newest === 0) return { sample: 0, atMs: null }
  const sample = Math.min(totals.newest, Math.max(totals.oldest, at ?? totals.newest))
  return { sample, atMs: totals.atMs(sample) }
}

/**
 * Whether a sample is of the last second. What is kept of the present only (operations of the last second, sizes, the raw
 * text, timers) is shown there and nowhere else: an old picture never holds a new number.
 */
export const isPresent = (monitor: ClusterMonitor, sample: number): boolean =>
  monitor.sample - sample <= rateSamples(monitor)

/** null for a gap. */
export const orNull = (v: number): number | null => (Number.isNaN(v) ? null : v)
/** 0 for a gap: only where a gap means that nothing was served. */
export const orZero = (v: number): number => (Number.isNaN(v) ? 0 : v)
