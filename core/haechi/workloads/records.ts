/**
 * Record selection of I/Os, reads or updates: YCSB-like mixes over a store of 4 KB records.
 *
 * Zipfian keys after Gray et al. (SIGMOD 1994), as YCSB draws them (constant 0.99), spread over the store by a hash so that hot records
 * are not adjacent. In simulation a record is the count of its updates; its bytes exist only in a real-memory node.
 */
import type { RandomStream } from '../../base/random.ts'
import { invariant } from '../../base/result.ts'

export const RECORD_BYTES = 4096

export interface RecordMix {
  /** Records in the store: 1 M in the paper. */
  readonly records: number
  readonly keys: 'uniform' | 'zipfian'
  /** Share of READs; the rest are WRITEs: 0.5 YCSB A, 0.95 B, 1 C. */
  readonly reads: number
}

const THETA = 0.99

/** Draws ranks 0 .. n-1, 0 the most frequent. */
export class ZipfianRanks {
  readonly #n: number
  readonly #random: RandomStream
  readonly #zetan: number
  readonly #alpha = 1 / (1 - THETA)
  readonly #eta: number
  readonly #second: number

  constructor(n: number, random: RandomStream) {
    invariant(Number.isInteger(n) && n >= 1, 'there is a record to draw')
    this.#n = n
    this.#random = random
    let zeta = 0
    for (let i = 1; i <= n; i++) zeta += i ** -THETA
    this.#zetan = zeta
    this.#second = 1 + 2 ** -THETA
    this.#eta = n < 3 ? 1 : (1 - (2 / n) ** (1 - THETA)) / (1 - this.#second / zeta)
  }

  next(): number {
    const u = this.#random.uniform()
    const uz = u * this.#zetan
    if (uz < 1 || this.#n === 1) return 0
    if (uz < this.#second || this.#n === 2) return 1
    return Math.min(this.#n - 1, Math.floor(this.#n * (this.#eta * u - this.#eta + 1) ** this.#alpha))
  }
}

/** Records of one node with their update counts. */
export class RecordStore {
  readonly versions: Uint32Array

  constructor(records: number) {
    this.versions = new Uint32Array(records)
  }
}

/** Draws the I/Os of one client. */
export class RecordAccess {
  readonly #store: RecordStore
  readonly #mix: RecordMix
  readonly #random: RandomStream
  readonly #ranks: ZipfianRanks | null
  reads = 0
  updates = 0

  constructor(store: RecordStore, mix: RecordMix, random: RandomStream) {
    this.#store = store
    this.#mix = mix
    this.#random = random
    this.#ranks = mix.keys === 'zipfian' ? new ZipfianRanks(store.versions.length, random) : null
  }

  /** Returns the record of the next I/O; `updates` shows if it was an update. */
  next(): number {
    const { versions } = this.#store
    const n = versions.length
    const record = this.#ranks === null ? this.#random.below(n) : scattered(this.#ranks.next(), n)
    if (this.#mix.reads >= 1 || this.#random.uniform() < this.#mix.reads) this.reads++
    else {
      this.updates++
      versions[record] = (versions[record] as number) + 1
    }
    return record
  }
}

/** Spreads a rank over 0 .. n-1 (murmur3's finaliser). */
function scattered(rank: number, n: number): number {
  let h = rank | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return ((h ^ (h >>> 16)) >>> 0) % n
}
