/** Server-side records of a lock resource: unreleased locks, and waiting requests. */
import type { IndexedLock } from './lock-index.ts'
import type { ClientId, LockRequest } from './messages.ts'
import { isCompatible, type LockMode, type LockState } from './modes.ts'
import { overlaps, type LockRange } from './ranges.ts'

/** Locks with the same answer to every new request are in one index. */
export type LockKind = 'read' | 'write' | 'revoked-read' | 'revoked-write' | 'canceling-nbw'

export class ServerLock implements IndexedLock {
  readonly lockId: number
  readonly client: ClientId
  readonly reqId: number
  readonly range: LockRange
  readonly sn: number
  readonly minSn: number
  mode: LockMode
  state: LockState
  /** Time at which its revocation was sent, ns; -1 for none. */
  revokedAt = -1
  kind: LockKind
  /** Waiting requests that were last found blocked by this lock. */
  watchers: Waiter[] = []

  constructor(from: Pick<ServerLock, 'lockId' | 'client' | 'reqId' | 'range' | 'sn' | 'minSn' | 'mode' | 'state'>) {
    this.lockId = from.lockId
    this.client = from.client
    this.reqId = from.reqId
    this.range = from.range
    this.sn = from.sn
    this.minSn = from.minSn
    this.mode = from.mode
    this.state = from.state
    this.kind = from.mode === 'PR' ? 'read' : 'write'
  }

  /** True if neither CANCELING nor revoked: its client may use it again. */
  get isOpen(): boolean {
    return this.state === 'GRANTED' && this.revokedAt < 0
  }
}

/** Returns the current kind of a lock. */
export function kindOf(lock: ServerLock, earlyGrant: boolean): LockKind {
  if (lock.isOpen) return lock.mode === 'PR' ? 'read' : 'write'
  if (lock.mode === 'PR') return 'revoked-read'
  return earlyGrant && lock.mode === 'NBW' && lock.state === 'CANCELING' ? 'canceling-nbw' : 'revoked-write'
}

const AGAINST_WRITES: readonly LockKind[] = ['read', 'write', 'revoked-read', 'revoked-write']
/** Kinds that Table II denies to a mode: its row, in terms of kinds. */
export const DENIED: Readonly<Record<LockMode, readonly LockKind[]>> = {
  PR: ['write', 'revoked-write', 'canceling-nbw'],
  NBW: AGAINST_WRITES,
  BW: AGAINST_WRITES,
  PW: [...AGAINST_WRITES, 'canceling-nbw'],
}

export class Waiter {
  readonly client: ClientId
  readonly reqId: number
  readonly mode: LockMode
  readonly range: LockRange
  readonly requestedAt: number
  /** Order of arrival on the resource. */
  readonly order: number
  /** Mode and range including the locks of its own client that a grant would absorb. */
  wantedMode: LockMode
  wantedRange: LockRange
  prev: Waiter | null = null
  next: Waiter | null = null
  isQueued = false
  /** Last known blocker; others are searched for only after it is gone. */
  witness: ServerLock | Waiter | null = null
  watchers: Waiter[] = []

  constructor(client: ClientId, request: LockRequest, requestedAt: number, order: number) {
    this.client = client
    this.reqId = request.reqId
    this.mode = request.mode
    this.range = request.range
    this.requestedAt = requestedAt
    this.order = order
    this.wantedMode = request.mode
    this.wantedRange = request.range
  }
}

/** Requests in order of arrival. */
export class WaitQueue {
  first: Waiter | null = null
  last: Waiter | null = null
  length = 0

  push(w: Waiter): void {
    w.prev = this.last
    if (this.last === null) this.first = w
    else this.last.next = w
    this.last = w
    w.isQueued = true
    this.length++
  }

  delete(w: Waiter): void {
    if (w.prev === null) this.first = w.next
    else w.prev.next = w.next
    if (w.next === null) this.last = w.prev
    else w.next.prev = w.prev
    w.isQueued = false
    this.length--
  }

  /** Returns the latest earlier request of another client that conflicts with `w`: required ranges, requested modes. */
  conflictBefore(w: Waiter): Waiter | null {
    for (let v = w.isQueued ? w.prev : this.last; v !== null; v = v.prev) {
      if (v.client !== w.client && !isCompatible(w.mode, v.mode, 'GRANTED') && overlaps(w.range, v.range)) return v
    }
    return null
  }

  /** True if a lock of this mode and range would deny a waiting request of another client. */
  hasConflict(client: ClientId, mode: LockMode, range: LockRange): boolean {
    for (let v = this.first; v !== null; v = v.next) {
      if (v.client !== client && !isCompatible(v.wantedMode, mode, 'GRANTED') && overlaps(v.wantedRange, range))
        return true
    }
    return false
  }
}
