/** Counters as the servers' tables keep them. */
import type { PrintableCounter } from '../lustre/job-stats-print.ts'
import { sizeBin } from '../lustre/size-histogram.ts'

/** Squares outgrow 2^53 quickly; whole parts move into a bigint before they do. */
class SumOfSquares {
  #low = 0
  #high = 0n

  add(value: number): void {
    this.#low += value * value
    if (this.#low > 2 ** 50) {
      this.#high += BigInt(this.#low)
      this.#low = 0
    }
  }

  toString(): string {
    return (this.#high + BigInt(this.#low)).toString()
  }
}

/** One counter that moves: samples, smallest, largest, sum and sum of squares, and bins by size where wanted. */
export class LiveCounter implements PrintableCounter {
  samples = 0
  min = 0
  max = 0
  sum = 0
  readonly hist = new Map<number, number>()
  readonly #squares = new SumOfSquares()

  get sumsq(): string {
    return this.#squares.toString()
  }

  add(value: number, binned: boolean): void {
    this.min = this.samples === 0 ? value : Math.min(this.min, value)
    this.max = Math.max(this.max, value)
    this.samples++
    this.sum += value
    this.#squares.add(value)
    if (binned) {
      const bin = sizeBin(value)
      this.hist.set(bin, (this.hist.get(bin) ?? 0) + 1)
    }
  }
}

/**
 * A table of counters by name, as `stats` and `md_stats` are: in the order they are registered in, with the instants of its
 * start and of its last update.
 */
export class CounterTable {
  readonly #counters = new Map<string, LiveCounter>()
  /** When the table was made or last cleared, virtual ns. */
  startNs: number
  updatedNs: number

  constructor(now = 0) {
    this.startNs = now
    this.updatedNs = now
  }

  count(now: number, name: string, value: number): void {
    let c = this.#counters.get(name)
    if (!c) {
      c = new LiveCounter()
      this.#counters.set(name, c)
    }
    c.add(value, false)
    this.updatedNs = now
  }

  /** Counters that moved, by name. */
  get counters(): ReadonlyMap<string, PrintableCounter> {
    return this.#counters
  }

  clear(now: number): void {
    this.#counters.clear()
    this.startNs = now
    this.updatedNs = now
  }
}
