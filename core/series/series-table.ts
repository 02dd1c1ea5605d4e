/**
 * Recent values of many series on one time axis: a ring of samples in memory.
 *
 * All series share the sample numbers, so "every view at sample n" is one index. NaN is a gap and stays one.
 */
export class SeriesTable {
  readonly capacity: number
  readonly #at: Float64Array
  readonly #columns: readonly string[]
  readonly #exact: readonly string[]
  readonly #values = new Map<string, (Float32Array | Float64Array)[]>()
  /** Number of samples ever pushed; sample numbers run from 1. */
  #pushed = 0

  /**
   * @param capacity  samples kept.
   * @param columns   measures of every series, for example `rpcs`, `record`; kept to 24 bits of precision.
   * @param exact     those of them that are kept as doubles, because they are added up and must come out even.
   */
  constructor(capacity: number, columns: readonly string[], exact: readonly string[] = []) {
    this.capacity = capacity
    this.#columns = columns
    this.#exact = exact
    this.#at = new Float64Array(capacity).fill(NaN)
  }

  get newest(): number {
    return this.#pushed
  }

  get oldest(): number {
    return Math.max(1, this.#pushed - this.capacity + 1)
  }

  get names(): IterableIterator<string> {
    return this.#values.keys()
  }

  /** Opens the next sample; every series stands at a gap until it is set. */
  push(atMs: number): number {
    const i = this.#pushed % this.capacity
    this.#pushed++
    this.#at[i] = atMs
    for (const columns of this.#values.values()) for (const c of columns) c[i] = NaN
    return this.#pushed
  }

  /** Sets measures of a series in the newest sample, in the order of the table's columns. */
  set(name: string, ...values: readonly number[]): void {
    let columns = this.#values.get(name)
    if (!columns) {
      columns = this.#columns.map((c) =>
        (this.#exact.includes(c) ? new Float64Array(this.capacity) : new Float32Array(this.capacity)).fill(NaN),
      )
      this.#values.set(name, columns)
    }
    const i = (this.#pushed - 1) % this.capacity
    values.forEach((v, k) => {
      const column = columns[k]
      if (column) column[i] = v
    })
  }

  drop(name: string): void {
    this.#values.delete(name)
  }

  /** Instant of a sample; NaN when it is no longer (or not yet) here. */
  atMs(sample: number): number {
    return this.#has(sample) ? (this.#at[(sample - 1) % this.capacity] as number) : NaN
  }

  /** One value; NaN for a gap. */
  value(name: string, column: number, sample: number): number {
    const values = this.#values.get(name)?.[column]
    return values && this.#has(sample) ? (values[(sample - 1) % this.capacity] as number) : NaN
  }

  /** Mean of the values in the last `n` samples up to `sample`; gaps do not count; NaN when all are gaps. */
  mean(name: string, column: number, sample: number, n: number): number {
    const values = this.#values.get(name)?.[column]
    if (!values) return NaN
    let sum = 0
    let count = 0
    for (let s = Math.max(this.oldest, sample - n + 1); s <= Math.min(sample, this.#pushed); s++) {
      const v = values[(s - 1) % this.capacity] as number
      if (v === v) {
        sum += v
        count++
      }
    }
    return count === 0 ? NaN : sum / count
  }

  /** The means of many series over the same samples; NaN where all of them are gaps. */
  means(names: readonly string[], column: number, sample: number, n: number): Float64Array {
    const out = new Float64Array(names.length)
    const from = Math.max(this.oldest, sample - n + 1)
    const to = Math.min(sample, this.#pushed)
    for (let k = 0; k < names.length; k++) {
      const values = this.#values.get(names[k] as string)?.[column]
      let sum = 0
      let count = 0
      for (let i = (from - 1) % this.capacity, s = from; values && s <= to; s++) {
        const v = values[i] as number
        if (v === v) {
          sum += v
          count++
        }
        if (++i === this.capacity) i = 0
      }
      out[k] = count === 0 ? NaN : sum / count
    }
    return out
  }

  /** First sample at or after an instant, at most `newest`. */
  sampleAt(atMs: number): number {
    let lo = this.oldest
    let hi = this.#pushed
    while (lo < hi) {
      const mid = (lo + hi) >> 1
      if (this.atMs(mid) < atMs) lo = mid + 1
      else hi = mid
    }
    return lo
  }

  /**
   * Means of a series over spans of `step` samples from `from` on; the last span may be shorter. Samples that are no
   * longer (or not yet) here are gaps.
   *
   * @returns  one value per span; null where every sample of it is a gap.
   */
  downsample(name: string, column: number, from: number, to: number, step: number): (number | null)[] {
    const values = this.#values.get(name)?.[column]
    const out: (number | null)[] = []
    for (let a = from; a <= to; a += step) {
      const b = Math.min(a + step, to + 1, this.#pushed + 1)
      let sum = 0
      let count = 0
      for (let s = Math.max(a, this.oldest); values && s < b; s++) {
        const v = values[(s - 1) % this.capacity] as number
        if (v === v) {
          sum += v
          count++
        }
      }
      out.push(count === 0 ? null : sum / count)
    }
    return out
  }

  /** Instants of the same spans: of the last sample in each. */
  times(from: number, to: number, step: number): number[] {
    const out: number[] = []
    for (let a = from; a <= to; a += step) out.push(this.atMs(Math.min(a + step - 1, to)))
    return out
  }

  /**
   * The samples of a window, cut into spans whose borders are multiples of the span: they stay where they are while the
   * window moves, so a chart does not shimmer. The first may reach back beyond the oldest sample.
   *
   * @param points  most spans wanted, >= 2.
   */
  window(to: number, windowMs: number, points: number): { from: number; to: number; step: number } {
    const first = this.sampleAt(this.atMs(to) - windowMs)
    // Borders that are not the window's own cut one span more than the samples alone would need.
    const step = to - first < points ? 1 : Math.ceil((to - first) / (points - 1))
    return { from: Math.floor(first / step) * step, to, step }
  }

  #has(sample: number): boolean {
    return sample >= this.oldest && sample <= this.#pushed && sample >= 1
  }
}
