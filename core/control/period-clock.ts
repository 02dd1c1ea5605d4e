/**
 * Clock of one server's control periods, and how punctual they were. Deadlines are absolute, so that a late period does not delay the
 * following ones; a deadline that passes before the server is ready is missed, not made up for.
 */

/** Deadlines of one server, ms of a steady clock. */
export class PeriodClock {
  #periodMs: number
  #dueMs: number

  /** @param phase  first deadline as a part of the period, 0..1: servers with different phases do not start at once. */
  constructor(nowMs: number, periodMs: number, phase: number) {
    this.#periodMs = periodMs
    this.#dueMs = nowMs + phase * periodMs
  }

  get periodMs(): number {
    return this.#periodMs
  }

  /** Next deadline. */
  get dueMs(): number {
    return this.#dueMs
  }

  /** Passes the deadlines up to `nowMs`. @returns  their number; 0 if none is due yet. */
  pass(nowMs: number): number {
    if (nowMs < this.#dueMs) return 0
    const passed = Math.floor((nowMs - this.#dueMs) / this.#periodMs) + 1
    this.#dueMs += passed * this.#periodMs
    return passed
  }

  /** Changes the period: the next deadline is the first one at or after `nowMs` that is whole new periods after the last one. */
  setPeriod(periodMs: number, nowMs: number): void {
    const lastMs = this.#dueMs - this.#periodMs
    this.#periodMs = periodMs
    this.#dueMs = lastMs + periodMs * Math.max(1, Math.ceil((nowMs - lastMs) / periodMs))
  }
}

/** Time that the figures cover, ms. */
const WINDOW_MS = 60_000

export interface Punctuality {
  /** Periods of the last minute. */
  readonly periods: number
  /** Deadlines of the last minute that were missed. */
  readonly missed: number
  /** Time between the ends of two periods, ms; null before the second one. */
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** Nearest-rank percentile of sorted values. */
const rank = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null

/** Times between the periods of one server in the last minute, and its missed deadlines. */
export class PeriodIntervals {
  #intervals: { readonly atMs: number; readonly ms: number }[] = []
  #missed: { readonly atMs: number; readonly count: number }[] = []
  #lastMs: number | undefined

  /** Adds the end of a period. */
  end(atMs: number): void {
    if (this.#lastMs !== undefined) this.#intervals.push({ atMs, ms: atMs - this.#lastMs })
    this.#lastMs = atMs
    this.#drop(atMs)
  }

  miss(atMs: number, count: number): void {
    this.#missed.push({ atMs, count })
    this.#drop(atMs)
  }

  /** Interrupts the series: the time until the next period is not an interval. */
  interrupt(): void {
    this.#lastMs = undefined
  }

  at(nowMs: number): Punctuality {
    this.#drop(nowMs)
    const sorted = this.#intervals.map((i) => i.ms).sort((a, b) => a - b)
    return {
      periods: sorted.length,
      missed: this.#missed.reduce((n, m) => n + m.count, 0),
      p50Ms: rank(sorted, 0.5),
      p99Ms: rank(sorted, 0.99),
    }
  }

  #drop(nowMs: number): void {
    const isOver = (e: { readonly atMs: number } | undefined): boolean => e !== undefined && e.atMs <= nowMs - WINDOW_MS
    // Rarely more than one entry is over: nothing is copied for that.
    while (isOver(this.#intervals[0])) this.#intervals.shift()
    while (isOver(this.#missed[0])) this.#missed.shift()
  }
}
