/**
 * Recorded series for charts: samples are numbered by the intervals of a tier, so that an interval without a sample has
 * a number too and is drawn as a gap. The last intervals may come from memory if the store has not rolled them up yet.
 */
import type { SeriesRead } from '../cluster/cluster-view.ts'
import type { Block } from '../history/reader.ts'
import { positionOf, type BlockCache } from './block-cache.ts'
import type { Grid } from './grid-slots.ts'
import type { RecordedJobRegistry } from './job-registry.ts'
import { ReadValues } from './read-values.ts'
import type { SlidingSums } from './sliding-sums.ts'
import { recordIn, type JobsAt } from './state-at.ts'
import { JOB_AT } from './sample-table.ts'
import { JOB_COLUMNS as LIVE_JOB } from '../cluster/state/recent.ts'
import { TOTAL_AT, type Totals } from './totals.ts'

const RECORD = LIVE_JOB.indexOf('record')

/** Values after the last stored interval; NaN if there are none. */
export interface Tail {
  job(name: string, column: number, fromMs: number, toMs: number): number
  total(column: number, fromMs: number, toMs: number): number
}

abstract class GridTable implements SeriesRead {
  readonly grid: Grid
  readonly newest: number
  readonly oldest: number
  abstract readonly names: Iterable<string>

  constructor(grid: Grid, newest: number) {
    this.grid = grid
    this.newest = newest
    this.oldest = Math.min(newest, grid.slotOf(grid.tier.fromMs))
  }

  atMs(slot: number): number {
    return this.grid.atMs(slot)
  }
  sampleAt(atMs: number): number {
    return Math.min(this.newest, Math.max(this.oldest, this.grid.slotOf(atMs)))
  }
  times(from: number, to: number, step: number): number[] {
    const out: number[] = []
    for (let a = from; a <= to; a += step) out.push(this.atMs(Math.min(a + step - 1, to)))
    return out
  }
  window(to: number, windowMs: number, points: number): { from: number; to: number; step: number } {
    const first = this.sampleAt(this.atMs(to) - windowMs)
    const step = to - first < points ? 1 : Math.ceil((to - first) / (points - 1))
    return { from: Math.floor(first / step) * step, to, step }
  }
  downsample(name: string, column: number, from: number, to: number, step: number): (number | null)[] {
    const read = this.reader(name, column, from, to)
    const out: (number | null)[] = []
    for (let a = from; a <= to; a += step) {
      let sum = 0
      let count = 0
      for (let s = a; s < Math.min(a + step, to + 1); s++) {
        const v = read(s)
        if (v !== v) continue
        sum += v
        count++
      }
      out.push(count === 0 ? null : sum / count)
    }
    return out
  }
  value(name: string, column: number, slot: number): number {
    return this.reader(name, column, slot, slot)(slot)
  }
  mean(name: string, column: number, slot: number, n: number): number {
    return this.means([name], column, slot, n)[0] as number
  }
  means(names: readonly string[], column: number, slot: number, n: number): Float64Array {
    const from = Math.max(this.oldest, slot - n + 1)
    return Float64Array.from(names, (name) => this.downsample(name, column, from, slot, n)[0] ?? NaN)
  }
  /** Returns a reader of one series, called with ascending slots. */
  protected abstract reader(name: string, column: number, from: number, to: number): (slot: number) => number
}

export class GridTotals extends GridTable {
  readonly names: Iterable<string> = []
  readonly #totals: Totals
  readonly #tail: Tail | undefined
  /** Cached rows by slot of this window. */
  readonly #rows = new Map<number, readonly number[]>()

  constructor(grid: Grid, newest: number, totals: Totals, tail?: Tail) {
    super(grid, newest)
    this.#totals = totals
    this.#tail = tail
  }

