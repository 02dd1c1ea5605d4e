/** Finds the sample nearest to a time, and its tier. */
import type { Past } from './past.ts'
import { RecordedCluster } from './recorded-cluster.ts'
import type { RecordedTier } from './tiers.ts'

/** Samples on either side that can be stepped through without loading another range. */
const SAMPLES = 30_000
/** Largest distance to the nearest sample for a time without data; the answer carries the actual time. */
export const NEAR_MS = 600_000

export interface Place {
  readonly tier: RecordedTier
  readonly atMs: number
}

/** Range of samples that represent a time: raw samples near it, or the mean of the interval that contains it. */
const around = (tier: RecordedTier, atMs: number): readonly [fromMs: number, toMs: number] => {
  const slack = Math.max(1_000, 2.5 * tier.stepMs)
  return tier.id === 'raw' ? [atMs - slack, atMs + slack] : [atMs - 1.5 * tier.stepMs, atMs]
}

function nearestIn(past: Past, tier: RecordedTier, atMs: number, fromMs: number, toMs: number): number | undefined {
  let best: number | undefined
  for (const at of past.reader.instants(tier.id, fromMs, toMs)) {
    if (best === undefined || Math.abs(at - atMs) < Math.abs(best - atMs)) best = at
  }
  return best
}

/** Finest sample that represents a time; if none, the nearest within `beside` ms. */
export function placeAt(past: Past, atMs: number, beside: number): Place | undefined {
  let best: Place | undefined
  for (const tier of past.tiers) {
    const exact = nearestIn(past, tier, atMs, ...around(tier, atMs))
    if (exact !== undefined) return { tier, atMs: exact }
    if (beside === 0 || atMs < tier.fromMs - beside || atMs > tier.toMs + beside) continue
    // Raw samples within minutes are many: the coarser tiers locate the next ones.
    if (tier.stepMs < 1000 && past.tiers.length > 1) continue
    const near = nearestIn(past, tier, atMs, atMs - beside, atMs + beside)
    if (near !== undefined && (!best || Math.abs(near - atMs) < Math.abs(best.atMs - atMs))) best = { tier, atMs: near }
  }
  return best
}

/** Recorded cluster for the range around a sample. */
export const clusterAt = (past: Past, { tier, atMs }: Place): RecordedCluster => {
  const half = SAMPLES * tier.stepMs
  return new RecordedCluster(past, tier, { fromMs: atMs - half, toMs: atMs + half })
}

/** Recorded clusters at occasional times, found like those of the cursor; the last ones are cached. */
export class RecordedClusterCache {
  readonly #past: () => Past | undefined
  #held: RecordedCluster[] = []

  constructor(past: () => Past | undefined) {
    this.#past = past
  }

  /** Sample of a time, or the nearest one within `NEAR_MS`; undefined if there is none. */
  at(atMs: number): { readonly viewed: RecordedCluster; readonly sample: number; readonly atMs: number } | undefined {
    const past = this.#past()
    const place = past && placeAt(past, atMs, NEAR_MS)
    if (!past || !place) return undefined
    let viewed = this.#held.find(
      (v) =>
        v.tierId === place.tier.id && v.axis.atMs(v.nearest(place.atMs)) === place.atMs && hasCapacity(v, place.atMs),
    )
    viewed ??= clusterAt(past, place)
    this.#held = [viewed, ...this.#held.filter((v) => v !== viewed)].slice(0, 2)
    return { viewed, sample: viewed.nearest(place.atMs), atMs: place.atMs }
  }
}

/** Known jobs and records at a time are derived from the hour and the minute before it. */
const hasCapacity = (v: RecordedCluster, atMs: number): boolean =>
  v.axis.sampleAt(atMs - 120_000) > 1 || v.fromMs >= v.tier.fromMs
