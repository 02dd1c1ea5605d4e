/**
 * Bounded store of lock lives by resource: those that ended first are dropped first.
 *
 * A life that has not ended is followed even if the list is full, so that counts stay right; this is
 * bounded, too, as a crashed server never reports the end of lost locks.
 */
import type { ClientId, ResourceId, ServerId } from '../messages.ts'
import type { Counts } from './counts.ts'
import * as c from './life-columns.ts'
import type { LifeRecord } from './life.ts'
import { LifeTable } from './life-table.ts'
import { emptyList, hashOf, NONE, SlotIndex, SlotLinks, type SlotList } from './slots.ts'

export interface LifeLimits {
  readonly lives: number
  readonly livesPerResource: number
  /** Lives that have not ended and are followed without being listed. */
  readonly unlisted: number
  /** Pieces of ranges under DLM-datatype, all lives together. */
  readonly pieces: number
}

/** Lives dropped at once if there are too many in total. */
const AT_ONCE = 64

export class ResourceLives {
  readonly resource: ResourceId
  readonly server: ServerId
  readonly counts: Counts
  /**
   * Listed lives in order of their requests; those of them that have not ended, in the same order, and those that have,
   * in the order of their ends.
   */
  readonly listed = emptyList()
  readonly open = emptyList()
  readonly ended = emptyList()
  /** Client of the last write grant. */
  owner: ClientId | undefined
  /** All lives that touch a later time are kept, ns. */
  since = -Infinity

  constructor(resource: ResourceId, server: ServerId, counts: Counts) {
    this.resource = resource
    this.server = server
    this.counts = counts
  }
}

export class LifeStore {
  readonly resources = new Map<ResourceId, ResourceLives>()
  readonly table = new LifeTable()
  readonly #limits: LifeLimits
  readonly #onLost: (here: ResourceLives, slot: number) => void
  /** Links of `listed`. */
  readonly #byRequest = new SlotLinks()
  /** Links of `open`, `ended` and `#unlisted`: a life is in one of them. */
  readonly #byState = new SlotLinks()
  /** Lives that have neither ended nor are listed. */
  readonly #unlisted = emptyList()
  /** Neither granted nor withdrawn, by client and request; granted, by lock; write locks, by SN. */
  readonly #requests = new SlotIndex()
  readonly #locks = new SlotIndex()
  readonly #sns = new SlotIndex()
  #size = 0
  #pieces = 0
  #since = -Infinity

  /** @param onLost  called with a life that is no longer followed. */
  constructor(limits: LifeLimits, onLost: (here: ResourceLives, slot: number) => void) {
    this.#limits = limits
    this.#onLost = onLost
  }

  get size(): number {
    return this.#size
  }

  /** Number of lives that are followed without being listed. */
  get unlisted(): number {
    return this.#unlisted.size
  }

  get since(): number {
    return this.#since
  }

  open(resource: ResourceId, server: ServerId, counts: Counts): ResourceLives {
    const here = new ResourceLives(resource, server, counts)
    this.resources.set(resource, here)
    return here
  }

  /** Returns the life of a request that is neither granted nor withdrawn; `NONE` for none, as in all methods here. */
  requestOf({ resource }: ResourceLives, client: ClientId, reqId: number): number {
    const { table } = this
    for (let s = this.#requests.first(hashOf(reqId, client)); s !== NONE; s = this.#requests.next(s)) {
      if (table.get(s, c.REQ_ID) !== reqId || table.get(s, c.CLIENT) !== client) continue
      if (table.get(s, c.RESOURCE) === resource) return s
    }
    return NONE
  }

  /** Returns the life of a lock, as long as it is known. */
  lockOf({ resource }: ResourceLives, lockId: number): number {
    return this.#find(this.#locks, c.LOCK_ID, lockId, resource)
  }

  /** Returns the life of a write lock by its SN, as long as it is known. */
  snOf({ resource }: ResourceLives, sn: number): number {
    return this.#find(this.#sns, c.SN, sn, resource)
  }