  protected reader(_name: string, column: number): (slot: number) => number {
    const { tier } = this.grid
    const at = TOTAL_AT[column] ?? -1
    return (slot) => {
      const known = this.#rows.get(slot)
      if (known) return known[at] ?? NaN
      const atMs = this.atMs(slot)
      if (atMs > tier.toMs) return this.#tail?.total(column, atMs, atMs + tier.stepMs) ?? NaN
      const row = this.#totals.at(tier.id, atMs)
      if (row) this.#rows.set(slot, row)
      return row?.[at] ?? NaN
    }
  }
}

const NOTHING = new Float64Array()

export class GridJobs extends GridTable {
  readonly #cache: BlockCache
  readonly #registry: RecordedJobRegistry
  readonly #sums: SlidingSums
  readonly #first: number
  readonly #tail: Tail | undefined
  readonly #records: ((atMs: number) => JobsAt['records'] | undefined) | undefined
  #isFilled = false
  /** Times of the window's slots, from the first on, and their blocks. */
  #times: readonly number[] = []
  #blocks: readonly (Block | undefined)[] = []

  /** @param first  slot at which the window begins. */
  constructor(
    grid: Grid,
    newest: number,
    first: number,
    parts: { cache: BlockCache; registry: RecordedJobRegistry; sums: SlidingSums; tail?: Tail | undefined },
    records?: (atMs: number) => JobsAt['records'] | undefined,
  ) {
    super(grid, newest)
    this.#first = Math.max(this.oldest, first)
    this.#cache = parts.cache
    this.#registry = parts.registry
    this.#sums = parts.sums
    this.#tail = parts.tail
    this.#records = records
  }

  get names(): readonly string[] {
    this.#fill()
    return this.#registry.names
  }

