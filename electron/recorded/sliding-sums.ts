/** Sums over the jobs of a run of slots, updated as the window moves instead of being recomputed. */
import type { Block } from '../history/reader.ts'
import type { BlockCache } from './block-cache.ts'
import type { Grid } from './grid-slots.ts'
import type { RecordedJobRegistry } from './job-registry.ts'
import { ReadValues } from './read-values.ts'

/** Sums of one column. */
interface Sums {
  from: number
  to: number
  moves: number
  readonly sums: Float64Array
  readonly gaps: Float64Array
  /** Total of the gaps. */
  gapped: number
}

/** Sliding sums per column and length, which are requested frame after frame. */
export class SlidingSums {
  readonly #held = new Map<string, Sums>()
  /** Values of single rows of charts, cached beside the sums over all. */
  readonly values = new ReadValues()
  readonly #cache: BlockCache
  readonly #registry: RecordedJobRegistry
  readonly #grid: Grid

  constructor(cache: BlockCache, registry: RecordedJobRegistry, grid: Grid) {
    this.#cache = cache
    this.#registry = registry
    this.#grid = grid
  }

  /** @returns  sums of the values in [from, to], by slot of the job registry, and the gaps among them. */
  over(column: number, from: number, to: number): Sums {
    const name = `${column} ${to - from}`
    let held = this.#held.get(name)
    const isNear = held && Math.abs(held.to - to) <= (to - from) / 4 && held.moves < 1000
    if (!held || !isNear || held.sums.length < this.#registry.size) {
      const capacity = Math.ceil(this.#registry.size * 1.25) + 64
      held = {
        from,
        to: from - 1,
        moves: 0,
        sums: new Float64Array(capacity),
        gaps: new Float64Array(capacity),
        gapped: 0,
      }
    }
    if (held.to + 1 === to && held.from + 1 === from) this.#move(held, column, ++held.to, held.from++, 1)
    if (held.to - 1 === to && held.from - 1 === from) this.#move(held, column, held.to--, --held.from, -1)
    while (held.to < to) this.#add(held, column, ++held.to, 1)
    while (held.to > to) this.#add(held, column, held.to--, -1)
    while (held.from < from) this.#add(held, column, held.from++, -1)
    while (held.from > from) this.#add(held, column, --held.from, 1)
    // A job registered during the summation did not fit into the arrays.
    if (held.sums.length < this.#registry.size) return this.over(column, from, to)
    this.#held.delete(name)
    this.#held.set(name, held)
    if (this.#held.size > 24) this.#held.delete(this.#held.keys().next().value as string)
    return held
  }

  /**
   * Adds one slot and subtracts another in one pass, for a step of the window. `sign` is that of `a`, which is applied
   * first.
   */
  #move(held: Sums, column: number, a: number, b: number, sign: 1 | -1): void {
    const x = this.#blockAt(a)
    const y = this.#blockAt(b)
    const of = x && this.#registry.slotsIn(x)
    const ofY = y && this.#registry.slotsIn(y)
    const first = x?.columns[column]
    const second = y?.columns[column]
    if (!of || of !== ofY || !first || !second) {
      this.#add(held, column, a, sign)
      this.#add(held, column, b, sign === 1 ? -1 : 1)
      return
    }
    held.moves += 2
    const { sums } = held
    for (let i = 0; i < of.length; i++) {
      const at = of[i] as number
      const v = first[i] as number
      const w = second[i] as number
      let sum = sums[at] as number
      if (v === v) sum += sign * v
      else this.#gap(held, at, sign)
      if (w === w) sum -= sign * w
      else this.#gap(held, at, -sign)
      sums[at] = sum
    }
  }

  #gap(held: Sums, at: number, by: number): void {
    held.gaps[at] = (held.gaps[at] as number) + by
    held.gapped += by
  }

  #blockAt(slot: number): Block | undefined {
    return this.#cache.block('jobs', this.#grid.tier.id, this.#grid.atMs(slot))
  }

  #add(held: Sums, column: number, slot: number, sign: 1 | -1): void {
    held.moves++
    const block = this.#blockAt(slot)
    const values = block?.columns[column]
    if (!block || !values) return
    const of = this.#registry.slotsIn(block)
    const { sums } = held
    for (let i = 0; i < of.length; i++) {
      const v = values[i] as number
      const at = of[i] as number
      if (v === v) sums[at] = (sums[at] as number) + sign * v
      else this.#gap(held, at, sign)
    }
  }
}
