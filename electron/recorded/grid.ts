/**
 * Recorded series for charts: samples are numbered by the intervals of a tier, so that an interval without a sample has a number too and
 * is drawn as a gap. The last intervals may come from memory, where the store has not rolled them up yet.
 */
import type { SeriesRead } from '../cluster/viewed.ts'
import type { Block } from '../history/reader.ts'
import { positionOf, type BlockCache } from './block-cache.ts'
import type { JobBook } from './job-book.ts'
import { recordIn, type Stand } from './standing.ts'
import { JOB_AT, type Axis } from './sample-table.ts'
import { JOB_COLUMNS as LIVE_JOB } from '../cluster/recent.ts'
import type { KeptTier } from './tiers.ts'
import { TOTAL_AT, type Totals } from './totals.ts'

const RECORD = LIVE_JOB.indexOf('record')

/** Values after the last interval that is kept; NaN where there are none. */
export interface Tail {
  job(name: string, column: number, fromMs: number, toMs: number): number
  total(column: number, fromMs: number, toMs: number): number
}

/** Intervals of a tier as numbers. */
export class Grid {
  readonly tier: KeptTier
  /** Instants of raw samples, which lie on no grid of their own. */
  readonly #axis: Axis | undefined
  readonly #zeroMs: number

  constructor(tier: KeptTier, axis?: Axis) {
    this.tier = tier
    this.#axis = tier.id === 'raw' ? axis : undefined
    this.#zeroMs = tier.id === 'raw' ? tier.fromMs : 0
  }