  /** Reads the whole window on first use: all its jobs must be known before they are ranked. */
  #fill(): void {
    if (this.#isFilled) return
    this.#isFilled = true
    const { tier } = this.grid
    const times = Array.from({ length: Math.max(0, this.newest - this.#first + 1) }, (_, i) =>
      super.atMs(this.#first + i),
    )
    const instants = times.filter((t) => t <= tier.toMs)
    this.#cache.fill('jobs', tier.id, instants)
    this.#times = times
    this.#blocks = times.map((t) => (t <= tier.toMs ? this.#cache.block('jobs', tier.id, t) : undefined))
    for (const block of this.#blocks) if (block) this.#registry.slotsIn(block)
  }

  override atMs(slot: number): number {
    return this.#times[slot - this.#first] ?? super.atMs(slot)
  }

  #block(slot: number): Block | undefined {
    const i = slot - this.#first
    if (i >= 0 && i < this.#blocks.length) return this.#blocks[i]
    const atMs = this.atMs(slot)
    return atMs > this.grid.tier.toMs ? undefined : this.#cache.block('jobs', this.grid.tier.id, atMs)
  }

  override downsample(name: string, column: number, from: number, to: number, step: number): (number | null)[] {
    const at = JOB_AT[column] ?? -1
    const job = at < 0 || column === RECORD || this.#tail ? undefined : this.#registry.jobs[this.#registry.slotOf(name)]
    if (!job) return super.downsample(name, column, from, to, step)
    this.#fill()
    const { tier } = this.grid
    const bornMs = job.firstSeenMs - (tier.id === 'raw' ? 0 : tier.stepMs)
    const { slots, values } = this.#sums.values.of(job.key * JOB_AT.length + column)
    let guess = 0
    const out: (number | null)[] = []
    for (let a = from; a <= to; a += step) {
      let sum = 0
      let count = 0
      for (let s = a; s < Math.min(a + step, to + 1); s++) {
        const place = ReadValues.placeOf(s)
        let v = values[place] as number
        if (slots[place] !== s) {
          const block = this.#block(s)
          // It may still be written.
          if (!block) continue
          const i = positionOf(block.keys, job.key, guess)
          if (i >= 0) guess = i
          v = this.atMs(s) <= bornMs - 0.5 ? NaN : i < 0 ? 0 : (block.columns[at]?.[i] ?? NaN)
          slots[place] = s
          values[place] = v
        }
        if (v !== v) continue
        sum += v
        count++
      }
      out.push(count === 0 ? null : sum / count)
    }
    return out
  }

  protected reader(name: string, column: number): (slot: number) => number {
    this.#fill()
    const { tier } = this.grid
    const at = JOB_AT[column] ?? -1
    const of = this.#registry.slotOf(name)
    const job = this.#registry.jobs[of]
    const bornMs = job ? job.firstSeenMs - (tier.id === 'raw' ? 0 : tier.stepMs) : Infinity
    let guess = 0
    let lastRecord = NaN
    return (slot) => {
      const atMs = this.atMs(slot)
      if (atMs > tier.toMs) return this.#tail?.job(name, column, atMs, atMs + tier.stepMs) ?? NaN
      const block = at < 0 || !job ? undefined : this.#block(slot)
      if (!block || !job || atMs <= bornMs - 0.5) return NaN
      const i = positionOf(block.keys, job.key, guess)
      if (i >= 0) guess = i
      if (column !== RECORD) return i < 0 ? 0 : (block.columns[at]?.[i] ?? NaN)
      if (i >= 0) return (lastRecord = recordIn(block, i))
      if (lastRecord !== lastRecord) lastRecord = this.#records?.(atMs)?.[of] ?? NaN
      return lastRecord
    }
  }

  override means(names: readonly string[], column: number, slot: number, n: number): Float64Array {
    const at = JOB_AT[column] ?? -1
    const from = Math.max(this.oldest, slot - n + 1)
    if (names.length < 16 || at < 0 || column === RECORD) return super.means(names, column, slot, n)
    this.#fill()
    const { tier } = this.grid
    const last = Math.min(slot, this.grid.slotOf(tier.toMs))
    const held = last >= from ? this.#sums.over(at, from, last) : undefined
    const there: number[] = []
    for (let s = from; s <= last; s++) if (this.#block(s)) there.push(this.atMs(s))
    const slots = this.#registry.slotsOf(names)
    const firstMs = there[0] ?? Infinity
    const out = new Float64Array(names.length)
    const slack = tier.id === 'raw' ? 0 : tier.stepMs
    const births = this.#registry.firstMs
    const { sums, gaps } = held ?? { sums: NOTHING, gaps: NOTHING }
    const isJoined = this.#tail !== undefined && slot > last
    const isPlain = held?.gapped === 0 && there.length > 0 && this.#registry.latestOf(names) - slack <= firstMs
    if (isPlain && !isJoined) {
      for (let k = 0; k < out.length; k++) {
        const sum = sums[slots[k] as number] as number
        out[k] = sum > 0 ? sum / there.length : 0
      }
      return out
    }
    for (let k = 0; k < out.length; k++) {
      const of = slots[k] as number
      if (of < 0) {
        out[k] = this.#tail ? this.#withTail(names[k] as string, column, last + 1, slot, 0, 0) : NaN
        continue
      }
      const bornMs = (births[of] as number) - slack
      let count = there.length
      if (bornMs > firstMs) count = there.filter((t) => t > bornMs - 0.5).length
      if (of < gaps.length) count -= gaps[of] as number
      const sum = of < sums.length ? (sums[of] as number) : 0
      if (isJoined) out[k] = this.#withTail(names[k] as string, column, last + 1, slot, sum, count)
      // Adding and subtracting leaves a rounding error, which may be negative.
      else out[k] = count > 0 ? (sum > 0 ? sum / count : 0) : NaN
    }
    return out
  }

  #withTail(name: string, column: number, from: number, to: number, sum: number, count: number): number {
    let s = sum
    let n = count
    for (let slot = from; slot <= to; slot++) {
      const atMs = this.atMs(slot)
      const v = this.#tail?.job(name, column, atMs, atMs + this.grid.tier.stepMs) ?? NaN
      if (v !== v) continue
      s += v
      n++
    }
    return n > 0 ? s / n : NaN
  }
}
