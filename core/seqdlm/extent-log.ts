/**
 * Durable log of a server's update sets, by stripe, from which its extent cache is rebuilt after a crash.
 *
 * It survives the server process, as the device does. Source: SeqDLM IV-B, IV-C2; spec/seqdlm 9, 11. Deviation: a long
 * log is compacted to its resulting extents; and the highest SN seen is kept when a log is cut, which bounds the SNs
 * after a recovery (A12).
 */
import { ExtentMap } from './extent-map.ts'
import type { ResourceId } from './messages.ts'
import { mergeBlock, slicedSn, type SnExtent } from './sn-merge.ts'

interface StripeLog {
  entries: SnExtent[]
  compactAt: number
}

const COMPACT_AT = 65_536

export class ExtentLog {
  readonly #stripes = new Map<ResourceId, StripeLog>()
  readonly #highestSn = new Map<ResourceId, number>()

  /** Highest SN ever logged, by stripe. */
  get highestSn(): ReadonlyMap<ResourceId, number> {
    return this.#highestSn
  }

  append(resource: ResourceId, updates: readonly SnExtent[]): void {
    let log = this.#stripes.get(resource)
    if (log === undefined) this.#stripes.set(resource, (log = { entries: [], compactAt: COMPACT_AT }))
    let highest = this.#highestSn.get(resource) ?? 0
    for (const u of updates) {
      log.entries.push(u)
      highest = Math.max(highest, u.sn)
    }
    this.#highestSn.set(resource, highest)
    if (log.entries.length <= log.compactAt) return
    log.entries = [...this.replay(resource)]
    log.compactAt = Math.max(COMPACT_AT, log.entries.length * 2)
  }

  resources(): Iterable<ResourceId> {
    return this.#stripes.keys()
  }

  length(resource: ResourceId): number {
    return this.#stripes.get(resource)?.entries.length ?? 0
  }

  /** Returns the extents that result from the log of a stripe, by the merge rule in the order of writing. */
  replay(resource: ResourceId): ExtentMap<SnExtent> {
    const map = new ExtentMap(slicedSn)
    for (const e of this.#stripes.get(resource)?.entries ?? []) mergeBlock(map, e)
    return map
  }

  /** Cuts the log of a stripe; all older data are on the device and no more can arrive. */
  truncate(resource: ResourceId): void {
    this.#stripes.delete(resource)
  }
}
