/** Resolutions of what is kept: what each covers, and which one answers for a window. */
import { TIERS, type TierId } from '#core/api/history.ts'
import type { HistoryReader } from '../history/reader.ts'

const STEPS: Readonly<Record<TierId, number>> = { raw: 0, '1s': 1000, '10s': 10_000, '1min': 60_000 }

/** Instants that the usual distance between two is taken from. */
const LOOKED_AT = 2_000

export interface KeptTier {
  readonly id: TierId
  readonly fromMs: number
  readonly toMs: number
  /** Time between two samples; of raw samples the usual one. */
  readonly stepMs: number
  /** The source was sampled less often than this: most of its intervals are empty, which is no gap. */
  readonly isSparse?: boolean
}

/** Intervals that are looked at for whether most are empty. */
const INTERVALS = 120

/** The middle of the distances between instants; undefined for fewer than two. */
export function usualStep(instants: Float64Array): number | undefined {
  const last = instants.subarray(Math.max(0, instants.length - LOOKED_AT))
  if (last.length < 2) return undefined
  const gaps = new Float64Array(last.length - 1)
  for (let i = 1; i < last.length; i++) gaps[i - 1] = (last[i] as number) - (last[i - 1] as number)
  gaps.sort()
  return gaps[gaps.length >> 1]
}

/** Tiers that hold anything, finest first. */
export function keptTiers(reader: HistoryReader): KeptTier[] {
  return TIERS.flatMap((id): KeptTier[] => {
    const kept = reader.keptOf(id)
    if (!kept) return []
    const usual = (spanMs: number): number | undefined => usualStep(reader.instants(id, kept.toMs - spanMs, kept.toMs))
    if (id === 'raw') return [{ id, ...kept, stepMs: usual(60_000) ?? 1000 }]
    const stepMs = STEPS[id]
    return [{ id, ...kept, stepMs, isSparse: (usual(INTERVALS * stepMs) ?? stepMs) > stepMs }]
  })
}

/**
 * The finest tier that is not sparse, knows as much of [fromMs, toMs] as any coarser one does and has at most `points` samples in
 * it; the coarsest where all have more.
 */
export function tierOfWindow(
  kept: readonly KeptTier[],
  fromMs: number,
  toMs: number,
  points: number,
): KeptTier | undefined {
  const dense = kept.filter((t) => t.isSparse !== true)
  const tiers = dense.length > 0 ? dense : kept
  return (
    tiers.find((t, i) => {
      // The interval of a coarser one may begin before the first sample that is in it.
      const oldest = Math.min(...tiers.slice(i + 1).map((c) => c.fromMs + c.stepMs))
      const reaches = t.fromMs <= fromMs || t.fromMs <= oldest
      return reaches && (toMs - Math.max(fromMs, t.fromMs)) / t.stepMs <= points
    }) ?? tiers.at(-1)
  )
}
