/** Finds what is kept near an instant, and at which resolution. */
import type { Past } from './past.ts'
import { RecordedCluster } from './recorded-cluster.ts'
import type { KeptTier } from './tiers.ts'

/** Samples that can be stepped through on either side without opening another stretch. */
const SAMPLES = 30_000
/** What is asked for where nothing is kept is the nearest that is, this far beside it at most; the answer says where it is. */
export const NEAR_MS = 600_000

export interface Place {
  readonly tier: KeptTier
  readonly atMs: number
}

/** Instants of samples that are of an instant: raw ones near it, means of the interval that it is in. */
const around = (tier: KeptTier, atMs: number): readonly [fromMs: number, toMs: number] => {
  const slack = Math.max(1_000, 2.5 * tier.stepMs)
  return tier.id === 'raw' ? [atMs - slack, atMs + slack] : [atMs - 1.5 * tier.stepMs, atMs]
}

function nearestIn(past: Past, tier: KeptTier, atMs: number, fromMs: number, toMs: number): number | undefined {
  let best: number | undefined
  for (const at of past.reader.instants(tier.id, fromMs, toMs)) {
    if (best === undefined || Math.abs(at - atMs) < Math.abs(best - atMs)) best = at
  }
  return best
}

/**
 * The finest sample that is the one of an instant; where there is none, the nearest within `beside` ms.
 */
export function placeAt(past: Past, atMs: number, beside: number): Place | undefined {
  let best: Place | undefined
  for (const tier of past.tiers) {
    const exact = nearestIn(past, tier, atMs, ...around(tier, atMs))
    if (exact !== undefined) return { tier, atMs: exact }
    if (beside === 0 || atMs < tier.fromMs - beside || atMs > tier.toMs + beside) continue
    // Raw samples within minutes are many: the coarser tiers know where the next ones are.
    if (tier.stepMs < 1000 && past.tiers.length > 1) continue
    const near = nearestIn(past, tier, atMs, atMs - beside, atMs + beside)
    if (near !== undefined && (!best || Math.abs(near - atMs) < Math.abs(best.atMs - atMs))) best = { tier, atMs: near }
  }
  return best
}

/** A picture of the stretch around a place. */
export const clusterAt = (past: Past, { tier, atMs }: Place): RecordedCluster => {
  const half = SAMPLES * tier.stepMs
  return new RecordedCluster(past, tier, { fromMs: atMs - half, toMs: atMs + half })
}

/** Pictures at instants asked for now and then, found like those that the cursor goes to: the last ones are held. */
export class Pictures {
  readonly #past: () => Past | undefined
  #held: RecordedCluster[] = []

  constructor(past: () => Past | undefined) {
    this.#past = past
  }

  /** The sample of an instant, or the nearest one within `NEAR_MS`; undefined where nothing is kept near it. */
  at(atMs: number): { readonly viewed: RecordedCluster; readonly sample: number; readonly atMs: number } | undefined {
    const past = this.#past()
    const place = past && placeAt(past, atMs, NEAR_MS)
    if (!past || !place) return undefined
    let viewed = this.#held.find(
      (v) => v.tierId === place.tier.id && v.axis.atMs(v.nearest(place.atMs)) === place.atMs && hasRoom(v, place.atMs),
    )
    viewed ??= clusterAt(past, place)
    this.#held = [viewed, ...this.#held.filter((v) => v !== viewed)].slice(0, 2)
    return { viewed, sample: viewed.nearest(place.atMs), atMs: place.atMs }
  }
}

/** What stands at an instant comes from the hour and the minute before it. */
const hasRoom = (v: RecordedCluster, atMs: number): boolean =>
  v.axis.sampleAt(atMs - 120_000) > 1 || v.fromMs >= v.tier.fromMs
