/**
 * What was usual of one figure: the median of a quarter of an hour, which single peaks do not move, and what it stayed below for nine
 * tenths of it, so that what comes again and again is no news. The quarter ends a while ago: what rises now is not part of what it is
 * compared with.
 */

/** Means of so long are kept, ms, and so many of them. */
const BIN_MS = 5_000
const BINS = 180
/** Bins that count besides, most: no alert waits for longer than an hour. */
const LAG_MOST = 720
/** Bins needed to say what is usual. */
const LEAST = 12

export class Usual {
  #bins: number[] = []
  #fromMs = NaN
  #sum = 0
  #count = 0
  #median = NaN
  #mostly = NaN

  /** NaN while too little is known. */
  get median(): number {
    return this.#median
  }

  /** Nine tenths of the time below it; NaN while too little is known. */
  get mostly(): number {
    return this.#mostly
  }

  /** @param lagMs  the quarter of an hour ends so long ago. */
  add(atMs: number, value: number, lagMs: number): void {
    if (Number.isNaN(this.#fromMs) || atMs < this.#fromMs) this.#fromMs = atMs
    if (atMs - this.#fromMs >= BIN_MS) this.#close(atMs, Math.min(LAG_MOST, Math.ceil(lagMs / BIN_MS)))
    if (Number.isNaN(value)) return
    this.#sum += value
    this.#count++
  }

  forget(): void {
    this.#bins = []
    this.#fromMs = this.#median = this.#mostly = NaN
    this.#sum = this.#count = 0
  }

  #close(atMs: number, lag: number): void {
    if (this.#count > 0) {
      this.#bins.push(this.#sum / this.#count)
      if (this.#bins.length > BINS + LAG_MOST) this.#bins.shift()
    }
    this.#fromMs = atMs
    this.#sum = this.#count = 0
    const known = this.#bins.slice(Math.max(0, this.#bins.length - lag - BINS), Math.max(0, this.#bins.length - lag))
    const n = known.length
    if (n < LEAST) return
    const sorted = Float64Array.from(known).sort()
    this.#median = sorted[n >> 1] as number
    this.#mostly = sorted[Math.min(n - 1, Math.ceil(0.9 * n) - 1)] as number
  }
}
