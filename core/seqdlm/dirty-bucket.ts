/** What was written under one lock of one resource and is not on the server yet: the unit in which flushes are asked for. */
import type { ResourceId } from './messages.ts'
import type { CachedExtent } from './cached-extent.ts'

const NOBODY: readonly (() => void)[] = []
/** Of a bucket that was never written to; nothing is ever put into it. */
const NOTHING: CachedExtent[] = []

export class DirtyBucket {
  readonly resource: ResourceId
  readonly sn: number
  /** Flushes under way that carry some of it. */
  flights = 0
  /** Some of what those flushes carry was overwritten since. */
  isOverwritten = false
  /** The queue that it waits in to be flushed, and its neighbours there. */
  queue: object | null = null
  prev: DirtyBucket | null = null
  next: DirtyBucket | null = null
  /** Its lock is being cancelled: what comes clean is dropped, as nobody may read it. */
  isClosing = false
  #extents = NOTHING
  #head = 0
  /** Written again while the bytes were under flush; they follow when that flush is answered. */
  #deferred: CachedExtent[] | null = null
  #waiters: (() => void)[] | null = null

  constructor(resource: ResourceId, sn: number) {
    this.resource = resource
    this.sn = sn
  }

  get hasExtents(): boolean {
    return this.#head < this.#extents.length
  }

  /** Nothing to flush, nothing under flush. */
  get isDrained(): boolean {
    return !this.hasExtents && this.flights === 0 && this.#deferred === null
  }

  /** A cancel or an fsync waits for it. */
  get isUrgent(): boolean {
    return this.isClosing || this.#waiters !== null
  }

  /** What was written last, unless it was looked at since. */
  get last(): CachedExtent | undefined {
    return this.hasExtents ? this.#extents[this.#extents.length - 1] : undefined
  }

  /** Notes that bytes were written; they may be overwritten before they are looked at. */
  push(extent: CachedExtent): void {
    // Under contention a bucket is of one write: an array that is made with it has room for one, one that grows for 17.
    if (this.#extents.length === 0) this.#extents = [extent]
    else this.#extents.push(extent)
  }

  /** The oldest extent that was written; undefined when there is none. */
  shift(): CachedExtent | undefined {
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
  unshift(extent: CachedExtent): void {
    if (this.#head > 0) this.#extents[--this.#head] = extent
    else this.#extents.unshift(extent)
  }

  defer(extent: CachedExtent): void {
    if (this.#deferred === null) this.#deferred = [extent]
    else this.#deferred.push(extent)
  }

  /** Puts what was deferred back. */
  recall(): void {
    if (this.#deferred === null) return
    for (const e of this.#deferred) this.push(e)
    this.#deferred = null
  }

  /** Calls back once, when the bucket is drained. */
  whenDrained(done: () => void): void {
    if (this.#waiters === null) this.#waiters = [done]
    else this.#waiters.push(done)
  }

  /** Those who wait for it, each to be called once. */
  takeWaiters(): readonly (() => void)[] {
    const waiters = this.#waiters ?? NOBODY
    this.#waiters = null
    return waiters
  }
}

/** Buckets with something to flush, the oldest first; each is in one queue at most. O(1) throughout. */
export class BucketQueue {
  first: DirtyBucket | null = null
  #last: DirtyBucket | null = null

  /** Puts a bucket at the end unless it is here. */
  add(bucket: DirtyBucket): void {
    if (bucket.queue === this) return
    bucket.queue = this
    bucket.prev = this.#last
    if (this.#last === null) this.first = bucket
    else this.#last.next = bucket
    this.#last = bucket
  }

  /** Takes a bucket out if it is here. */
  delete(bucket: DirtyBucket): void {
    if (bucket.queue !== this) return
    const { prev, next } = bucket
    if (prev === null) this.first = next
    else prev.next = next
    if (next === null) this.#last = prev
    else next.prev = prev
    bucket.queue = null
    bucket.prev = null
    bucket.next = null
  }
}
