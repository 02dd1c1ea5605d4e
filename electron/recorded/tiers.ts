/** Stored tiers: the range of each, and the choice of the tier for a window. */
import { TIERS, type TierId } from '#core/api/history.ts'
import type { HistoryReader } from '../history/reader.ts'

const STEPS: Readonly<Record<TierId, number>> = { raw: 0, '1s': 1000, '10s': 10_000, '1min': 60_000 }

/** Number of sample times from which the typical interval is taken. */
const LOOKED_AT = 2_000

export interface RecordedTier {
  readonly id: TierId
  readonly fromMs: number
  readonly toMs: number
  /** Time between two samples; of raw samples the typical one. */
  readonly stepMs: number
  /** Set if the source was sampled less often than this: most of its intervals are empty, which is no gap. */
  readonly isSparse?: boolean
}

/** Number of intervals that are checked for sparseness. */
const INTERVALS = 120

/** Median of the intervals between sample times; undefined for fewer than two. */
export function usualStep(instants: Float64Array): number | undefined {
  const last = instants.subarray(Math.max(0, instants.length - LOOKED_AT))
  if (last.length < 2) return undefined
  const gaps = new Float64Array(last.length - 1)
  for (let i = 1; i < last.length; i++) gaps[i - 1] = (last[i] as number) - (last[i - 1] as number)
  gaps.sort()
  return gaps[gaps.length >> 1]
}

/** Tiers with data, finest first. */
export function recordedTiers(reader: HistoryReader): RecordedTier[] {
  return TIERS.flatMap((id): RecordedTier[] => {
    const extent = reader.extentOf(id)
    if (!extent) return []
    const usual = (spanMs: number): number | undefined =>
      usualStep(reader.instants(id, extent.toMs - spanMs, extent.toMs))
    if (id === 'raw') return [{ id, ...extent, stepMs: usual(60_000) ?? 1000 }]
    const stepMs = STEPS[id]
    return [{ id, ...extent, stepMs, isSparse: (usual(INTERVALS * stepMs) ?? stepMs) > stepMs }]
  })
}

/**
 * Finest tier that is not sparse, covers as much of [fromMs, toMs] as any coarser one and has at most `points` samples
 * in it; the coarsest if all have more.
 */
export function tierOfWindow(
  recorded: readonly RecordedTier[],
  fromMs: number,
  toMs: number,
  points: number,
): RecordedTier | undefined {
  const dense = recorded.filter((t) => t.isSparse !== true)
  const tiers = dense.length > 0 ? dense : recorded
  return (
    tiers.find((t, i) => {
      // The interval of a coarser tier may begin before its first sample.
      const oldest = Math.min(...tiers.slice(i + 1).map((c) => c.fromMs + c.stepMs))
      const reaches = t.fromMs <= fromMs || t.fromMs <= oldest
      return reaches && (toMs - Math.max(fromMs, t.fromMs)) / t.stepMs <= points
    }) ?? tiers.at(-1)
  )
}
