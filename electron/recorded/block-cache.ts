/** Bounded cache of sample blocks: a step of the cursor reads one block, a jump reads a window. */
import type { TierId } from '#core/api/history.ts'
import type { Block, HistoryReader } from '../history/reader.ts'

/** Maximum series in all cached blocks; one takes about 30 bytes. */
const ROWS_MAX = 4_000_000

export type BlockKind = 'jobs' | 'targets'

/** Weight of a block in rows; a missing block is cached, too. */
const rowsOf = (block: Block | undefined): number => 1 + (block?.keys.length ?? 0)

export class BlockCache {
  readonly reader: HistoryReader
  readonly #held: Readonly<Record<BlockKind, Map<TierId, Map<number, Block | undefined>>>> = {
    jobs: new Map(),
    targets: new Map(),
  }
  #rows = 0
  readonly #most: number

  constructor(reader: HistoryReader, most = ROWS_MAX) {
    this.reader = reader
    this.#most = most
  }

  /** Cached rows, for tests of the bound. */
  get rows(): number {
    return this.#rows
  }

  block(kind: BlockKind, tier: TierId, atMs: number): Block | undefined {
    const held = this.#of(kind, tier)
    if (held.has(atMs)) return held.get(atMs)
    const block = this.reader[kind](tier, atMs)
    // At the end of the history a block may still be written.
    if (block || this.#isClosed(tier, atMs)) this.#keep(held, atMs, block)
    return block
  }

  /** Reads all missing blocks of a run of samples at once. */
  fill(kind: BlockKind, tier: TierId, instants: readonly number[]): void {
    const held = this.#of(kind, tier)
    const missing = instants.filter((at) => !held.has(at))
    if (missing.length < 2) return
    const from = missing[0] as number
    const to = missing.at(-1) as number
    const wanted = new Set(missing)
    const between =
      kind === 'jobs' ? this.reader.jobsBetween(tier, from, to) : this.reader.targetsBetween(tier, from, to)
    for (const block of between) if (wanted.delete(block.atMs)) this.#keep(held, block.atMs, block)
    for (const at of wanted) if (this.#isClosed(tier, at)) this.#keep(held, at, undefined)
  }

  #isClosed(tier: TierId, atMs: number): boolean {
    const extent = this.reader.extentOf(tier)
    return extent !== undefined && atMs < extent.toMs
  }

  #of(kind: BlockKind, tier: TierId): Map<number, Block | undefined> {
    const ofKind = this.#held[kind]
    let held = ofKind.get(tier)
    if (!held) ofKind.set(tier, (held = new Map<number, Block | undefined>()))
    return held
  }

  #keep(held: Map<number, Block | undefined>, atMs: number, block: Block | undefined): void {
    held.set(atMs, block)
    this.#rows += rowsOf(block)
    // Evicts the oldest blocks of the tier that holds most.
    while (this.#rows > this.#most) {
      const all = [...this.#held.jobs.values(), ...this.#held.targets.values()]
      const largest = all.reduce((a, b) => (b.size > a.size ? b : a))
      const first = largest.entries().next().value
      if (!first || (largest === held && first[0] === atMs)) return
      largest.delete(first[0])
      this.#rows -= rowsOf(first[1])
    }
  }
}

/** Position of a key in a block, or -1. `guess`: its position in the previous block. */
export function positionOf(keys: Uint32Array, key: number, guess: number): number {
  if (keys[guess] === key) return guess
  let lo = 0
  let hi = keys.length - 1
  while (lo <= hi) {
    const mid = (lo + hi) >> 1
    const k = keys[mid] as number
    if (k === key) return mid
    if (k < key) lo = mid + 1
    else hi = mid - 1
  }
  return -1
}
