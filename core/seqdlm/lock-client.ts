/**
 * Lock cache of one client node: finds or requests locks for operations, and releases them.
 *
 * A lock is pinned by every operation that runs under it. A revocation makes it CANCELING at once and is answered at
 * once: operations that hold it continue, new ones do not find it. After the last one it is downgraded, flushed and
 * released. Idle locks beyond a limit are canceled in the same way without a revocation, least recently used first.
 * Source: SeqDLM II-A, III-D; spec/seqdlm 7. The paper's cache has no limit; that of Lustre's LDLM is the model
 * (`lru_size`).
 */
import { fail, ok, type Failure, type Result } from '../base/result.ts'
import type { FromLockServer, LockGrant, LockRequest, ReportedLock, ResourceId, ToLockServer } from './messages.ts'
import { downgradeOf, isReadMode, type LockMode, covers, isWriteMode, type LockState } from './modes.ts'
import type { DlmPolicy } from './policy.ts'
import { overlaps, type LockRange, contains } from './ranges.ts'

/** Progress of a cancel: not begun; flushing so that readers can continue under PR; flushing for release; released. */
type CancelPhase = 'none' | 'for-readers' | 'for-release' | 'released'

export class ClientLock {
  readonly resource: ResourceId
  readonly lockId: number
  readonly range: LockRange
  /** SN of data written under it. */
  readonly sn: number
  /** SNs whose data must be on the servers before its release: its own, and those of locks merged into it. */
  sns: number[]
  mode: LockMode
  state: LockState
  readers = 0
  writers = 0
  phase: CancelPhase = 'none'
  /** Set if bytes read under it may be in the page cache. */
  hasRead: boolean
  /** Lock that it was merged into. */
  forward: ClientLock | null = null
  /** True while in its client's list of idle locks; its neighbors there. */
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

  /** Lock that operations which pinned this one now run under. */
  get current(): ClientLock {
    let { forward } = this
    while (forward !== null && forward.forward !== null) ({ forward } = forward)
    return forward ?? this
  }

  /** Report for a lock server that lost it. */
  report(): ReportedLock {
    const { resource, lockId, range, mode, state, sn } = this
    return { resource, lockId, range, mode, state, sn, minSn: this.sns.reduce((least, n) => Math.min(least, n), sn) }
  }
}

/** GRANTED locks of one client on one resource, by start. They overlap only under DLM-datatype. */
class CachedLocks {
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

  /** Returns a lock that an operation of this mode on this range can run under. */
  find(mode: LockMode, range: LockRange): ClientLock | undefined {
    const lock = this.#locks[this.#after(range.start) - 1]
    return lock !== undefined && covers(lock.mode, mode) && contains(lock.range, range) ? lock : undefined
  }

  /** Returns the number of locks that start at or before an offset. */
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

/** Idle GRANTED locks of one client, on all its resources, in order of last use. O(1) throughout. */
class IdleLocks {
  #oldest: ClientLock | null = null
  #newest: ClientLock | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Least recently used one. */
  get oldest(): ClientLock | null {
    return this.#oldest
  }

  /** @param lock  just used, not in the list. */
  add(lock: ClientLock): void {
    lock.isIdle = true
    lock.older = this.#newest
    if (this.#newest === null) this.#oldest = lock
    else this.#newest.newer = lock
    this.#newest = lock
    this.#size++
  }

  /** Removes a lock if it is in the list. */
  delete(lock: ClientLock): void {
    if (!lock.isIdle) return
    const { older, newer } = lock
    if (older === null) this.#oldest = newer
    else older.newer = newer
    if (newer === null) this.#newest = older
    else newer.older = older
    lock.isIdle = false
    lock.older = null
    lock.newer = null
    this.#size--
  }
}

export interface LockClientHost {
  readonly policy: DlmPolicy
  /** Maximum idle locks that are kept, >= 0; locks in use and those being canceled do not count. */
  readonly maxIdleLocks: number
  /** Sends to the lock service that owns the resource. */
  readonly send: (resource: ResourceId, message: ToLockServer) => void
  /** Flushes data written under a lock; `done` may be called synchronously. */
  readonly flush: (lock: ClientLock, done: () => void) => void
  /** Drops clean pages that a lock no longer covers, except those covered by `otherLocks`. */
  readonly dropClean: (lock: ClientLock, otherLocks: Iterable<ClientLock>) => void
  /** True if data of an SN are still in the page cache. */
  readonly hasData: (resource: ResourceId, sn: number) => boolean
}

export type Use = 'reader' | 'writer'

/** An operation's hold on a lock. */
export interface Pin {
  /** Lock as granted; `lock.current` is the one it was merged into. */
  readonly lock: ClientLock
  readonly use: Use
}

interface Pending {
  readonly request: LockRequest
  readonly use: Use
  readonly done: (pin: Result<Pin>) => void
}

interface OfResource {
  readonly resource: ResourceId
  readonly cached: CachedLocks
  /** Unreleased locks, including CANCELING ones, by id. */
  readonly locks: Map<number, ClientLock>
  /** Unanswered requests, by id, in order. */
  readonly pending: Map<number, Pending>
  /** Locks that were revoked before their grant arrived. */
  readonly revokedEarly: Set<number>
  /** Highest id of a granted lock: a revocation of an unknown lock up to it is late. */
  lastLockId: number
}

/** Maximum locks skipped in one search for a lock to release. */
const MAX_PASSED_OVER = 8

export class LockClient {
  readonly #host: LockClientHost
  readonly #resources = new Map<ResourceId, OfResource>()
  /** Resource of the last request, often the next one, too. */
  #recent: OfResource | null = null
  readonly #idle = new IdleLocks()
  #waiting = 0
  #lastReqId = 0

