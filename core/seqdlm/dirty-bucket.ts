/** What was written under one lock of one resource and is not on the server yet: the unit in which flushes are asked for. */
import type { ResourceId } from './messages.ts'
import type { Extent } from './ranges.ts'

export class DirtyBucket {
  readonly resource: ResourceId
  readonly sn: number
  /** Flushes under way that carry some of it. */
  flights = 0
  /** Its lock is being cancelled: what comes clean is dropped, as nobody may read it. */
  isClosing = false
  #extents: Extent[] = []
  #head = 0
  /** Written again while the bytes were under flush; they follow when that flush is answered. */
  #deferred: Extent[] = []
  #waiters: (() => void)[] = []

  constructor(resource: ResourceId, sn: number) {
    this.resource = resource
    this.sn = sn
  }

  get hasExtents(): boolean {
    return this.#head < this.#extents.length
  }

  /** Nothing to flush, nothing under flush. */
  get isDrained(): boolean {
    return !this.hasExtents && this.flights === 0 && this.#deferred.length === 0
  }

  /** A cancel or an fsync waits for it. */
  get isUrgent(): boolean {
    return this.isClosing || this.#waiters.length > 0
  }

  /** Notes that bytes were written; they may be overwritten before they are looked at. */
  push(extent: Extent): void {
    this.#extents.push(extent)
  }

  /** The oldest extent that was written; undefined when there is none. */
  shift(): Extent | undefined {
    const extent = this.#extents[this.#head]
    if (extent === undefined) return undefined
    this.#head++
    if (this.#head > 64 && this.#head * 2 > this.#extents.length) {
      this.#extents = this.#extents.slice(this.#head)
      this.#head = 0
    }
    return extent
  }

  /** Puts the extent back that `shift` just gave. */
  unshift(extent: Extent): void {
    if (this.#head > 0) this.#extents[--this.#head] = extent
    else this.#extents.unshift(extent)
  }

  defer(extent: Extent): void {
    this.#deferred.push(extent)
  }

  /** Puts what was deferred back. */
  recall(): void {
    for (const e of this.#deferred) this.#extents.push(e)
    this.#deferred = []
  }

  /** Calls back once, when the bucket is drained. */
  whenDrained(done: () => void): void {
    this.#waiters.push(done)
  }

  /** Those who wait for it, each to be called once. */
  takeWaiters(): readonly (() => void)[] {
    const waiters = this.#waiters
    this.#waiters = []
    return waiters
  }
}
