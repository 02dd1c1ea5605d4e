/**
 * The lock cache of one client node: finds a lock for an operation or asks for one, and gives locks back.
 *
 * A lock is pinned by every operation that runs under it. A revocation makes it CANCELING at once, which is answered at once:
 * operations that hold it go on, no new one finds it. When the last one is done it is downgraded, flushed and released.
 * Idle locks beyond a limit are given back in the same way without being asked for, the least recently used ones first.
 * Source: SeqDLM II-A, III-D; spec/seqdlm 7. The paper's cache has no limit; that of Lustre's LDLM is the model (`lru_size`).
 */
import { fail, ok, type Failure, type Result } from '../base/result.ts'
import { CachedLocks, ClientLock } from './client-lock.ts'
import { IdleLocks } from './idle-locks.ts'
import type { FromLockServer, LockGrant, LockRequest, ReportedLock, ResourceId, ToLockServer } from './messages.ts'
import { downgradeOf, isReadMode, type LockMode } from './modes.ts'
import type { DlmPolicy } from './policy.ts'
import { overlaps, type LockRange } from './ranges.ts'

export interface LockClientHost {
  readonly policy: DlmPolicy
  /** Most locks that are kept although no operation holds them, >= 0; those in use and those being cancelled do not count. */
  readonly maxIdleLocks: number
  /** Sends to the lock service that owns the resource. */
  readonly send: (resource: ResourceId, message: ToLockServer) => void
  /** Flushes what was written under a lock; `done` may be called at once. */
  readonly flush: (lock: ClientLock, done: () => void) => void
  /** Drops clean pages of a lock that can no longer vouch for them; `others` still vouch for what they cover. */
  readonly dropClean: (lock: ClientLock, others: Iterable<ClientLock>) => void
  /** Whether data of an SN are still in the page cache. */
  readonly hasData: (resource: ResourceId, sn: number) => boolean
}

export type Use = 'reader' | 'writer'

/** An operation's hold on a lock. */
export interface Pin {
  /** As granted; `lock.current` is what it was merged into. */
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
  /** Unreleased locks, CANCELING ones too, by id. */
  readonly locks: Map<number, ClientLock>
  /** Requests without an answer, by id, in the order of asking. */
  readonly pending: Map<number, Pending>
  /** Locks that were revoked before their grant was heard of. */
  readonly revokedEarly: Set<number>
  /** Highest id of a lock that was granted: a revocation that names no later one, and none that is here, comes too late. */
  lastLockId: number
}

/** Locks that are passed over when one is to be given back, before that is left for the next time. */
const MAX_PASSED_OVER = 8

export class LockClient {
  readonly #host: LockClientHost
  readonly #resources = new Map<ResourceId, OfResource>()
  /** The one that was asked for last, which is often asked for next. */
  #recent: OfResource | null = null
  readonly #idle = new IdleLocks()
  #waiting = 0
  #lastReqId = 0

  constructor(host: LockClientHost) {
    this.#host = host
  }

  /** GRANTED locks that no operation holds. */
  get idle(): number {
    return this.#idle.size
  }

  /** Requests that wait for an answer. */
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
   * Pins a lock for one operation, from the cache or from the server.
   *
   * An operation on several resources asks in ascending order of resource, the cached ones among them, and asks for the next
   * only when it has this one: that is what keeps it from deadlock.
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

  /** Ends an operation's hold. */
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

  /** Takes one message in; a failure says why it changed nothing. */
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

  /** Every unreleased lock on the resources that `isThere` picks, for a server that lost them. */
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
    // One that comes CANCELING serves the operation that waits for it and no other.
    if (lock.state === 'GRANTED') here.cached.add(lock)
    const pin = this.#pin(lock, pending.use)
    if (here.revokedEarly.delete(lock.lockId)) this.#revoke(here, resource, lock.lockId)
    pending.done(ok(pin))
  }

  #revoke(here: OfResource, resource: ResourceId, lockId: number): Result<void> {
    const lock = here.locks.get(lockId)
    if (lock === undefined) {
      // It crossed the release of a lock that was given back unasked.
      if (lockId <= here.lastLockId) return ok(undefined)
      // It may have overtaken the grant that a request still waits for.
      if (here.pending.size > 0) here.revokedEarly.add(lockId)
      return fail({ code: 'E_NOT_HELD', what: `A revocation names lock ${lockId}, which is not held` })
    }
    this.#close(here, lock)
    this.#host.send(resource, { kind: 'revoke-reply', resource, lockId })
    this.#cancel(lock)
    return ok(undefined)
  }

  /** From now on no operation finds the lock. */
  #close(here: OfResource, lock: ClientLock): void {
    if (lock.state === 'CANCELING') return
    lock.state = 'CANCELING'
    here.cached.delete(lock)
    this.#idle.delete(lock)
  }

  /** Gives idle locks back while there are more than the limit. */
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

  /** Cancels a lock that nobody revoked. */
  #giveBack(here: OfResource, lock: ClientLock): void {
    const { resource, lockId, mode } = lock
    this.#close(here, lock)
    this.#cancel(lock)
    // Unless it is gone at once, the server must not merge it with what is asked for meanwhile; a downgrade says as much.
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

  /** Takes the cancel of a lock as far as the operations that hold it allow. */
  #cancel(lock: ClientLock): void {
    if (lock.state !== 'CANCELING' || lock.writers > 0) return
    if (lock.phase === 'for-release' || lock.phase === 'released') return
    const downgrade = this.#host.policy.downgrade ? downgradeOf(lock.mode, lock.readers > 0) : null
    if (lock.readers > 0) {
      if (!downgrade?.flushBefore || lock.phase !== 'none') return
      lock.phase = 'for-readers'
      this.#host.flush(lock, () => {
        // The readers may have left meanwhile, and the lock have become NBW.
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
    // Others may write beside an NBW: what is clean under it is no longer known to be current (A20).
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
        ...{ resource, cached: new CachedLocks(), locks: new Map(), pending: new Map(), revokedEarly: new Set() },
        lastLockId: 0,
      }
      this.#resources.set(resource, here)
    }
    this.#recent = here
    return here
  }
}

/** Whether the answer to a request under way may absorb a lock, which can then no longer be given back. */
function isWanted({ pending }: OfResource, { range }: ClientLock): boolean {
  if (pending.size === 0) return false
  for (const { request } of pending.values()) if (overlaps(request.range, range)) return true
  return false
}

const refused = (code: string): Failure => ({
  code,
  what: 'The lock server refused the lock',
  unaffected: 'Locks that are held stay as they are.',
})
