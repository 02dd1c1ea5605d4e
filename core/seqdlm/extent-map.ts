/**
 * Ordered map of disjoint extents with attached data: the interval map of page cache, extent cache and device.
 *
 * Extents are in chunks of at most 128, so an insertion moves at most one chunk and the list of chunks stays short:
 * O(log n) to find, O(sqrt n) in the worst case to insert with a constant that is a memmove, up to millions of extents.
 * Ends of chunks are in one array: a search among thousands of chunks reads one of them.
 */
import type { Extent } from './ranges.ts'

const CHUNK = 128

export class ExtentMap<T extends Extent> {
  readonly #slice: (extent: T, start: number, end: number) => T
  #chunks: T[][] = []
  /** Exclusive end of the last extent of each chunk. */
  #ends: number[] = []
  #size = 0
  /** Position found by `#seek`: chunk, and index in it. */
  #chunk = 0
  #index = 0

  /** @param slice  returns the part start..end of an extent as a new extent. */
  constructor(slice: (extent: T, start: number, end: number) => T) {
    this.#slice = slice
  }

  get size(): number {
    return this.#size
  }

  /** Inclusive start of the first extent and exclusive end of the last one; both 0 if empty. */
  get hull(): Extent {
    const last = this.#chunks.at(-1)?.at(-1)
    return { start: this.#chunks[0]?.[0]?.start ?? 0, end: last?.end ?? 0 }
  }

  *[Symbol.iterator](): Generator<T, void, void> {
    for (const chunk of this.#chunks) yield* chunk
  }

  /**
   * Moves to the position of start..end. If it is free, `left`, `right` and `put` refer to it until the next other
   * call.
   *
   * @returns true if it is free.
   */
  isFree(start: number, end: number): boolean {
    this.#seek(start)
    const at = this.#chunks[this.#chunk]?.[this.#index]
    return at === undefined || at.start >= end
  }

  /** Extent before the position of `isFree`. */
  get left(): T | undefined {
    if (this.#index > 0) return this.#chunks[this.#chunk]?.[this.#index - 1]
    return this.#chunks[this.#chunk - 1]?.at(-1)
  }

  /** Extent after the position of `isFree`. */
  get right(): T | undefined {
    return this.#chunks[this.#chunk]?.[this.#index]
  }

  /** Records that the extent before the position of `isFree` was extended, at most up to the next one. */
  leftGrew(): void {
    if (this.#index === 0) this.#noteEnd(this.#chunk - 1)
  }

  /** Inserts an extent at the position of `isFree`. */
  put(extent: T): void {
    this.#size++
    let c = this.#chunk
    let i = this.#index
    if (c === this.#chunks.length) {
      // Beyond everything: appended to the last chunk.
      if (c === 0) {
        this.#chunks.push([extent])
        this.#ends.push(extent.end)
        return
      }
      c--
      i = (this.#chunks[c] as T[]).length
    }
    const chunk = this.#chunks[c] as T[]
    if (i === chunk.length) {
      chunk.push(extent)
      this.#ends[c] = extent.end
    } else chunk.splice(i, 0, extent)
    if (chunk.length <= CHUNK) return
    // A chunk that grows at its end is left full, as most files are written forward.
    const half = i === chunk.length - 1 ? CHUNK : CHUNK >> 1
    const rest = chunk.splice(half)
    this.#chunks.splice(c + 1, 0, rest)
    this.#ends.splice(c, 1, (chunk.at(-1) as T).end, (rest.at(-1) as T).end)
  }

  /** Returns the whole extents that share bytes with start..end, in order. */
  overlapping(start: number, end: number): T[] {
    this.#seek(start)
    const first = this.#chunks[this.#chunk]?.[this.#index]
    if (first === undefined || first.start >= end) return []
    if (first.end >= end) return [first]
    const found: T[] = []
    let c = this.#chunk
    let i = this.#index
    for (let chunk = this.#chunks[c]; chunk !== undefined; chunk = this.#chunks[++c], i = 0) {
      for (; i < chunk.length; i++) {
        const e = chunk[i] as T
        if (e.start >= end) return found
        found.push(e)
      }
    }
    return found
  }

  /** Returns the extent that ends at or contains the byte before `offset`. */
  before(offset: number): T | undefined {
    this.#seek(offset - 1)
    const at = this.#chunks[this.#chunk]?.[this.#index]
    return at !== undefined && at.start < offset ? at : undefined
  }

  /** Returns the first extent that starts at or after `offset`. */
  from(offset: number): T | undefined {
    this.#seek(offset)
    const chunk = this.#chunks[this.#chunk]
    const at = chunk?.[this.#index]
    if (at === undefined || at.start >= offset) return at
    return chunk?.[this.#index + 1] ?? this.#chunks[this.#chunk + 1]?.[0]
  }

  /** Removes start..end, cutting extents that reach over its edges; returns the removed parts, in order. */
  carve(start: number, end: number): T[] {
    const taken: T[] = []
    if (this.isFree(start, end)) return taken
    let c = this.#chunk
    let i = this.#index
    while (c < this.#chunks.length) {
      const chunk = this.#chunks[c] as T[]
      let j = i
      while (j < chunk.length && (chunk[j] as T).start < end) j++
      if (j === i) break
      const cut = chunk.slice(i, j)
      const rest: T[] = []
      const first = cut[0] as T
      const last = cut.at(-1) as T
      if (first.start < start) rest.push(this.#slice(first, first.start, start))
      if (last.end > end) rest.push(this.#slice(last, end, last.end))
      for (const e of cut) {
        const s = Math.max(e.start, start)
        const t = Math.min(e.end, end)
        taken.push(s === e.start && t === e.end ? e : this.#slice(e, s, t))
      }
      chunk.splice(i, j - i, ...rest)
      this.#size += rest.length - cut.length
      const isLast = j < chunk.length + cut.length - rest.length
      if (this.#updateChunk(c)) c++
      if (isLast) break
      i = 0
    }
    return taken
  }

  /** Inserts an extent at a free position. */
  insert(extent: T): void {
    this.#seek(extent.start)
    this.put(extent)
  }

  /** Removes an extent of the map. */
  delete(extent: T): void {
    this.#seek(extent.start)
    const chunk = this.#chunks[this.#chunk] as T[]
    if (this.#index === 0) chunk.shift()
    else chunk.splice(this.#index, 1)
    this.#size--
    if (this.#index === chunk.length) this.#updateChunk(this.#chunk)
  }

  /**
   * Checks extents in order and removes the selected ones.
   *
   * @param from   checks those that start at or after this offset.
   * @param limit  maximum to check.
   * @returns      number of checked extents; fewer than `limit` only if there are no more.
   */
  sweep(from: number, limit: number, isToGo: (extent: T) => boolean): number {
    this.#seek(from)
    let c = this.#chunk
    let i = this.#index
    const first = this.#chunks[c]?.[i]
    if (first !== undefined && first.start < from) i++
    let remaining = limit
    while (remaining > 0) {
      const chunk = this.#chunks[c]
      if (chunk === undefined) break
      const end = Math.min(chunk.length, i + remaining)
      remaining -= end - i
      let write = i
      for (; i < end; i++) {
        const extent = chunk[i] as T
        if (!isToGo(extent)) chunk[write++] = extent
      }
      if (write < end) {
        this.#size -= end - write
        chunk.splice(write, end - write)
      }
      if (this.#updateChunk(c)) c++
      i = 0
    }
    return limit - remaining
  }

  clear(): void {
    this.#chunks = []
    this.#ends = []
    this.#size = 0
  }

  /** Updates the end of a changed chunk, or drops the chunk if empty; returns true if it is kept. */
  #updateChunk(c: number): boolean {
    if ((this.#chunks[c] as T[]).length > 0) {
      this.#noteEnd(c)
      return true
    }
    this.#chunks.splice(c, 1)
    this.#ends.splice(c, 1)
    return false
  }

  #noteEnd(c: number): void {
    const chunk = this.#chunks[c] as T[]
    this.#ends[c] = (chunk[chunk.length - 1] as T).end
  }

  /** Finds the first extent that ends after `offset`. */
  #seek(offset: number): void {
    const ends = this.#ends
    // Usually the one found last, or the next one.
    if (this.#isFound(this.#chunk, this.#index, offset)) return
    if (this.#isFound(this.#chunk, this.#index + 1, offset)) {
      this.#index++
      return
    }
    let low = 0
    let high = ends.length
    // Files are written forward: searches often go beyond everything.
    if (high > 0 && (ends[high - 1] as number) <= offset) low = high
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] as number) > offset) high = middle
      else low = middle + 1
    }
    const chunk = this.#chunks[low]
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

  /** True if the first extent that ends after `offset` is there. */
  #isFound(c: number, i: number, offset: number): boolean {
    const chunk = this.#chunks[c]
    const at = chunk?.[i]
    if (chunk === undefined || at === undefined || at.end <= offset) return false
    if (i > 0) return (chunk[i - 1] as T).end <= offset
    return c === 0 || (this.#ends[c - 1] as number) <= offset
  }
}
