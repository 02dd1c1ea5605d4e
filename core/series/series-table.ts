/**
 * Recent values of many series on one time axis: a ring of samples in memory.
 *
 * All series share the sample numbers, so a sample number addresses every view. NaN is a gap and stays one. Samples are stored
 * in pages (series-page.ts): of ten thousand jobs most are idle most of the time, and constant values take almost no memory.
 */
import { OpenColumn, PAGE, type PageColumn, type Sum } from './series-page.ts'

interface Page {
  /** Page columns by column of the table; undefined while every series has gaps only. */
  readonly columns: (PageColumn | undefined)[]
}

const pageOf = (sample: number): number => Math.floor((sample - 1) / PAGE)

export class SeriesTable {
  readonly capacity: number
  readonly #at: Float64Array
  readonly #columns: readonly string[]
  readonly #isExact: readonly boolean[]
  readonly #series = new Map<string, number>()
  /** Numbers of dropped series, each with the sample after which no page contains it. */
  readonly #dropped: { readonly series: number; readonly free: number }[] = []
  #numbers = 0
  /** Ring of pages. */
  readonly #pages: (Page | undefined)[]
  /** Columns of the open page. */
  #open: (OpenColumn | undefined)[] = []
  /** Scratch buffer for the values of one series. */
  #row = new Float64Array(PAGE)
  readonly #sum: Sum = { sum: 0, count: 0 }
  /** Number of samples ever pushed; sample numbers run from 1. */
  #pushed = 0

  /**
   * @param capacity  number of samples kept.
   * @param columns   measures of every series, for example `rpcs`, `record`; stored with 24 bits of precision.
   * @param exact     columns stored as doubles, because their sums must be exact.
   */
  constructor(capacity: number, columns: readonly string[], exact: readonly string[] = []) {
    this.capacity = capacity
    this.#columns = columns
    this.#isExact = columns.map((c) => exact.includes(c))
    this.#at = new Float64Array(capacity).fill(NaN)
    // One page more: the oldest and the newest are partial.
    this.#pages = new Array<Page | undefined>(Math.ceil(capacity / PAGE) + 1).fill(undefined)
  }

  get newest(): number {
    return this.#pushed
  }

