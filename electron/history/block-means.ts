/** Means over an interval, computed from the blocks in it. */
import { KINDS, pack, type Packed, RECORD, RECORD_REST, WIDTH, type Kind } from './block.ts'
import type { Block } from './reader.ts'

/**
 * Mean of each series, column by column, over the instants added. A job that an instant does not name was idle and counts as zero;
 * a target that is not named was not measured; neither counts where it has a gap. A job's record is the last one named.
 */
export class BlockMeans {
  readonly #kind: Kind
  readonly #width: number
  #instants = 0
  readonly #slots = new Map<number, number>()
  #keys = new Uint32Array(64)
  /** Number of instants that name each series. */
  #named = new Uint32Array(64)
  /** Sums by series, then column. */
  #sums: Float64Array
  #gaps: Uint32Array
  /** Keys of the previous block: nearly every block has the same series as the one before it, also across intervals. */
  #lastKeys: Uint32Array = new Uint32Array(0)
  #lastSlots: Uint32Array = new Uint32Array(0)

  constructor(kind: Kind) {
    this.#kind = kind
    this.#width = WIDTH[kind]
    this.#sums = new Float64Array(64 * this.#width)
    this.#gaps = new Uint32Array(64 * this.#width)
  }

  get instants(): number {
    return this.#instants
  }

  add({ keys, columns }: Pick<Block, 'keys' | 'columns'>): void {
    this.#instants++
    const slots = this.#slotsOf(keys)
    const n = keys.length
    const width = this.#width
    const sums = this.#sums
    const gaps = this.#gaps
    const named = this.#named
    for (let i = 0; i < n; i++) {
      const slot = slots[i] as number
      named[slot] = (named[slot] as number) + 1
    }
    for (let c = 0; c < width; c++) {
      const column = columns[c] as Float32Array
      const isLast = this.#kind === KINDS.jobs && (c === RECORD || c === RECORD_REST)
      for (let i = 0; i < n; i++) {
        const at = (slots[i] as number) * width + c
        const v = column[i] as number
        if (isLast) sums[at] = v
        else if (v === v) sums[at] = (sums[at] as number) + v
        else gaps[at] = (gaps[at] as number) + 1
      }
    }
  }

  /** Packs the means as a block and resets; undefined if no instant was added. */
  end(): Packed | undefined {
    if (this.#instants === 0) return undefined
    const size = this.#slots.size
    const width = this.#width
    // Slots are reused between intervals: those not named in this one are skipped.
    const slots = new Uint32Array(size)
    let n = 0
    for (let slot = 0; slot < size; slot++) if ((this.#named[slot] as number) > 0) slots[n++] = slot
    const keys = new Uint32Array(n)
    for (let i = 0; i < n; i++) keys[i] = this.#keys[slots[i] as number] as number
    const columns = Array.from({ length: width }, () => new Float32Array(n))
    for (let c = 0; c < width; c++) {
      const out = columns[c] as Float32Array
      const isLast = this.#kind === KINDS.jobs && (c === RECORD || c === RECORD_REST)
      for (let i = 0; i < n; i++) {
        const slot = slots[i] as number
        const sum = this.#sums[slot * width + c] as number
        const instants = this.#kind === KINDS.jobs ? this.#instants : (this.#named[slot] as number)
        // 0/0 is NaN, a gap.
        out[i] = isLast ? sum : sum / (instants - (this.#gaps[slot * width + c] as number))
      }
    }
    const packed = pack(this.#kind, { n, keys, columns })
    this.#instants = 0
    this.#named.fill(0, 0, size)
    this.#sums.fill(0, 0, size * width)
    this.#gaps.fill(0, 0, size * width)
    // Series that no longer occur are dropped when they are half of all.
    if (2 * n < size) {
      this.#slots.clear()
      this.#lastKeys = new Uint32Array(0)
    }
    return packed
  }

  #slotsOf(keys: Uint32Array): Uint32Array {
    const last = this.#lastKeys
    let isSame = last.length === keys.length && this.#lastSlots.length === keys.length
    for (let i = 0; i < keys.length && isSame; i++) isSame = last[i] === keys[i]
    if (isSame) return this.#lastSlots
    const slots = new Uint32Array(keys.length)
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as number
      let slot = this.#slots.get(key)
      if (slot === undefined) {
        slot = this.#slots.size
        this.#slots.set(key, slot)
        if (slot === this.#keys.length) this.#grow()
        this.#keys[slot] = key
      }
      slots[i] = slot
    }
    this.#lastKeys = keys
    this.#lastSlots = slots
    return slots
  }

  #grow(): void {
    const size = this.#keys.length * 2
    const longer = <T extends Uint32Array | Float64Array>(made: T, old: T): T => {
      made.set(old)
      return made
    }
    this.#keys = longer(new Uint32Array(size), this.#keys)
    this.#named = longer(new Uint32Array(size), this.#named)
    this.#sums = longer(new Float64Array(size * this.#width), this.#sums)
    this.#gaps = longer(new Uint32Array(size * this.#width), this.#gaps)
  }
}
