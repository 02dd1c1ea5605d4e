/** Cached values of single series: charts request the same rows window after window, each a step further. */

/** Cached slots per series, and cached series. */
const SLOTS = 1024
const SERIES = 512

export interface ValuesOfSeries {
  /** Slot held at each index; NaN: none. */
  readonly slots: Float64Array
  readonly values: Float64Array
}

export class ReadValues {
  readonly #held = new Map<number, ValuesOfSeries>()

  /** @param id  id of the series: one number per job and column. */
  of(id: number): ValuesOfSeries {
    let series = this.#held.get(id)
    if (series) this.#held.delete(id)
    else series = { slots: new Float64Array(SLOTS).fill(NaN), values: new Float64Array(SLOTS) }
    this.#held.set(id, series)
    if (this.#held.size > SERIES) this.#held.delete(this.#held.keys().next().value as number)
    return series
  }

  /** Index at which a slot is cached. */
  static placeOf(slot: number): number {
    return slot % SLOTS
  }
}
