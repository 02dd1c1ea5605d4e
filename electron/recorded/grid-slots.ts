/** Numbered intervals (slots) of a tier. */
import type { Axis } from './sample-table.ts'
import type { RecordedTier } from './tiers.ts'

/** Maximum slots whose sample times are cached. */
const FOUND_MAX = 20_000

export class Grid {
  readonly tier: RecordedTier
  /** Times of raw samples, which have no regular grid. */
  readonly axis: Axis | undefined
  readonly #zeroMs: number
  /** Cached times of raw samples, by slot. */
  readonly #found = new Map<number, number>()

  constructor(tier: RecordedTier, axis?: Axis) {
    this.tier = tier
    this.axis = tier.id === 'raw' ? axis : undefined
    this.#zeroMs = tier.id === 'raw' ? tier.fromMs : 0
  }

  /** Slot of the interval that contains a time; for raw samples the nearest one. */
  slotOf(atMs: number): number {
    const at = (atMs - this.#zeroMs) / this.tier.stepMs
    return this.axis ? Math.round(at) + 1 : Math.floor(at)
  }

  /** Time of a slot's sample; its beginning if it has none. */
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

  /** Last slot that has ended at a time: a past view never includes later data. */
  lastBefore(atMs: number): number {
    return this.axis ? this.slotOf(atMs) : this.slotOf(atMs + 1) - 1
  }
}