  constructor(host: LockClientHost) {
    this.#host = host
  }

  /** Number of idle GRANTED locks. */
  get idle(): number {
    return this.#idle.size
  }

  /** Number of unanswered requests. */
  get waiting(): number {
    return this.#waiting
  }

  /** Unreleased locks on a resource. */
  locks(resource: ResourceId): Iterable<ClientLock> {
    return this.#resources.get(resource)?.locks.values() ?? []
  }

  resources(): Iterable<ResourceId> {
    return this.#resources.keys()
  }

  /**
   * Pins a lock for one operation, cached or requested.
   *
   * An operation on several resources acquires them in ascending order, cached ones included, and the next only after
   * this one: this avoids deadlocks.
   */
  acquire(resource: ResourceId, mode: LockMode, range: LockRange, use: Use, done: (pin: Result<Pin>) => void): void {
    const here = this.#of(resource)
    const cached = here.cached.find(mode, range)
    if (cached !== undefined) {
      done(ok(this.#pin(cached, use)))
      return
    }
    const reqId = ++this.#lastReqId
    const request: LockRequest = { kind: 'lock-request', resource, reqId, range, mode }
    here.pending.set(reqId, { request, use, done })
    this.#waiting++
    this.#host.send(resource, request)
  }

  /** Releases an operation's pin. */
  unlock(pin: Pin): void {
    const lock = pin.lock.current
    if (pin.use === 'reader') lock.readers--
    else lock.writers--
    if (lock.state === 'CANCELING') this.#cancel(lock)
    else if (lock.readers + lock.writers === 0) {
      this.#idle.add(lock)
      this.#trim()
    }
  }

  /** Handles one message; a failure is the reason that it had no effect. */
  receive(message: Exclude<FromLockServer, { kind: 'recover-query' | 'recover-open' }>): Result<void> {
    const here = this.#of(message.resource)
    if (message.kind === 'revoke') return this.#revoke(here, message.resource, message.lockId)
    const pending = here.pending.get(message.reqId)
    if (pending === undefined) return fail({ code: 'E_REPEATED', what: `Request ${message.reqId} was answered before` })
    here.pending.delete(message.reqId)
    this.#waiting--
    if (message.kind === 'lock-grant') this.#granted(here, pending, message)
    else pending.done(fail(refused(message.code)))
    if (here.pending.size === 0) here.revokedEarly.clear()
    // Locks that the request might have absorbed were kept for it.
    this.#trim()
    return ok(undefined)
  }

  /** Returns every unreleased lock on the resources selected by `isThere`, for a server that lost them. */
  report(isThere: (resource: ResourceId) => boolean): ReportedLock[] {
    const locks: ReportedLock[] = []
    for (const [resource, here] of this.#resources) {
      if (isThere(resource)) for (const lock of here.locks.values()) locks.push(lock.report())
    }
    return locks
  }

  /** Repeats every unanswered request, oldest first. */
  resend(isThere: (resource: ResourceId) => boolean): void {
    const requests: LockRequest[] = []
    for (const [resource, { pending }] of this.#resources) {
      if (isThere(resource)) for (const { request } of pending.values()) requests.push(request)
    }
    requests.sort((a, b) => a.reqId - b.reqId)
    for (const request of requests) this.#host.send(request.resource, request)
  }

  #granted(here: OfResource, pending: Pending, grant: LockGrant): void {
    const lock = new ClientLock(grant)
    const { resource } = grant
    for (const id of grant.absorbed) {
      const old = here.locks.get(id)
      if (old === undefined) continue
      here.locks.delete(id)
      here.cached.delete(old)
      this.#idle.delete(old)
      lock.readers += old.readers
      lock.writers += old.writers
      lock.hasRead ||= old.hasRead
      for (const sn of old.sns) if (this.#host.hasData(resource, sn)) lock.sns.push(sn)
      old.forward = lock
    }
    here.locks.set(lock.lockId, lock)
    here.lastLockId = Math.max(here.lastLockId, lock.lockId)
    // A lock granted as CANCELING serves only the operation that waits for it.
    if (lock.state === 'GRANTED') here.cached.add(lock)
    const pin = this.#pin(lock, pending.use)
    if (here.revokedEarly.delete(lock.lockId)) this.#revoke(here, resource, lock.lockId)
    pending.done(ok(pin))
  }

  #revoke(here: OfResource, resource: ResourceId, lockId: number): Result<void> {
    const lock = here.locks.get(lockId)
    if (lock === undefined) {
      // It crossed the release of a lock that was canceled without a revocation.
      if (lockId <= here.lastLockId) return ok(undefined)
      // It may have overtaken the grant of a pending request.
      if (here.pending.size > 0) here.revokedEarly.add(lockId)
      return fail({ code: 'E_NOT_HELD', what: `A revocation names lock ${lockId}, which is not held` })
    }
    this.#close(here, lock)
    this.#host.send(resource, { kind: 'revoke-reply', resource, lockId })
    this.#cancel(lock)
    return ok(undefined)
  }

  /** Hides the lock from new operations. */
  #close(here: OfResource, lock: ClientLock): void {
    if (lock.state === 'CANCELING') return
    lock.state = 'CANCELING'
    here.cached.delete(lock)
    this.#idle.delete(lock)
  }