  /** Follows a life that has just begun. */
  add(here: ResourceLives, slot: number): void {
    const { table } = this
    const requestedNs = table.get(slot, c.REQUESTED_NS)
    this.#byRequest.append(here.listed, slot)
    this.#byState.append(here.open, slot)
    this.#requests.add(slot, hashOf(table.get(slot, c.REQ_ID), table.get(slot, c.CLIENT)))
    this.#size++
    this.#pieces += table.pieces(slot)
    const { lives, livesPerResource, pieces } = this.#limits
    if (here.listed.size > livesPerResource) this.#unlistOne(here, requestedNs)
    while (this.#size > lives || this.#pieces > pieces) {
      if (!this.#unlistAny(requestedNs)) break
    }
  }

  /**
   * Indexes a life by its lock, and by its SN if it may write.
   *
   * @param pieces  number of pieces in its ranges before the grant.
   */
  granted(here: ResourceLives, slot: number, pieces: number, isWrite: boolean): void {
    const { table } = this
    const lockId = table.get(slot, c.LOCK_ID)
    const sn = table.get(slot, c.SN)
    this.#requests.remove(slot)
    // After a crash the server may assign a number again.
    const same = this.lockOf(here, lockId)
    if (same !== NONE) this.#locks.remove(same)
    this.#locks.add(slot, hashOf(lockId, here.resource))
    if (isWrite) {
      const sameSn = this.snOf(here, sn)
      if (sameSn !== NONE) this.#sns.remove(sameSn)
      this.#sns.add(slot, hashOf(sn, here.resource))
    }
    if (table.has(slot, c.IS_LISTED)) this.#pieces += table.pieces(slot) - pieces
  }

  /** @param slot  not ended before; its end is set already. */
  end(here: ResourceLives, slot: number): void {
    const { table } = this
    this.#requests.remove(slot)
    if (table.has(slot, c.IS_LISTED)) {
      this.#byState.remove(here.open, slot)
      this.#byState.append(here.ended, slot)
      return
    }
    this.#byState.remove(this.#unlisted, slot)
    this.#missing(here, table.get(slot, c.ENDED_NS))
    this.#release(slot)
  }

  /** Drops a resource and all of its lives. */
  drop(here: ResourceLives, at: number): void {
    const { table } = this
    for (let s = here.listed.first; s !== NONE; s = here.listed.first) {
      this.#since = Math.max(this.#since, Math.min(table.get(s, c.ENDED_NS), at))
      const isOpen = !table.isEnded(s)
      this.#unlist(here, s)
      if (isOpen) this.#onLost(here, s)
      this.#release(s)
    }
    for (let s = this.#unlisted.first, next = NONE; s !== NONE; s = next) {
      next = this.#byState.next(s)
      if (table.get(s, c.RESOURCE) === here.resource) this.#lose(here, s)
    }
    this.resources.delete(here.resource)
  }

  /** Returns the listed life requested before another; `NONE` for the first. */
  previousListed(slot: number): number {
    return this.#byRequest.previous(slot)
  }

  /**
   * Returns listed lives that had not ended before an event or a time, in order of their requests.
   *
   * @param column      `ENDED_SEQ` or `ENDED_NS`.
   * @complexity O(n log n) in those: any number of earlier ends is skipped.
   */
  notEndedBefore(here: ResourceLives, column: number, at: number): number[] {
    const { table } = this
    const found: number[] = []
    for (let s = here.open.first; s !== NONE; s = this.#byState.next(s)) found.push(s)
    const open = found.length
    for (let s = here.ended.last; s !== NONE && table.get(s, column) >= at; s = this.#byState.previous(s)) found.push(s)
    return found.length === open ? found : found.sort((x, y) => table.get(x, c.ID) - table.get(y, c.ID))
  }

  /** Returns listed lives that had not ended before an event, in order of their requests. */
  around(here: ResourceLives, seq: number): LifeRecord[] {
    return this.notEndedBefore(here, c.ENDED_SEQ, seq).map((slot) => this.table.record(slot))
  }

  /** Returns the life that a message named when it was sent, if it is still followed. */
  known({ life, lifeId }: { readonly life: number; readonly lifeId: number }): LifeRecord | null {
    return life !== NONE && this.table.get(life, c.ID) === lifeId ? this.table.record(life) : null
  }

  #find(index: SlotIndex, column: number, value: number, resource: ResourceId): number {
    const { table } = this
    for (let s = index.first(hashOf(value, resource)); s !== NONE; s = index.next(s)) {
      if (table.get(s, column) === value && table.get(s, c.RESOURCE) === resource) return s
    }
    return NONE
  }

  #unlistOne(here: ResourceLives, at: number): void {
    const slot = here.ended.first === NONE ? here.open.first : here.ended.first
    if (slot !== NONE) this.#forget(here, slot, at)
  }

  /** Unlists some of the lives that ended first: as many as are older than the oldest of all other resources. */
  #unlistAny(at: number): boolean {
    let oldest: ResourceLives | undefined
    let leastNs = Infinity
    let nextNs = Infinity
    for (const here of this.resources.values()) {
      const endedNs = this.#endedNs(here.ended)
      if (endedNs < leastNs) [oldest, leastNs, nextNs] = [here, endedNs, leastNs]
      else if (endedNs < nextNs) nextNs = endedNs
    }
    if (oldest !== undefined) {
      for (let n = 0; n < AT_ONCE && this.#endedNs(oldest.ended) <= nextNs; n++) {
        if (oldest.ended.size === 0) break
        this.#unlistOne(oldest, at)
      }
      return true
    }
    let most: ResourceLives | undefined
    for (const here of this.resources.values()) if (here.open.size > (most?.open.size ?? 0)) most = here
    // The life just requested stays.
    if (most === undefined || this.#size <= 1) return false
    this.#unlistOne(most, at)
    return true
  }

  /** End of the first life in a list, ns; Infinity for an empty one. */
  #endedNs({ first }: SlotList): number {
    return first === NONE ? Infinity : this.table.get(first, c.ENDED_NS)
  }

  #forget(here: ResourceLives, slot: number, at: number): void {
    const { table } = this
    const endedNs = table.get(slot, c.ENDED_NS)
    this.#missing(here, Math.min(endedNs, at))
    this.#unlist(here, slot)
    if (endedNs < Infinity) return this.#release(slot)
    this.#byState.append(this.#unlisted, slot)
    if (this.#unlisted.size <= this.#limits.unlisted) return
    const { first } = this.#unlisted
    const its = this.resources.get(table.get(first, c.RESOURCE))
    if (its !== undefined) this.#lose(its, first)
  }

  #missing(here: ResourceLives, until: number): void {
    here.since = Math.max(here.since, until)
    this.#since = Math.max(this.#since, until)
  }

  #unlist(here: ResourceLives, slot: number): void {
    const { table } = this
    this.#byRequest.remove(here.listed, slot)
    this.#byState.remove(table.isEnded(slot) ? here.ended : here.open, slot)
    this.#size--
    this.#pieces -= table.pieces(slot)
    table.unlist(slot)
  }

  #lose(here: ResourceLives, slot: number): void {
    this.#byState.remove(this.#unlisted, slot)
    this.#onLost(here, slot)
    this.#release(slot)
  }

  /** Removes a life from all indexes. */
  #release(slot: number): void {
    this.#requests.remove(slot)
    this.#locks.remove(slot)
    this.#sns.remove(slot)
    this.table.release(slot)
  }
}
