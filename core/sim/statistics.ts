/** Statistics of a run: time-weighted levels (queue lengths, busy servers) and tallies of single values (waits). */

/** A level that holds between changes; its mean is weighted by how long it held. */
export class TimeWeighted {
  #since: number
  #level: number
  #area = 0
  readonly #start: number
  #max: number

  /**
   * @param atNs   start of the observation.
   * @param level  level at the start.
   */
  constructor(atNs: number, level: number) {
    this.#start = atNs
    this.#since = atNs
    this.#level = level
    this.#max = level
  }

  get level(): number {
    return this.#level
  }

  get max(): number {
    return this.#max
  }

  /** The level becomes `level` at `atNs`, which must not lie before the last change. */
  set(atNs: number, level: number): void {
    this.#area += this.#level * (atNs - this.#since)
    this.#since = atNs
    this.#level = level
    if (level > this.#max) this.#max = level
  }

  /** Level x time since the start, in level-ns. */
  areaAt(atNs: number): number {
    return this.#area + this.#level * (atNs - this.#since)
  }

  /** Time-weighted mean over [start, atNs]; the level itself when no time has passed. */
  meanAt(atNs: number): number {
    return atNs > this.#start ? this.areaAt(atNs) / (atNs - this.#start) : this.#level
  }
}

/**
 * Values counted in logarithmic bins, 16 to an octave: quantiles within 4.4 % of the value, in constant memory.
 * Meant for waits and sizes; values below 1 share the first bin.
 */
export class Tally {
  /** Doubles count as far as anybody does; it grows to the largest bin seen. */
  #bins = new Float64Array(512)
  #count = 0
  #sum = 0
  #max = 0

  get count(): number {
    return this.#count
  }

  get mean(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count
  }

  get max(): number {
    return this.#max
  }

  /** @param value  >= 0. */
  add(value: number): void {
    const bin = value < 1 ? 0 : 1 + Math.floor(Math.log2(value) * 16)
    if (bin >= this.#bins.length) this.#grow(bin)
    this.#bins[bin]!++
    this.#count++
    this.#sum += value
    if (value > this.#max) this.#max = value
  }

  /**
   * The value below which a share `q` of all values lies (upper edge of its bin, never above the largest value seen).
   *
   * @param q  0..1.
   * @returns 0 when nothing was counted.
   */
  quantile(q: number): number {
    let remaining = q * this.#count
    for (const [bin, n] of this.#bins.entries()) {
      if (n === 0) continue
      remaining -= n
      if (remaining <= 0) return Math.min(this.#max, 2 ** (bin / 16))
    }
    return this.#max
  }

  /** Counts what another tally counted, too. */
  merge(other: Tally): void {
    if (other.#bins.length > this.#bins.length) this.#grow(other.#bins.length - 1)
    for (const [bin, n] of other.#bins.entries()) if (n > 0) this.#bins[bin]! += n
    this.#count += other.#count
    this.#sum += other.#sum
    this.#max = Math.max(this.#max, other.#max)
  }

  #grow(bin: number): void {
    const bins = new Float64Array(bin + 64)
    bins.set(this.#bins)
    this.#bins = bins
  }
}
