/** Values of single series as they were read from blocks: charts ask for the same rows window after window, each a step further on. */

/** Slots of a series that are held, and series. */
const SLOTS = 1024
const SERIES = 512

export interface ValuesOfSeries {
  /** Which slot each place is of; NaN: none. */
  readonly slots: Float64Array
  readonly values: Float64Array
}

export class ReadValues {
  readonly #held = new Map<number, ValuesOfSeries>()

  /** @param id  of the series: one number a job and column. */
  of(id: number): ValuesOfSeries {
    let series = this.#held.get(id)
    if (series) this.#held.delete(id)
    else series = { slots: new Float64Array(SLOTS).fill(NaN), values: new Float64Array(SLOTS) }
    this.#held.set(id, series)
    if (this.#held.size > SERIES) this.#held.delete(this.#held.keys().next().value as number)
    return series
  }

  /** Where a slot is held. */
  static placeOf(slot: number): number {
    return slot % SLOTS
  }
}
