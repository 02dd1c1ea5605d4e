/** Latency histogram in bins of 1 us, from post to completion of every I/O, in constant memory. */
import { NS_PER_US } from '../../base/units.ts'

const BINS = 16_384

export interface LatencySummary {
  readonly count: number
  /** us. Quantiles are bin centers; latencies above 16 ms count as the maximum. */
  readonly mean: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

export class LatencyHistogram {
  readonly #bins = new Float64Array(BINS + 1)
  #count = 0
  #sumNs = 0
  #maxNs = 0

  record(ns: number): void {
    const bin = (ns / NS_PER_US) | 0
    const at = bin < BINS ? bin : BINS
    this.#bins[at] = (this.#bins[at] as number) + 1
    this.#count++
    this.#sumNs += ns
    if (ns > this.#maxNs) this.#maxNs = ns
  }

  clear(): void {
    this.#bins.fill(0)
    this.#count = 0
    this.#sumNs = 0
    this.#maxNs = 0
  }

  addTo(sum: LatencyHistogram): void {
    for (let i = 0; i <= BINS; i++) sum.#bins[i] = (sum.#bins[i] as number) + (this.#bins[i] as number)
    sum.#count += this.#count
    sum.#sumNs += this.#sumNs
    sum.#maxNs = Math.max(sum.#maxNs, this.#maxNs)
  }

  summary(): LatencySummary {
    const mean = this.#count === 0 ? 0 : this.#sumNs / this.#count / NS_PER_US
    const max = this.#maxNs / NS_PER_US
    return { count: this.#count, mean, p50: this.at(0.5), p99: this.at(0.99), p999: this.at(0.999), max }
  }

  /** us, at the center of a bin. */
  at(quantile: number): number {
    let remaining = Math.ceil(this.#count * quantile)
    for (let i = 0; i < BINS; i++) {
      remaining -= this.#bins[i] as number
      if (remaining <= 0) return this.#count === 0 ? 0 : i + 0.5
    }
    return this.#maxNs / NS_PER_US
  }
}
