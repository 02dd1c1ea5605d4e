/** Counters of the servers' stats tables. */
import type { PrintableCounter } from '../lustre/job-stats-print.ts'
import { sizeBin } from '../lustre/size-histogram.ts'

/** Sum of squares; moves into a bigint before it exceeds 2^53. */
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

/** Live counter: samples, smallest, largest, sum and sum of squares, and optionally bins by size. */
export class LiveCounter implements PrintableCounter {
  samples = 0
  min = 0
  max = 0
  sum = 0
  readonly hist = new Map<number, number>()
  #squares = new SumOfSquares()

  get sumsq(): string {
    return this.#squares.toString()
  }

  add(value: number, binned = false): void {
    if (this.samples === 0 || value < this.min) this.min = value
    if (value > this.max) this.max = value
    this.samples++
    this.sum += value
    this.#squares.add(value)
    if (binned) {
      const bin = sizeBin(value)
      this.hist.set(bin, (this.hist.get(bin) ?? 0) + 1)
    }
  }

  clear(): void {
    this.samples = 0
    this.min = 0
    this.max = 0
    this.sum = 0
    this.hist.clear()
    this.#squares = new SumOfSquares()
  }
}

/** A table of counters by name, like `stats` and `md_stats`: in order of first use, with the time since which it counts. */
export class CounterTable {
  readonly #counters = new Map<string, LiveCounter>()
  /** Created or last cleared, virtual ns. */
  startNs: number

  constructor(now = 0) {
    this.startNs = now
  }

  /** Returns the counter of a name; it stays valid for the life of the table. */
  counter(name: string): LiveCounter {
    let c = this.#counters.get(name)
    if (!c) this.#counters.set(name, (c = new LiveCounter()))
    return c
  }

  count(_now: number, name: string, value: number): void {
    this.counter(name).add(value)
  }

  /** Counters by name; those unchanged since the last clear have no samples. */
  get counters(): ReadonlyMap<string, PrintableCounter> {
    return this.#counters
  }

  clear(now: number): void {
    for (const c of this.#counters.values()) c.clear()
    this.startNs = now
  }
}
