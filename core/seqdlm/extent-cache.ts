/**
 * Extent cache of one data server: the highest SN written to each byte of each of its stripes, as far as still
 * relevant.
 *
 * An entry may be removed once no data with a smaller SN can arrive, which the lock server knows as mSN. Cleaning runs
 * check 1,024 entries each, stripe after stripe, and start above 256 K entries. Source: SeqDLM IV-B; spec/seqdlm 9.
 */
import { ExtentMap } from './extent-map.ts'
import type { ResourceId } from './messages.ts'
import { EOF } from './ranges.ts'
import { mergeBlock, slicedSn, type SnExtent } from './sn-merge.ts'

export const ENTRY_BYTES = 48
export const ENTRY_THRESHOLD = 262_144
export const ENTRIES_PER_RUN = 1024

/** Returns the least SN that may still arrive for start..end (inclusive); Infinity if none. */
export type MinSnQuery = (resource: ResourceId, start: number, end: number) => number

export class ExtentCache {
  readonly #stripes = new Map<ResourceId, ExtentMap<SnExtent>>()
  #entries = 0
  /** Stripes that the current pass has yet to check, next one last, and the position in that one. */
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

  /** Restores a stripe rebuilt from the extent log. */
  restore(resource: ResourceId, map: ExtentMap<SnExtent>): void {
    this.drop(resource)
    this.#stripes.set(resource, map)
    this.#entries += map.size
  }

  /** Drops a stripe. */
  drop(resource: ResourceId): void {
    this.#entries -= this.#stripes.get(resource)?.size ?? 0
    this.#stripes.delete(resource)
  }

  /** Starts a cleaning pass over every stripe. */
  beginPass(): void {
    this.#pass = [...this.#stripes.keys()].reverse()
    this.#offset = 0
  }

  /**
   * One cleaning run.
   *
   * @param limit  maximum entries to check.
   * @returns      true if the pass is not finished.
   */
  clean(minSn: MinSnQuery, limit = ENTRIES_PER_RUN): boolean {
    const pass = this.#pass
    let remaining = limit
    while (remaining > 0) {
      const resource = pass.at(-1)
      if (resource === undefined) return false
      const map = this.#stripes.get(resource)
      const looked = map === undefined ? 0 : this.#cleanStripe(resource, map, remaining, minSn)
      remaining -= looked
      if (remaining === 0) break
      pass.pop()
      this.#offset = 0
    }
    return pass.length > 0
  }

  /** Checks entries of one stripe from the pass's position; fewer than `limit` only if these were the last. */
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
