/** Aggregates all but selected jobs into one "other" row. */
import { RECORD, RECORD_REST, recordParts, widthOf, KINDS, type Columns } from './block.ts'
import { JOB_COLUMNS, type Block } from './reader.ts'
import { OTHER_JOBS_KEY } from './reduction.ts'

const COLUMNS = widthOf(KINDS.jobs)
const RPCS = JOB_COLUMNS.indexOf('rpcs')
const THROTTLED = JOB_COLUMNS.indexOf('throttled')

export class OtherJobsSum {
  readonly #all: Uint32Array
  #keys = new Uint32Array(1024)
  #columns = Array.from({ length: COLUMNS }, () => new Float32Array(1024))
  /** Positions of the other jobs in the block. */
  #otherRows = new Uint32Array(1024)
  #namedRows = new Uint32Array(1024)

  /** @param all  keys of the jobs that keep individual samples, ascending. */
  constructor(all: Uint32Array) {
    this.#all = all
  }

  /**
   * Returns the block with the other jobs summed, valid until the next call. Rates are sums, and gaps where a job has a gap. The
   * throttled share is the mean weighted by RPC/s. The record is the exact sum of those that have one. A block that names none of
   * them has no sum.
   */
  of({ keys, columns }: Block): Columns {
    this.#grow(keys.length)
    const [namedRows, otherRows] = this.#part(keys)
    const to = this.#keys
    const toColumns = this.#columns
    const first = otherRows > 0 ? 1 : 0
    for (let i = 0; i < namedRows; i++) to[first + i] = keys[this.#namedRows[i] as number] as number
    for (let c = 0; c < COLUMNS; c++) {
      const from = columns[c] as Float32Array
      const column = toColumns[c] as Float32Array
      for (let i = 0; i < namedRows; i++) column[first + i] = from[this.#namedRows[i] as number] as number
    }
    if (otherRows > 0) {
      to[0] = OTHER_JOBS_KEY
      for (let c = 0; c < COLUMNS; c++) {
        if (c !== THROTTLED && c !== RECORD && c !== RECORD_REST)
          this.#set(c, this.#sum(columns[c] as Float32Array, otherRows))
      }
      this.#set(THROTTLED, this.#throttled(columns, otherRows))
      const [lead, rest] = this.#record(columns, otherRows)
      this.#set(RECORD, lead)
      this.#set(RECORD_REST, rest)
    }
    return { n: first + namedRows, keys: to, columns: toColumns }
  }

  #set(column: number, value: number): void {
    ;(this.#columns[column] as Float32Array)[0] = value
  }

  #sum(column: Float32Array, otherRows: number): number {
    const at = this.#otherRows
    let sum = 0
    for (let i = 0; i < otherRows; i++) sum += column[at[i] as number] as number
    return sum
  }

  /** Partitions the block's positions; both its keys and those of the whole jobs ascend. */
  #part(keys: Uint32Array): readonly [kept: number, others: number] {
    const all = this.#all
    const namedRows = this.#namedRows
    const otherRows = this.#otherRows
    let w = 0
    let k = 0
    let o = 0
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as number
      while (w < all.length && (all[w] as number) < key) w++
      if (w < all.length && all[w] === key) namedRows[k++] = i
      else otherRows[o++] = i
    }
    return [k, o]
  }

  #throttled(columns: readonly Float32Array[], otherRows: number): number {
    const share = columns[THROTTLED] as Float32Array
    const rpcs = columns[RPCS] as Float32Array
    let sum = 0
    let weight = 0
    let plain = 0
    for (let i = 0; i < otherRows; i++) {
      const at = this.#otherRows[i] as number
      sum += (share[at] as number) * (rpcs[at] as number)
      weight += rpcs[at] as number
      plain += share[at] as number
    }
    return weight > 0 ? sum / weight : plain / otherRows
  }

  /** Integers below 2^48 each: their sum is exact up to 2^53, and is stored in two parts up to 2^48. */
  #record(columns: readonly Float32Array[], otherRows: number): readonly [number, number] {
    const lead = columns[RECORD] as Float32Array
    const rest = columns[RECORD_REST] as Float32Array
    let sum = 0
    let known = 0
    for (let i = 0; i < otherRows; i++) {
      const at = this.#otherRows[i] as number
      const record = (lead[at] as number) + (rest[at] as number)
      if (record === record) {
        sum += record
        known++
      }
    }
    return known === 0 ? [NaN, 0] : recordParts(sum)
  }

  #grow(n: number): void {
    if (n < this.#keys.length) return
    const size = 2 * (n + 1)
    this.#keys = new Uint32Array(size)
    this.#columns = this.#columns.map(() => new Float32Array(size))
    this.#otherRows = new Uint32Array(size)
    this.#namedRows = new Uint32Array(size)
  }
}
