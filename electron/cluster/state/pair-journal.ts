/**
 * Recent moves between pairs of jobs, sample by sample: they allow reconstructing the debts at any sample still in
 * memory, by reverting later moves.
 */
import type { PairMove } from '#core/adaptbf/pair-accounts.ts'

/** Most samples: as many as a cluster has in memory. */
const SAMPLES_MAX = 1_800
/** Most moves of all samples, about 20 MB. */
const MOVES_MAX = 200_000

export interface JournalSample {
  readonly sample: number
  readonly atMs: number
  readonly targets: { readonly target: string; readonly moves: readonly PairMove[] }[]
}

export class PairJournal {
  #samples: JournalSample[] = []
  #moves = 0
  /** Newest sample with dropped moves. */
  #goneTo = 0

  add(sample: number, atMs: number, target: string, moves: readonly PairMove[]): void {
    if (moves.length === 0) return
    let last = this.#samples.at(-1)
    if (last?.sample !== sample) this.#samples.push((last = { sample, atMs, targets: [] }))
    last.targets.push({ target, moves })
    this.#moves += moves.length
    this.#trim(sample)
  }

  /** Drops everything and starts without debts. */
  clear(sample: number): void {
    this.#samples = []
    this.#moves = 0
    this.#goneTo = sample
  }

  /** True if all moves after a sample are stored. */
  reaches(sample: number): boolean {
    return sample >= this.#goneTo
  }

  /** Time of the oldest stored moves; Infinity without any. */
  get fromMs(): number {
    return this.#samples[0]?.atMs ?? Infinity
  }

  /** Samples with moves, newest first, from `from` down to after `to`. */
  *back(from: number, to = 0): Generator<JournalSample> {
    for (let i = this.#samples.length - 1; i >= 0; i--) {
      const s = this.#samples[i]!
      if (s.sample <= to) return
      if (s.sample <= from) yield s
    }
  }

  #trim(sample: number): void {
    let gone = 0
    while (gone < this.#samples.length - 1) {
      const oldest = this.#samples[gone]!
      if (oldest.sample > sample - SAMPLES_MAX && this.#moves <= MOVES_MAX) break
      for (const { moves } of oldest.targets) this.#moves -= moves.length
      this.#goneTo = oldest.sample
      gone++
    }
    if (gone > 0) this.#samples.splice(0, gone)
  }
}