  get oldest(): number {
    return Math.max(1, this.#pushed - this.capacity + 1)
  }

  get names(): IterableIterator<string> {
    return this.#series.keys()
  }

  /** Opens the next sample; every series is a gap in it until it is set. */
  push(atMs: number): number {
    this.#at[this.#pushed % this.capacity] = atMs
    this.#pushed++
    if ((this.#pushed - 1) % PAGE === 0) this.#nextPage()
    return this.#pushed
  }

  /** Sets the measures of a series in the newest sample, in the order of the table's columns. */
  set(name: string, ...values: readonly number[]): void {
    const series = this.#series.get(name) ?? this.#add(name)
    const at = (this.#pushed - 1) % PAGE
    const columns = Math.min(values.length, this.#columns.length)
    for (let c = 0; c < columns; c++) this.#put(series, c, at, values[c] as number)
  }

  /** Sets the newest sample to the means of another table with the same columns, over its samples [from, to]. */
  setMeans(of: SeriesTable, from: number, to: number): void {
    const at = (this.#pushed - 1) % PAGE
    // Skips columns without any value (records without a controller) instead of scanning ten thousand jobs.
    const columns = this.#columns.map((_, c) => c).filter((c) => of.#hasAny(c, from, to))
    if (columns.length === 0) return
    for (const [name, number] of of.#series) {
      let series = this.#series.get(name)
      for (const c of columns) {
        const mean = of.#mean(number, c, to, to - from + 1)
        if (mean !== mean) continue
        series ??= this.#add(name)
        this.#put(series, c, at, mean)
      }
    }
  }

  drop(name: string): void {
    const series = this.#series.get(name)
    if (series === undefined) return
    this.#series.delete(name)
    this.#dropped.push({ series, free: this.#pushed + this.capacity + 2 * PAGE })
  }

  /** Time of a sample; NaN if it is not in the ring. */
  atMs(sample: number): number {
    return this.#has(sample) ? (this.#at[(sample - 1) % this.capacity] as number) : NaN
  }

  /** One value; NaN for a gap. */
  value(name: string, column: number, sample: number): number {
    const series = this.#series.get(name)
    if (series === undefined || !this.#has(sample)) return NaN
    return this.#read(series, column, sample, sample)[0] as number
  }

  /** Mean of the values in the last `n` samples up to `sample`; gaps do not count; NaN when all are gaps. */
  mean(name: string, column: number, sample: number, n: number): number {
    const series = this.#series.get(name)
    return series === undefined ? NaN : this.#mean(series, column, sample, n)
  }

  /** Means of many series over the same samples; NaN where all of them are gaps. */
  means(names: readonly string[], column: number, sample: number, n: number): Float64Array {
    const out = new Float64Array(names.length)
    for (let k = 0; k < names.length; k++) out[k] = this.mean(names[k] as string, column, sample, n)
    return out
  }

  /** First sample at or after a time, at most `newest`. */
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
   * Means of a series over spans of `step` samples from `from` on; the last span may be shorter. Samples outside the ring are
   * gaps.
   *
   * @returns  one value per span; null where every sample of it is a gap.
   */
  downsample(name: string, column: number, from: number, to: number, step: number): (number | null)[] {
    const series = this.#series.get(name)
    const low = Math.max(from, this.oldest)
    const high = Math.min(to, this.#pushed)
    const row = series === undefined || high < low ? undefined : this.#read(series, column, low, high)
    const out: (number | null)[] = []
    for (let a = from; a <= to; a += step) {
      const b = Math.min(a + step, high + 1)
      let sum = 0
      let count = 0
      for (let s = Math.max(a, low); row && s < b; s++) {
        const v = row[s - low] as number
        if (v === v) {
          sum += v
          count++
        }
      }
      out.push(count === 0 ? null : sum / count)
    }
    return out
  }

  /** Times of the same spans: of the last sample in each. */
  times(from: number, to: number, step: number): number[] {
    const out: number[] = []
    for (let a = from; a <= to; a += step) out.push(this.atMs(Math.min(a + step - 1, to)))
    return out
  }

  /**
   * Sample range of a window, divided into spans whose borders are multiples of the span: they stay fixed while the window
   * moves, so a chart does not flicker. The first span may start before the oldest sample.
   *
   * @param points  maximum number of spans, >= 2.
   */
  window(to: number, windowMs: number, points: number): { from: number; to: number; step: number } {
    const first = this.sampleAt(this.atMs(to) - windowMs)
    // Aligned borders produce one span more than the samples alone would need.
    const step = to - first < points ? 1 : Math.ceil((to - first) / (points - 1))
    return { from: Math.floor(first / step) * step, to, step }
  }

  #has(sample: number): boolean {
    return sample >= this.oldest && sample <= this.#pushed && sample >= 1
  }

  #mean(series: number, column: number, sample: number, n: number): number {
    const from = Math.max(this.oldest, sample - n + 1)
    const to = Math.min(sample, this.#pushed)
    const into = this.#sum
    into.sum = into.count = 0
    for (let at = from; at <= to;) {
      const page = pageOf(at)
      const start = page * PAGE + 1
      const end = Math.min(to, start + PAGE - 1)
      this.#pages[page % this.#pages.length]?.columns[column]?.add(series, at - start, end - start + 1, into)
      at = end + 1
    }
    return into.count === 0 ? NaN : into.sum / into.count
  }

  /** Values of samples [from, to], all in the ring; valid until the next read. */
  #read(series: number, column: number, from: number, to: number): Float64Array {
    const length = to - from + 1
    if (this.#row.length < length) this.#row = new Float64Array(2 * length)
    const row = this.#row
    for (let sample = from; sample <= to;) {
      const page = pageOf(sample)
      const start = page * PAGE + 1
      const end = Math.min(to, start + PAGE - 1)
      const values = this.#pages[page % this.#pages.length]?.columns[column]
      if (values) values.read(series, sample - start, end - start + 1, row, sample - from)
      else row.fill(NaN, sample - from, end - from + 1)
      sample = end + 1
    }
    return row
  }

  #hasAny(column: number, from: number, to: number): boolean {
    for (let page = pageOf(from); page <= pageOf(to); page++) {
      if (this.#pages[page % this.#pages.length]?.columns[column]) return true
    }
    return false
  }

  #put(series: number, column: number, at: number, value: number): void {
    let open = this.#open[column]
    if (!open) {
      // A gap opens no column; `at` is -1 before the first sample.
      if (value !== value || at < 0) return
      open = new OpenColumn(this.#isExact[column] === true, this.#numbers)
      this.#open[column] = open
      const page = this.#pages[pageOf(this.#pushed) % this.#pages.length]
      if (page) page.columns[column] = open
    }
    open.set(series, at, value)
  }

  /** Seals the full page and replaces the oldest page with a new one. */
  #nextPage(): void {
    const page = pageOf(this.#pushed)
    const full = this.#pages[(page + this.#pages.length - 1) % this.#pages.length]
    if (full) this.#open.forEach((column, c) => (full.columns[c] = column?.seal()))
    this.#open = []
    this.#pages[page % this.#pages.length] = { columns: [] }
  }

  #add(name: string): number {
    const [oldest] = this.#dropped
    const isFree = oldest !== undefined && oldest.free < this.#pushed
    if (isFree) this.#dropped.shift()
    const series = isFree ? oldest.series : this.#numbers++
    this.#series.set(name, series)
    return series
  }
}
