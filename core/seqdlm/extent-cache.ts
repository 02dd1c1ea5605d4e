/**
 * The extent cache of one data server: the highest SN written to each byte of each of its stripes, as far as it still matters.
 *
 * An entry may go once no data with a smaller SN can arrive, which the lock server knows as mSN. Entries are removed by a task
 * that looks at 1,024 of them a run, stripe after stripe, and starts over 256 K entries. Source: SeqDLM IV-B; spec/seqdlm 9.
 */
import { ExtentMap } from './extent-map.ts'
import type { ResourceId } from './messages.ts'
import { EOF } from './ranges.ts'
import { mergeBlock, slicedSn, type SnExtent } from './sn-merge.ts'

export const ENTRY_BYTES = 48
export const ENTRY_THRESHOLD = 262_144
export const ENTRIES_PER_RUN = 1024

/** Least SN that may still arrive for start..end (inclusive); Infinity when nothing can. */
export type MinSnQuery = (resource: ResourceId, start: number, end: number) => number

export class ExtentCache {
  readonly #stripes = new Map<ResourceId, ExtentMap<SnExtent>>()
  #entries = 0
  /** Stripes of the present pass that are yet to be looked at, the last one first, and how far that one is. */
  #pass: ResourceId[] = []
  #offset = 0

  get entries(): number {
    return this.#entries
  }

  get bytes(): number {
    return this.#entries * ENTRY_BYTES
  }

  resources(): Iterable<ResourceId> {
    return this.#stripes.keys()
  }

  /** Entries of one stripe, in order. */
  stripe(resource: ResourceId): Iterable<SnExtent> {
    return this.#stripes.get(resource) ?? []
  }

  /** Merges a block; returns the update set. */
  merge(resource: ResourceId, block: SnExtent): SnExtent[] {
    let map = this.#stripes.get(resource)
    if (map === undefined) this.#stripes.set(resource, (map = new ExtentMap(slicedSn)))
    const before = map.size
    const won = mergeBlock(map, block)
    this.#entries += map.size - before
    return won
  }

  /** Takes a stripe as it was rebuilt from the extent log. */
  restore(resource: ResourceId, map: ExtentMap<SnExtent>): void {
    this.drop(resource)
    this.#stripes.set(resource, map)
    this.#entries += map.size
  }

  /** Forgets a stripe. */
  drop(resource: ResourceId): void {
    this.#entries -= this.#stripes.get(resource)?.size ?? 0
    this.#stripes.delete(resource)
  }

  /** Begins a cleaning pass over every stripe. */
  beginPass(): void {
    this.#pass = [...this.#stripes.keys()].reverse()
    this.#offset = 0
  }

  /**
   * One cleaning run.
   *
   * @param limit  most entries to look at.
   * @returns      whether the pass has more to look at.
   */
  clean(minSn: MinSnQuery, limit = ENTRIES_PER_RUN): boolean {
    const pass = this.#pass
    let left = limit
    while (left > 0) {
      const resource = pass.at(-1)
      if (resource === undefined) return false
      const map = this.#stripes.get(resource)
      const looked = map === undefined ? 0 : this.#cleanStripe(resource, map, left, minSn)
      left -= looked
      if (left === 0) break
      pass.pop()
      this.#offset = 0
    }
    return pass.length > 0
  }

  /** Looks at entries of one stripe from where the pass is; fewer than `limit` only when these were the last. */
  #cleanStripe(resource: ResourceId, map: ExtentMap<SnExtent>, limit: number, minSn: MinSnQuery): number {
    const before = map.size
    const looked = map.sweep(this.#offset, limit, ({ start, end, sn }) => {
      this.#offset = end
      return sn <= minSn(resource, start, end === EOF ? EOF : end - 1)
    })
    this.#entries -= before - map.size
    return looked
  }
}
