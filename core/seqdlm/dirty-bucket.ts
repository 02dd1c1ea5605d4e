/** Dirty data of one lock of one resource: the unit in which flushes are requested. */
import type { ResourceId } from './messages.ts'
import type { CachedExtent } from './cached-extent.ts'

const NO_WAITERS: readonly (() => void)[] = []
/** Extents of a bucket before its first write; never modified. */
const NOTHING: CachedExtent[] = []

export class DirtyBucket {
  readonly resource: ResourceId
  readonly sn: number
  /** Number of flushes under way with its data. */
  flights = 0
  /** Set if some of that data was overwritten since. */
  isOverwritten = false
  /** Flush queue that it is in, and its neighbors there. */
  queue: object | null = null
  prev: DirtyBucket | null = null
  next: DirtyBucket | null = null
  /** Set while its lock is being canceled: data that becomes clean is dropped, as it may not be read. */
  isClosing = false
  #extents = NOTHING
  #head = 0
  /** Written again while the bytes were under flush; flushed after that one is answered. */
  #deferred: CachedExtent[] | null = null
  #waiters: (() => void)[] | null = null

  constructor(resource: ResourceId, sn: number) {
    this.resource = resource
    this.sn = sn
  }

  get hasExtents(): boolean {
    return this.#head < this.#extents.length
  }

  /** True without data to flush or under flush. */
  get isDrained(): boolean {
    return !this.hasExtents && this.flights === 0 && this.#deferred === null
  }

  /** True if a cancel or an fsync waits for it. */
  get isUrgent(): boolean {
    return this.isClosing || this.#waiters !== null
  }

  /** Latest written extent, unless it was processed since. */
  get last(): CachedExtent | undefined {
    return this.hasExtents ? this.#extents[this.#extents.length - 1] : undefined
  }

  /** Adds written bytes; they may be overwritten before they are processed. */
  push(extent: CachedExtent): void {
    // Under contention a bucket has one write: an array literal has capacity for one, a grown array for 17.
    if (this.#extents.length === 0) this.#extents = [extent]
    else this.#extents.push(extent)
  }

  /** Removes and returns the oldest written extent; undefined if there is none. */
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

  /** Puts back the extent just returned by `shift`. */
  unshift(extent: CachedExtent): void {
    if (this.#head > 0) this.#extents[--this.#head] = extent
    else this.#extents.unshift(extent)
  }

  defer(extent: CachedExtent): void {
    if (this.#deferred === null) this.#deferred = [extent]
    else this.#deferred.push(extent)
  }

  /** Puts deferred extents back. */
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

  /** Removes and returns the callbacks that wait for it, each to be called once. */
  takeWaiters(): readonly (() => void)[] {
    const waiters = this.#waiters ?? NO_WAITERS
    this.#waiters = null
    return waiters
  }
}

/** Queue of buckets with data to flush, oldest first; each is in one queue at most. O(1) throughout. */
export class BucketQueue {
  first: DirtyBucket | null = null
  #last: DirtyBucket | null = null

  /** Appends a bucket unless it is in the queue. */
  add(bucket: DirtyBucket): void {
    if (bucket.queue === this) return
    bucket.queue = this
    bucket.prev = this.#last
    if (this.#last === null) this.first = bucket
    else this.#last.next = bucket
    this.#last = bucket
  }

  /** Removes a bucket if it is in the queue. */
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
