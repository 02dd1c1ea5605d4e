/**
 * Disjoint extents in order, each with something attached: the interval map under page cache, extent cache and device.
 *
 * Extents lie in chunks of at most 128, so an insertion moves at most one chunk and the list of chunks stays short: O(log n)
 * to find, O(sqrt n) in the worst case to insert with a constant that is a memmove, up to millions of extents.
 */
import type { Extent } from './ranges.ts'

const CHUNK = 128

export class ExtentMap<T extends Extent> {
  readonly #slice: (extent: T, start: number, end: number) => T
  #chunks: T[][] = []
  #size = 0
  /** Place that `#seek` found: chunk, and index in it. */
  #chunk = 0
  #index = 0

  /** @param slice  the part start..end of an extent, as an extent of its own. */
  constructor(slice: (extent: T, start: number, end: number) => T) {
    this.#slice = slice
  }

  get size(): number {
    return this.#size
  }

  /** Inclusive start of the first extent and exclusive end of the last one; both 0 when there is none. */
  get hull(): Extent {
    const last = this.#chunks.at(-1)?.at(-1)
    return { start: this.#chunks[0]?.[0]?.start ?? 0, end: last?.end ?? 0 }
  }

  *[Symbol.iterator](): Generator<T, void, void> {
    for (const chunk of this.#chunks) yield* chunk
  }

  /** Extents that share bytes with start..end, in order, whole. */
  overlapping(start: number, end: number): T[] {
    const found: T[] = []
    this.#seek(start)
    let [c, i] = [this.#chunk, this.#index]
    for (let chunk = this.#chunks[c]; chunk !== undefined; chunk = this.#chunks[++c], i = 0) {
      for (; i < chunk.length; i++) {
        const e = chunk[i] as T
        if (e.start >= end) return found
        found.push(e)
      }
    }
    return found
  }

  /** The extent that ends at or holds the byte before `offset`. */
  before(offset: number): T | undefined {
    this.#seek(offset - 1)
    const at = this.#chunks[this.#chunk]?.[this.#index]
    return at !== undefined && at.start < offset ? at : undefined
  }

  /** The extent that starts at or after `offset`, the nearest one. */
  from(offset: number): T | undefined {
    this.#seek(offset)
    const chunk = this.#chunks[this.#chunk]
    const at = chunk?.[this.#index]
    if (at === undefined || at.start >= offset) return at
    return chunk?.[this.#index + 1] ?? this.#chunks[this.#chunk + 1]?.[0]
  }

  /** Takes start..end out, cutting extents that reach over its edges; returns what was there, in order. */
  carve(start: number, end: number): T[] {
    const taken: T[] = []
    this.#seek(start)
    let [c, i] = [this.#chunk, this.#index]
    while (c < this.#chunks.length) {
      const chunk = this.#chunks[c] as T[]
      let j = i
      while (j < chunk.length && (chunk[j] as T).start < end) j++
      if (j === i) break
      const cut = chunk.slice(i, j)
      const kept: T[] = []
      const [first, last] = [cut[0] as T, cut.at(-1) as T]
      if (first.start < start) kept.push(this.#slice(first, first.start, start))
      if (last.end > end) kept.push(this.#slice(last, end, last.end))
      for (const e of cut) {
        const [s, t] = [Math.max(e.start, start), Math.min(e.end, end)]
        taken.push(s === e.start && t === e.end ? e : this.#slice(e, s, t))
      }
      chunk.splice(i, j - i, ...kept)
      this.#size += kept.length - cut.length
      const isLast = j < chunk.length + cut.length - kept.length
      if (chunk.length === 0) this.#chunks.splice(c, 1)
      else c++
      if (isLast) break
      i = 0
    }
    return taken
  }

  /** Puts an extent where none is. */
  insert(extent: T): void {
    this.#size++
    this.#seek(extent.start)
    let [c, i] = [this.#chunk, this.#index]
    if (c === this.#chunks.length) {
      // After everything: the last chunk takes it, and at its end.
      if (c === 0) {
        this.#chunks.push([extent])
        return
      }
      c--
      i = (this.#chunks[c] as T[]).length
    }
    const chunk = this.#chunks[c] as T[]
    if (i === chunk.length) chunk.push(extent)
    else chunk.splice(i, 0, extent)
    if (chunk.length <= CHUNK) return
    // A chunk that grows at its end is left full, as most files are written forward.
    const half = i === chunk.length - 1 ? CHUNK : CHUNK >> 1
    this.#chunks.splice(c + 1, 0, chunk.splice(half))
  }

  /** Takes out an extent that is in the map. */
  delete(extent: T): void {
    this.#seek(extent.start)
    const chunk = this.#chunks[this.#chunk] as T[]
    chunk.splice(this.#index, 1)
    this.#size--
    if (chunk.length === 0) this.#chunks.splice(this.#chunk, 1)
  }

  clear(): void {
    this.#chunks = []
    this.#size = 0
  }

  /** Finds the first extent that ends after `offset`. */
  #seek(offset: number): void {
    const chunks = this.#chunks
    let low = 0
    let high = chunks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((chunks[middle] as T[]).at(-1)!.end > offset) high = middle
      else low = middle + 1
    }
    const chunk = chunks[low]
    this.#chunk = low
    this.#index = 0
    if (chunk === undefined) return
    let first = 0
    let last = chunk.length - 1
    while (first < last) {
      const middle = (first + last) >> 1
      if ((chunk[middle] as T).end > offset) last = middle
      else first = middle + 1
    }
    this.#index = first
  }
}
