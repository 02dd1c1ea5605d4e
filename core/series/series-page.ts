/**
 * One column of a table over a page of consecutive samples, for all its series. Most series are constant (an idle job, a job
 * without a record) and are stored as one value and its sample range.
 *
 * A page is filled sample by sample, then sealed into a compact form that stores only changes.
 */

/**
 * Samples of a page, at most 255 because positions in a page are stored as bytes. Larger pages would cost more in the open page
 * than they save in the full ones.
 */
export const PAGE = 32

type Floats = Float32Array | Float64Array

const floats = (isExact: boolean, length: number): Floats =>
  isExact ? new Float64Array(length) : new Float32Array(length)

/** A column of a page, open or sealed. */
export interface PageColumn {
  /** Copies the values of a series at [from, to) of the page into `out`, starting at `at`. */
  read(series: number, from: number, to: number, out: Float64Array, at: number): void
  /** Adds up the values of a series at [from, to) of the page, in sample order. */
  add(series: number, from: number, to: number, sum: Sum): void
}

/** Sum of values; gaps do not count. */
export interface Sum {
  sum: number
  count: number
}

/** Adds a value `times` times, one by one, so that the rounding equals that of single values. */
function addOne(value: number, times: number, into: Sum): void {
  if (times <= 0) return
  into.count += times
  if (value !== 0) for (let i = 0; i < times; i++) into.sum += value
}

function addEach(values: Floats, from: number, to: number, into: Sum): void {
  let { sum, count } = into
  for (let i = from; i < to; i++) {
    const v = values[i] as number
    if (v === v) {
      sum += v
      count++
    }
  }
  into.sum = sum
  into.count = count
}

export class OpenColumn implements PageColumn {
  readonly #isExact: boolean
  /** Page index of each series' samples in `#values`; -1 while it has one value, valid for [first, end). */
  #rows = new Int32Array(0)
  #one: Floats
  #first = new Uint8Array(0)
  #end = new Uint8Array(0)
  #values: Floats
  #used = 0

  /** @param isExact  true to store values as doubles. */
  constructor(isExact: boolean, series: number) {
    this.#isExact = isExact
    this.#values = floats(isExact, 0)
    this.#one = floats(isExact, 0)
    this.#reach(series)
  }

