/** Means over an interval, computed from the blocks in it. */
import { OTHERS_KEY, othersValue, planeRank, planeTableOf, type RollUpOf } from '#core/series/plane-tables.ts'
import { KINDS, pack, ROLL_UPS, type Columns, type Kind, type Packed } from './block.ts'
import type { Block } from './reader.ts'

/**
 * Mean of each series over the instants added, or what else its column is rolled up by (`RollUpOf`). A job, or a series of a plane's
 * rate, that an instant does not name was idle and counts as zero; a target that is not named was not measured; none counts where
 * it has a gap.
 */
export class BlockMeans {
  readonly #kind: Kind
  readonly #rollUps: readonly RollUpOf[]
  readonly #width: number
  #instants = 0
  readonly #slots = new Map<number, number>()
  #keys = new Uint32Array(64)
  /** Number of instants that name each series. */
  #named = new Uint32Array(64)
  /** Sums by series, then column; of a column that is not summed its largest, smallest or last value. */
  #sums: Float64Array
  #gaps: Uint32Array
  /** Keys of the previous block: nearly every block has the same series as the one before it, also across intervals. */
  #lastKeys: Uint32Array = new Uint32Array(0)
  #lastSlots: Uint32Array = new Uint32Array(0)

  constructor(kind: Kind) {
    this.#kind = kind
    this.#rollUps = ROLL_UPS.get(kind) ?? []
    this.#width = this.#rollUps.length
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
      const rollUp = this.#rollUps[c] as RollUpOf
      if (rollUp === 'last') for (let i = 0; i < n; i++) sums[(slots[i] as number) * width + c] = column[i] as number
      else if (rollUp === 'max' || rollUp === 'min') this.#addExtreme(c, column, slots, rollUp === 'max')
      else {
        for (let i = 0; i < n; i++) {
          const at = (slots[i] as number) * width + c
          const v = column[i] as number
          if (v === v) sums[at] = (sums[at] as number) + v
          else gaps[at] = (gaps[at] as number) + 1
        }
      }
    }
  }

  #addExtreme(c: number, column: Float32Array, slots: Uint32Array, isMax: boolean): void {
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i] as number
      const at = slot * this.#width + c
      const v = column[i] as number
      const sum = this.#sums[at] as number
      const isFirst = (this.#named[slot] as number) - 1 === this.#gaps[at]
      if (v !== v) this.#gaps[at] = (this.#gaps[at] as number) + 1
      else if (isFirst || (isMax ? v > sum : v < sum)) this.#sums[at] = v
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
      const rollUp = this.#rollUps[c] as RollUpOf
      const isRate = rollUp === 'rate'
      for (let i = 0; i < n; i++) {
        const slot = slots[i] as number
        const sum = this.#sums[slot * width + c] as number
        const named = this.#named[slot] as number
        const gaps = this.#gaps[slot * width + c] as number
        if (rollUp === 'last') out[i] = sum
        // Never measured where it was named. A job that is idle beside its gaps was idle.
        else if (gaps === named && this.#kind !== KINDS.jobs) out[i] = NaN
        else if (rollUp === 'max' || rollUp === 'min') out[i] = sum
        // 0/0 is NaN, a gap.
        else out[i] = sum / ((isRate ? this.#instants : named) - gaps)
      }
    }
    const packed = pack(this.#kind, withinMost(this.#kind, { n, keys, columns }))
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

/**
 * Rows of a plane's table within its limit: an interval names every series that had a row in any of its periods. The least ranked
 * are added to the row of the others.
 */
function withinMost(kind: Kind, rows: Columns): Columns {
  const table = planeTableOf(kind)
  const { n, keys, columns } = rows
  if (!table || n <= table.most + 1) return rows
  const own = Array.from({ length: n }, (_, i) => i).filter((i) => keys[i] !== OTHERS_KEY)
  const ranks = own.map((i) => ({ i, rank: planeRank(table, (c) => (columns[c] as Float32Array)[i] as number) }))
  ranks.sort((a, b) => b.rank - a.rank || (keys[a.i] as number) - (keys[b.i] as number))
  const kept = ranks.slice(0, table.most).map((r) => r.i)
  const isKept = new Set(kept)
  const folded = Array.from({ length: n }, (_, i) => i).filter((i) => !isKept.has(i))
  return {
    n: kept.length + 1,
    keys: Uint32Array.from([...kept.map((i) => keys[i] as number), OTHERS_KEY]),
    columns: table.columns.map((column, c) => {
      const values = columns[c] as Float32Array
      const others = othersValue(
        column,
        folded.map((i) => values[i] as number),
      )
      return Float32Array.from([...kept.map((i) => values[i] as number), others])
    }),
  }
}