  /** The interval that an instant is in; of raw samples the nearest one. */
  slotOf(atMs: number): number {
    const at = (atMs - this.#zeroMs) / this.tier.stepMs
    return this.#axis ? Math.round(at) + 1 : Math.floor(at)
  }

  /** Instant of the sample of a slot, of its beginning where it has none. */
  atMs(slot: number): number {
    const at = this.#zeroMs + (this.#axis ? slot - 1 : slot) * this.tier.stepMs
    if (!this.#axis) return at
    const near = this.#axis.sampleAt(at - this.tier.stepMs / 2)
    const found = this.#axis.atMs(near)
    return Math.abs(found - at) <= 0.75 * this.tier.stepMs ? found : at
  }

  /** Last slot that is over at an instant: a picture of the past never holds what came after it. */
  lastBefore(atMs: number): number {
    return this.#axis ? this.slotOf(atMs) : this.slotOf(atMs + 1) - 1
  }
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
      let [sum, count] = [0, 0]
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
  /** How one series is read, slot after slot, upwards. */
  protected abstract reader(name: string, column: number, from: number, to: number): (slot: number) => number
}

export class GridTotals extends GridTable {
  readonly names: Iterable<string> = []
  readonly #totals: Totals
  readonly #tail: Tail | undefined

  constructor(grid: Grid, newest: number, totals: Totals, tail?: Tail) {
    super(grid, newest)
    this.#totals = totals
    this.#tail = tail
  }

  protected reader(_name: string, column: number): (slot: number) => number {
    const { tier } = this.grid
    const at = TOTAL_AT[column] ?? -1
    return (slot) => {
      const atMs = this.atMs(slot)
      if (atMs > tier.toMs) return this.#tail?.total(column, atMs, atMs + tier.stepMs) ?? NaN
      return this.#totals.at(tier.id, atMs)?.[at] ?? NaN
    }
  }
}

/** Sums of one column over a run of slots, moved along with the window instead of being added up anew. */
interface Sums {
  from: number
  to: number
  moves: number
  readonly sums: Float64Array
  readonly gaps: Float64Array
}

/** Sums of the same columns and lengths are asked for frame after frame. */
export class SlidingSums {
  readonly #held = new Map<string, Sums>()
  readonly #cache: BlockCache
  readonly #book: JobBook
  readonly #grid: Grid

  constructor(cache: BlockCache, book: JobBook, grid: Grid) {
    this.#cache = cache
    this.#book = book
    this.#grid = grid
  }

  /** @returns  by slot of the book: the sum of what is named in [from, to], and the gaps among it. */
  over(column: number, from: number, to: number): Sums {
    const name = `${column} ${to - from}`
    let held = this.#held.get(name)
    const isNear = held && Math.abs(held.to - to) <= (to - from) / 4 && held.moves < 1000
    if (!held || !isNear || held.sums.length < this.#book.size) {
      const room = Math.ceil(this.#book.size * 1.25) + 64
      held = { from, to: from - 1, moves: 0, sums: new Float64Array(room), gaps: new Float64Array(room) }
    }
    while (held.to < to) this.#add(held, column, ++held.to, 1)
    while (held.to > to) this.#add(held, column, held.to--, -1)
    while (held.from < from) this.#add(held, column, held.from++, -1)
    while (held.from > from) this.#add(held, column, --held.from, 1)
    // A job met while it was added up had no room.
    if (held.sums.length < this.#book.size) return this.over(column, from, to)
    this.#held.delete(name)
    this.#held.set(name, held)
    if (this.#held.size > 24) this.#held.delete(this.#held.keys().next().value as string)
    return held
  }

  #add(held: Sums, column: number, slot: number, sign: 1 | -1): void {
    held.moves++
    const block = this.#cache.block('jobs', this.#grid.tier.id, this.#grid.atMs(slot))
    const values = block?.columns[column]
    if (!block || !values) return
    const of = this.#book.slotsIn(block)
    const { sums, gaps } = held
    for (let i = 0; i < of.length; i++) {
      const v = values[i] as number
      const at = of[i] as number
      if (v === v) sums[at] = (sums[at] as number) + sign * v
      else gaps[at] = (gaps[at] as number) + sign
    }
  }
}

export class GridJobs extends GridTable {
  readonly #cache: BlockCache
  readonly #book: JobBook
  readonly #sums: SlidingSums
  readonly #first: number
  readonly #tail: Tail | undefined
  /** Blocks of slots already looked up by this window. */
  readonly #blocks = new Map<number, Block | undefined>()
  readonly #records: ((atMs: number) => Stand['records'] | undefined) | undefined
  #isFilled = false
  /** Instants of the window's slots, from the first on. */
  #times: readonly number[] = []

  /** @param first  slot that the window begins in. */
  constructor(
    grid: Grid,
    newest: number,
    first: number,
    parts: { cache: BlockCache; book: JobBook; sums: SlidingSums; tail?: Tail | undefined },
    records?: (atMs: number) => Stand['records'] | undefined,
  ) {
    super(grid, newest)
    this.#first = Math.max(this.oldest, first)
    this.#cache = parts.cache
    this.#book = parts.book
    this.#sums = parts.sums
    this.#tail = parts.tail
    this.#records = records
  }

  get names(): readonly string[] {
    this.#fill()
    return this.#book.names
  }

  /** Reads the window at once, when it is first asked for: who is in it is known before anyone is ranked. */
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
    for (let s = this.#first; s <= this.newest; s++) this.#meet(this.#block(s))
  }

  override atMs(slot: number): number {
    return this.#times[slot - this.#first] ?? super.atMs(slot)
  }

  #meet(block: Block | undefined): void {
    if (block) this.#book.slotsIn(block)
  }

  #block(slot: number): Block | undefined {
    if (this.#blocks.has(slot)) return this.#blocks.get(slot)
    const atMs = this.atMs(slot)
    const block = atMs > this.grid.tier.toMs ? undefined : this.#cache.block('jobs', this.grid.tier.id, atMs)
    this.#blocks.set(slot, block)
    return block
  }

  protected reader(name: string, column: number): (slot: number) => number {
    this.#fill()
    const { tier } = this.grid
    const at = JOB_AT[column] ?? -1
    const of = this.#book.slotOf(name)
    const job = this.#book.jobs[of]
    const bornMs = job ? job.firstSeenMs - (tier.id === 'raw' ? 0 : tier.stepMs) : Infinity
    let guess = 0
    let standing = NaN
    return (slot) => {
      const atMs = this.atMs(slot)
      if (atMs > tier.toMs) return this.#tail?.job(name, column, atMs, atMs + tier.stepMs) ?? NaN
      const block = at < 0 || !job ? undefined : this.#block(slot)
      if (!block || !job || atMs <= bornMs - 0.5) return NaN
      const i = positionOf(block.keys, job.key, guess)
      if (i >= 0) guess = i
      if (column !== RECORD) return i < 0 ? 0 : (block.columns[at]?.[i] ?? NaN)
      if (i >= 0) return (standing = recordIn(block, i))
      if (standing !== standing) standing = this.#records?.(atMs)?.[of] ?? NaN
      return standing
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
    const slots = this.#book.slotsOf(names)
    const firstMs = there[0] ?? Infinity
    const out = new Float64Array(names.length)
    const slack = tier.id === 'raw' ? 0 : tier.stepMs
    const births = this.#book.firstMs
    for (let k = 0; k < names.length; k++) {
      const of = slots[k] as number
      if (of < 0) {
        out[k] = this.#tail ? this.#withTail(names[k] as string, column, last + 1, slot, 0, 0) : NaN
        continue
      }
      const bornMs = (births[of] as number) - slack
      let count = there.length
      if (bornMs > firstMs) count = there.filter((t) => t > bornMs - 0.5).length
      count -= held?.gaps[of] ?? 0
      const sum = held?.sums[of] ?? 0
      if (this.#tail && slot > last) out[k] = this.#withTail(names[k] as string, column, last + 1, slot, sum, count)
      // What was added and taken away again leaves a trace of rounding, nothing less.
      else out[k] = count > 0 ? Math.max(0, sum) / count : NaN
    }
    return out
  }

  #withTail(name: string, column: number, from: number, to: number, sum: number, count: number): number {
    let [s, n] = [sum, count]
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
