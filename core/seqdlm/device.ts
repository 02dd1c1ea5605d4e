/** Storage of a data server: a disk in a simulation, memory here. */
import { ExtentMap } from './extent-map.ts'
import type { Block, ResourceId } from './messages.ts'
import type { Extent } from './ranges.ts'

export interface Device {
  /**
   * Writes blocks of one object and calls `done` when they are safe.
   *
   * Writes of one object must take effect in the order of the calls: the extent cache has already merged them, and an
   * older write that lands late would undo a newer one (A11).
   */
  write(resource: ResourceId, blocks: readonly Block[], done: () => void): void
  /** Reads start..end of an object; null if content is not carried. Unwritten bytes are zero. */
  read(resource: ResourceId, start: number, end: number, done: (data: Uint8Array | null) => void): void
  /** End of the last byte of an object that was written and not truncated. */
  size(resource: ResourceId): number
}

interface Content extends Extent {
  readonly data: Uint8Array
}

const slice = ({ start, data }: Content, from: number, to: number): Content => ({
  start: from,
  end: to,
  data: data.subarray(from - start, to - start),
})

/** A device without delay; with `content` it keeps the bytes, without it only the sizes. */
export class MemoryDevice implements Device {
  readonly #content: boolean
  readonly #objects = new Map<ResourceId, ExtentMap<Content>>()
  readonly #sizes = new Map<ResourceId, number>()

  constructor(content: boolean) {
    this.#content = content
  }

  write(resource: ResourceId, blocks: readonly Block[], done: () => void): void {
    for (const block of blocks) this.#put(resource, block)
    done()
  }

  read(resource: ResourceId, start: number, end: number, done: (data: Uint8Array | null) => void): void {
    if (!this.#content) {
      done(null)
      return
    }
    const out = new Uint8Array(end - start)
    for (const c of this.#objects.get(resource)?.overlapping(start, end) ?? []) {
      const piece = slice(c, Math.max(start, c.start), Math.min(end, c.end))
      out.set(piece.data, piece.start - start)
    }
    done(out)
  }

  size(resource: ResourceId): number {
    return this.#sizes.get(resource) ?? 0
  }

  #put(resource: ResourceId, { start, end, data, hole }: Block): void {
    const size = this.size(resource)
    if (this.#content) {
      let object = this.#objects.get(resource)
      if (object === undefined) this.#objects.set(resource, (object = new ExtentMap(slice)))
      object.carve(start, end)
      if (data !== null) object.insert({ start, end, data })
      this.#sizes.set(resource, object.hull.end)
    } else if (!hole) this.#sizes.set(resource, Math.max(size, end))
    else if (end >= size) this.#sizes.set(resource, Math.min(size, start))
  }
}
