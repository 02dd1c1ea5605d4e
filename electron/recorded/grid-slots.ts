/** Intervals of a tier as numbers. */
import type { Axis } from './sample-table.ts'
import type { KeptTier } from './tiers.ts'

/** Slots of which a grid remembers the instants. */
const FOUND_MAX = 20_000

export class Grid {
  readonly tier: KeptTier
  /** Instants of raw samples, which lie on no grid of their own. */
  readonly axis: Axis | undefined
  readonly #zeroMs: number
  /** Instants of raw samples found before, by slot. */
  readonly #found = new Map<number, number>()

  constructor(tier: KeptTier, axis?: Axis) {
    this.tier = tier
    this.axis = tier.id === 'raw' ? axis : undefined
    this.#zeroMs = tier.id === 'raw' ? tier.fromMs : 0
  }

  /** The interval that an instant is in; of raw samples the nearest one. */
  slotOf(atMs: number): number {
    const at = (atMs - this.#zeroMs) / this.tier.stepMs
    return this.axis ? Math.round(at) + 1 : Math.floor(at)
  }

  /** Instant of the sample of a slot, of its beginning where it has none. */
  atMs(slot: number): number {
    if (!this.axis) return this.#zeroMs + slot * this.tier.stepMs
    let atMs = this.#found.get(slot)
    if (atMs === undefined) {
      if (this.#found.size >= FOUND_MAX) this.#found.clear()
      this.#found.set(slot, (atMs = this.#nearestTo(this.axis, slot)))
    }
    return atMs
  }

  #nearestTo(axis: Axis, slot: number): number {
    const at = this.#zeroMs + (slot - 1) * this.tier.stepMs
    const found = axis.atMs(axis.sampleAt(at - this.tier.stepMs / 2))
    return Math.abs(found - at) <= 0.75 * this.tier.stepMs ? found : at
  }

  /** Last slot that is over at an instant: a picture of the past never holds what came after it. */
  lastBefore(atMs: number): number {
    return this.axis ? this.slotOf(atMs) : this.slotOf(atMs + 1) - 1
  }
}