  set(series: number, at: number, value: number): void {
    if (series >= this.#rows.length) this.#reach(series + 1)
    const row = this.#rows[series] as number
    if (row >= 0) {
      this.#values[row * PAGE + at] = value
      return
    }
    const end = this.#end[series] as number
    if (end === 0) {
      if (value !== value) return
      this.#one[series] = value
      this.#first[series] = at
      this.#end[series] = at + 1
      return
    }
    // Value as it will be read: the column may be of single precision.
    const known = this.#one[series] as number
    const stored = this.#isExact ? value : Math.fround(value)
    if (end === at + 1 ? stored === known : value !== value) return
    if (end === at && stored === known) this.#end[series] = at + 1
    else this.#spread(series, at, value)
  }

  read(series: number, from: number, to: number, out: Float64Array, at: number): void {
    const row = series < this.#rows.length ? (this.#rows[series] as number) : -1
    if (row >= 0) {
      for (let i = from, k = row * PAGE + from; i < to; i++) out[at++] = this.#values[k++] as number
      return
    }
    const first = this.#first[series] ?? 0
    const end = this.#end[series] ?? 0
    for (let i = from; i < to; i++) out[at++] = i >= first && i < end ? (this.#one[series] as number) : NaN
  }

  add(series: number, from: number, to: number, sum: Sum): void {
    const row = series < this.#rows.length ? (this.#rows[series] as number) : -1
    if (row >= 0) {
      addEach(this.#values, row * PAGE + from, row * PAGE + to, sum)
      return
    }
    const end = Math.min(to, this.#end[series] ?? 0)
    const first = Math.max(from, this.#first[series] ?? 0)
    if (first < end) addOne(this.#one[series] as number, end - first, sum)
  }

  /** Compact copy of the column; undefined if it is all gaps. */
  seal(): PageColumn | undefined {
    const series = this.#rows.length
    const runs = new Runs(series, this.#isExact)
    for (let s = 0; s < series; s++) {
      const row = this.#rows[s] as number
      if (row >= 0) runs.add(s, this.#values, row * PAGE)
      else if ((this.#end[s] as number) > 0)
        runs.addOne(s, this.#one[s] as number, this.#first[s] as number, this.#end[s] as number)
    }
    return runs.column()
  }

  /** Converts a series from one value to one value per sample. */
  #spread(series: number, at: number, value: number): void {
    const row = this.#used++
    if (this.#used * PAGE > this.#values.length) {
      const more = floats(this.#isExact, Math.max(4, row + (row >> 1)) * PAGE)
      more.set(this.#values)
      this.#values = more
    }
    const from = row * PAGE
    this.#values.fill(NaN, from, from + PAGE)
    this.#values.fill(
      this.#one[series] as number,
      from + (this.#first[series] as number),
      from + (this.#end[series] as number),
    )
    this.#values[from + at] = value
    this.#rows[series] = row
  }

  #reach(series: number): void {
    const length = Math.max(series, this.#rows.length + (this.#rows.length >> 1))
    const rows = new Int32Array(length).fill(-1)
    rows.set(this.#rows)
    this.#rows = rows
    const one = floats(this.#isExact, length)
    one.set(this.#one)
    this.#one = one
    const first = new Uint8Array(length)
    const end = new Uint8Array(length)
    first.set(this.#first)
    end.set(this.#end)
    this.#first = first
    this.#end = end
  }
}

/** Bytes of a run's positions: `first`, `a`, `b`, `end`. */
const PLACES = 4

/**
 * A full column. A run is the content of one series: its first value for `[first, a)`, individual values for [a, b), its last
 * value for [b, end), gaps elsewhere. Series with the same constant value and range share a run.
 */
class SealedColumn implements PageColumn {
  /** Run of each series, from 1; 0 = all gaps. A single number if all series have the same run. */
  readonly #runs: Uint16Array | Uint32Array | number
  readonly #series: number
  readonly #places: Uint8Array
  /** Two per run: the first and the last value. */
  readonly #edges: Floats
  readonly #values: Floats
  readonly #starts: Uint32Array

  constructor(
    series: number,
    runs: Uint16Array | Uint32Array | number,
    parts: {
      readonly places: Uint8Array
      readonly edges: Floats
      readonly values: Floats
      readonly starts: Uint32Array
    },
  ) {
    this.#series = series
    this.#runs = runs
    this.#places = parts.places
    this.#edges = parts.edges
    this.#values = parts.values
    this.#starts = parts.starts
  }

  read(series: number, from: number, to: number, out: Float64Array, at: number): void {
    const runs = this.#runs
    const run = series >= this.#series ? -1 : (typeof runs === 'number' ? runs : (runs[series] as number)) - 1
    if (run < 0) {
      out.fill(NaN, at, at + to - from)
      return
    }
    const p = run * PLACES
    const first = this.#places[p] as number
    const a = this.#places[p + 1] as number
    const b = this.#places[p + 2] as number
    const end = this.#places[p + 3] as number
    const low = this.#edges[2 * run] as number
    const high = this.#edges[2 * run + 1] as number
    const values = (this.#starts[run] as number) - a
    for (let i = from; i < to; i++) {
      out[at++] = i < first || i >= end ? NaN : i < a ? low : i < b ? (this.#values[values + i] as number) : high
    }
  }

  add(series: number, from: number, to: number, sum: Sum): void {
    const runs = this.#runs
    const run = series >= this.#series ? -1 : (typeof runs === 'number' ? runs : (runs[series] as number)) - 1
    if (run < 0) return
    const p = run * PLACES
    const a = this.#places[p + 1] as number
    const b = this.#places[p + 2] as number
    addOne(this.#edges[2 * run] as number, Math.min(to, a) - Math.max(from, this.#places[p] as number), sum)
    if (from < b && to > a) {
      const values = (this.#starts[run] as number) - a
      addEach(this.#values, values + Math.max(from, a), values + Math.min(to, b), sum)
    }
    addOne(this.#edges[2 * run + 1] as number, Math.min(to, this.#places[p + 3] as number) - Math.max(from, b), sum)
  }
}

/** Builds the runs of a column, series by series. */
class Runs {
  readonly #isExact: boolean
  readonly #runs: Uint32Array
  readonly #places: number[] = []
  readonly #edges: number[] = []
  readonly #starts: number[] = []
  readonly #values: number[] = []
  /** Runs of one value, by value and range. */
  readonly #shared = new Map<number, Map<number, number>>()

  constructor(series: number, isExact: boolean) {
    this.#runs = new Uint32Array(series)
    this.#isExact = isExact
  }

  /** Adds a series with individual values, from `at` on. */
  add(series: number, row: Floats, at: number): void {
    let first = 0
    while (first < PAGE && Number.isNaN(row[at + first])) first++
    if (first === PAGE) return
    let end = PAGE
    while (Number.isNaN(row[at + end - 1])) end--
    const low = row[at + first] as number
    const high = row[at + end - 1] as number
    let a = first
    while (a < end && row[at + a] === low) a++
    if (a === end) {
      this.addOne(series, low, first, end)
      return
    }
    let b = end
    while (b > a && row[at + b - 1] === high) b--
    this.#starts.push(this.#values.length)
    for (let i = a; i < b; i++) this.#values.push(row[at + i] as number)
    this.#edges.push(low, high)
    this.#runs[series] = this.#places.push(first, a, b, end) / PLACES
  }

  /** Adds a series with one value for [first, end). */
  addOne(series: number, value: number, first: number, end: number): void {
    let alike = this.#shared.get(value)
    if (!alike) this.#shared.set(value, (alike = new Map<number, number>()))
    const where = first * 256 + end
    let run = alike.get(where)
    if (run === undefined) {
      this.#starts.push(0)
      this.#edges.push(value, value)
      run = this.#places.push(first, end, end, end) / PLACES
      alike.set(where, run)
    }
    this.#runs[series] = run
  }

  column(): SealedColumn | undefined {
    const places = Uint8Array.from(this.#places)
    const count = places.length / PLACES
    if (count === 0) return undefined
    const values = floats(this.#isExact, this.#values.length)
    values.set(this.#values)
    const edges = floats(this.#isExact, this.#edges.length)
    edges.set(this.#edges)
    const starts = Uint32Array.from(this.#starts)
    const one = this.#runs[0] ?? 0
    const isAlike = this.#runs.every((run) => run === one)
    const runs = isAlike ? one : count < 65_535 ? Uint16Array.from(this.#runs) : this.#runs
    return new SealedColumn(this.#runs.length, runs, { places, edges, values, starts })
  }
}
