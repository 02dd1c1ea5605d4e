/** Stored sums over the cluster, read in runs of samples, and the two time axes on which views use them. */
import type { TierId } from '#core/api/history.ts'
import { TOTAL_COLUMNS } from '../cluster/state/recent.ts'
import type { SeriesAt } from '../cluster/cluster-view.ts'
import { CLUSTER_COLUMNS, type HistoryReader } from '../history/reader.ts'
import type { Axis } from './sample-table.ts'

/** Stored column for each column in memory; -1: not stored. */
export const TOTAL_AT: readonly number[] = TOTAL_COLUMNS.map((c) => (CLUSTER_COLUMNS as readonly string[]).indexOf(c))

/** Length of one read, and cached runs. */
const RUN_MS: Readonly<Record<TierId, number>> = { raw: 60_000, '1s': 600_000, '10s': 3_600_000, '1min': 21_600_000 }
const RUNS = 200

type Row = readonly number[]

export class Totals {
  readonly #reader: HistoryReader
  readonly #runs = new Map<
    string,
    { readonly rows: ReadonlyMap<number, Row>; readonly isWhole: boolean; readonly toMs: number }
  >()

  constructor(reader: HistoryReader) {
    this.#reader = reader
  }

  /** Sums at a time, in the order of CLUSTER_COLUMNS; undefined if there is no sample. */
  at(tier: TierId, atMs: number): Row | undefined {
    const run = Math.floor(atMs / RUN_MS[tier])
    const name = `${tier} ${run}`
    let held = this.#runs.get(name)
    // The newest run grows.
    if (!held || (!held.isWhole && atMs > held.toMs)) {
      this.#runs.delete(name)
      this.#runs.set(name, (held = this.#read(tier, run)))
      if (this.#runs.size > RUNS) this.#runs.delete(this.#runs.keys().next().value as string)
    }
    return held.rows.get(atMs)
  }

  #read(tier: TierId, run: number): { rows: ReadonlyMap<number, Row>; isWhole: boolean; toMs: number } {
    const from = run * RUN_MS[tier]
    const end = (run + 1) * RUN_MS[tier]
    const { t, columns } = this.#reader.clusterBetween(tier, from, end - 1)
    const rows = new Map<number, Row>()
    t.forEach((at, i) =>
      rows.set(
        at,
        columns.map((c) => c[i] as number),
      ),
    )
    const newestMs = this.#reader.extentOf(tier)?.toMs ?? -Infinity
    return { rows, isWhole: newestMs >= end, toMs: newestMs }
  }
}

/** Sums on the axis of samples. */
export class TotalSamples implements SeriesAt {
  readonly #axis: Axis
  readonly #totals: Totals
  readonly #tier: TierId

  constructor(axis: Axis, totals: Totals, tier: TierId) {
    this.#axis = axis
    this.#totals = totals
    this.#tier = tier
  }

  get newest(): number {
    return this.#axis.newest
  }
  get oldest(): number {
    return this.#axis.oldest
  }
  atMs(sample: number): number {
    return this.#axis.atMs(sample)
  }
  sampleAt(atMs: number): number {
    return this.#axis.sampleAt(atMs)
  }
  value(_name: string, column: number, sample: number): number {
    return this.#totals.at(this.#tier, this.atMs(sample))?.[TOTAL_AT[column] ?? -1] ?? NaN
  }
  mean(name: string, column: number, sample: number, n: number): number {
    let sum = 0
    let count = 0
    for (let s = this.#axis.from(sample, n); s <= sample; s++) {
      const v = this.value(name, column, s)
      if (v !== v) continue
      sum += v
      count++
    }
    return count === 0 ? NaN : sum / count
  }
  means(names: readonly string[], column: number, sample: number, n: number): Float64Array {
    return Float64Array.from(names, (name) => this.mean(name, column, sample, n))
  }
}
