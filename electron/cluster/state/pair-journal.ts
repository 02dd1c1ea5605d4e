/**
 * What moved between pairs of jobs in the recent past, sample by sample: enough to say who owed whom at any sample still in
 * memory, by taking back what came after it.
 */
import type { PairMove } from '#core/adaptbf/pair-book.ts'

/** Samples kept, the most that a cluster has in memory; and moves in all, about 20 MB. */
const SAMPLES_MAX = 1_800
const MOVES_MAX = 200_000

export interface JournalSample {
  readonly sample: number
  readonly atMs: number
  readonly targets: { readonly target: string; readonly moves: readonly PairMove[] }[]
}

export class PairJournal {
  #samples: JournalSample[] = []
  #moves = 0
  /** Newest sample of which moves are gone. */
  #goneTo = 0

  add(sample: number, atMs: number, target: string, moves: readonly PairMove[]): void {
    if (moves.length === 0) return
    let last = this.#samples.at(-1)
    if (last?.sample !== sample) this.#samples.push((last = { sample, atMs, targets: [] }))
    last.targets.push({ target, moves })
    this.#moves += moves.length
    this.#trim(sample)
  }

  /** Forgets everything: what is to come starts from nothing. */
  clear(sample: number): void {
    this.#samples = []
    this.#moves = 0
    this.#goneTo = sample
  }

  /** Whether everything that moved after a sample is here. */
  reaches(sample: number): boolean {
    return sample >= this.#goneTo
  }

  /** Instant of the oldest moves here; Infinity without any. */
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
