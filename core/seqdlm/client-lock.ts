/** A lock as its client has it, and the locks of one resource that new operations may use. */
import type { ReportedLock, ResourceId } from './messages.ts'
import { covers, isWriteMode, type LockMode, type LockState } from './modes.ts'
import { contains, type LockRange } from './ranges.ts'

/**
 * How far a cancel has come: not begun; flushing so that readers can go on under PR; flushing to be released; gone.
 */
export type CancelPhase = 'none' | 'for-readers' | 'for-release' | 'released'

export class ClientLock {
  readonly resource: ResourceId
  readonly lockId: number
  readonly range: LockRange
  /** SN of what is written under it. */
  readonly sn: number
  /** Every SN whose data must be on the servers before it is released: its own, and those of locks merged into it. */
  sns: number[]
  mode: LockMode
  state: LockState
  readers = 0
  writers = 0
  phase: CancelPhase = 'none'
  /** Whether bytes read under it may be in the page cache. */
  hasRead: boolean
  /** The lock it was merged into. */
  forward: ClientLock | null = null
  /** Among the idle locks of its client, and its neighbours there. */
  isIdle = false
  older: ClientLock | null = null
  newer: ClientLock | null = null

  constructor(from: Pick<ClientLock, 'resource' | 'lockId' | 'range' | 'sn' | 'mode' | 'state'>) {
    this.resource = from.resource
    this.lockId = from.lockId
    this.range = from.range
    this.sn = from.sn
    this.mode = from.mode
    this.state = from.state
    this.sns = isWriteMode(from.mode) ? [from.sn] : []
    this.hasRead = !isWriteMode(from.mode) || from.mode === 'PW'
  }

  /** The lock that an operation which pinned this one now runs under. */
  get current(): ClientLock {
    let { forward } = this
    while (forward !== null && forward.forward !== null) ({ forward } = forward)
    return forward ?? this
  }

  /** What a lock server that lost it is told. */
  report(): ReportedLock {
    const { resource, lockId, range, mode, state, sn } = this
    return { resource, lockId, range, mode, state, sn, minSn: this.sns.reduce((least, n) => Math.min(least, n), sn) }
  }
}

/** GRANTED locks of one client on one resource, by start. They do not overlap but under DLM-datatype. */
export class CachedLocks {
  readonly #locks: ClientLock[] = []

  get size(): number {
    return this.#locks.length
  }

  [Symbol.iterator](): IterableIterator<ClientLock> {
    return this.#locks[Symbol.iterator]()
  }

  add(lock: ClientLock): void {
    this.#locks.splice(this.#after(lock.range.start), 0, lock)
  }

  delete(lock: ClientLock): void {
    for (let i = this.#after(lock.range.start) - 1; i >= 0; i--) {
      if (this.#locks[i] === lock) {
        this.#locks.splice(i, 1)
        return
      }
    }
  }

  /** A lock that an operation of this mode on this range can run under. */
  find(mode: LockMode, range: LockRange): ClientLock | undefined {
    const lock = this.#locks[this.#after(range.start) - 1]
    return lock !== undefined && covers(lock.mode, mode) && contains(lock.range, range) ? lock : undefined
  }

  /** Number of locks that start at or before an offset. */
  #after(offset: number): number {
    let low = 0
    let high = this.#locks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#locks[middle] as ClientLock).range.start <= offset) low = middle + 1
      else high = middle
    }
    return low
  }
}