  /** Cancels idle locks beyond the limit. */
  #trim(): void {
    const { maxIdleLocks } = this.#host
    for (let passed = 0; this.#idle.size > maxIdleLocks;) {
      const lock = this.#idle.oldest as ClientLock
      const here = this.#of(lock.resource)
      if (!isWanted(here, lock)) this.#giveBack(here, lock)
      else if (++passed > MAX_PASSED_OVER) return
      else {
        this.#idle.delete(lock)
        this.#idle.add(lock)
      }
    }
  }

  /** Cancels a lock without a revocation. */
  #giveBack(here: OfResource, lock: ClientLock): void {
    const { resource, lockId, mode } = lock
    this.#close(here, lock)
    this.#cancel(lock)
    // Unless released at once, the server must not merge it with requests made meanwhile; a downgrade has the same
    // effect.
    if (lock.phase !== 'released' && lock.mode === mode) {
      this.#host.send(resource, { kind: 'revoke-reply', resource, lockId })
    }
  }

  #pin(lock: ClientLock, use: Use): Pin {
    this.#idle.delete(lock)
    if (use === 'reader') lock.readers++
    else lock.writers++
    return { lock, use }
  }

  /** Advances the cancel of a lock as far as the operations that hold it allow. */
  #cancel(lock: ClientLock): void {
    if (lock.state !== 'CANCELING' || lock.writers > 0) return
    if (lock.phase === 'for-release' || lock.phase === 'released') return
    const downgrade = this.#host.policy.downgrade ? downgradeOf(lock.mode, lock.readers > 0) : null
    if (lock.readers > 0) {
      if (!downgrade?.flushBefore || lock.phase !== 'none') return
      lock.phase = 'for-readers'
      this.#host.flush(lock, () => {
        // The readers may have left meanwhile, and the lock may have become NBW.
        if (lock.phase === 'for-readers') this.#downgrade(lock, 'PR')
      })
      return
    }
    lock.phase = 'for-release'
    if (downgrade?.mode) this.#downgrade(lock, downgrade.mode)
    this.#host.flush(lock, () => this.#release(lock))
  }

  #downgrade(lock: ClientLock, mode: LockMode): void {
    const { resource, lockId } = lock
    lock.mode = mode
    this.#host.send(resource, { kind: 'downgrade', resource, lockId, mode })
    // Others may write beside an NBW: clean data under it may no longer be current (A20).
    if (!isReadMode(mode)) this.#drop(lock)
  }

  #release(lock: ClientLock): void {
    const { resource, lockId } = lock
    lock.phase = 'released'
    this.#of(resource).locks.delete(lockId)
    this.#drop(lock)
    this.#host.send(resource, { kind: 'release', resource, lockId })
  }

  #drop(lock: ClientLock): void {
    this.#host.dropClean(lock, this.locks(lock.resource))
  }

  #of(resource: ResourceId): OfResource {
    if (this.#recent?.resource === resource) return this.#recent
    let here = this.#resources.get(resource)
    if (here === undefined) {
      here = {
        resource,
        cached: new CachedLocks(),
        locks: new Map(),
        pending: new Map(),
        revokedEarly: new Set(),
        lastLockId: 0,
      }
      this.#resources.set(resource, here)
    }
    this.#recent = here
    return here
  }
}

/** True if the answer to a request under way may absorb a lock, which must then not be released. */
function isWanted({ pending }: OfResource, { range }: ClientLock): boolean {
  if (pending.size === 0) return false
  for (const { request } of pending.values()) if (overlaps(request.range, range)) return true
  return false
}

const refused = (code: string): Failure => ({
  code,
  what: 'The lock server refused the lock',
  unaffected: 'Held locks are not affected.',
})
