/**
 * Lock service of one server: its resources, their messages, and recovery.
 *
 * Messages enter through `receive`, answers leave through `send`; it reads the time and never waits. An invalid message
 * of a client (a release of a lock it does not hold, a duplicate, an unknown mode, an inverted range) is a Failure that
 * leaves every lock unchanged. Source: spec/seqdlm 3, 4, 11.
 */
import { fail, ok, type Failure, type Result } from '../base/result.ts'
import type { LockObserver } from './lock-events.ts'
import { LockResource, MAX_SN } from './lock-resource.ts'
import type {
  ClientId,
  FromLockServer,
  LockRequest,
  RefusalCode,
  ReportedLock,
  ResourceId,
  ToLockServer,
} from './messages.ts'
import { isLockMode, isWriteMode } from './modes.ts'
import type { DlmPolicy } from './policy.ts'
import { isLockRange } from './ranges.ts'
import { ServerLock } from './server-lock.ts'

export interface LockServerHost {
  readonly policy: DlmPolicy
  /** Passes a message on for delivery; it must not be delivered before `receive` has returned. */
  readonly send: (client: ClientId, message: FromLockServer) => void
  /** Integer ns. */
  readonly now: () => number
  readonly observe?: LockObserver | undefined
  /** Counts the restarts of this server: ids of locks of different epochs differ. */
  readonly epoch?: number | undefined
}

const LOCKS_PER_EPOCH = 2 ** 36
const DONE: Result<void> = ok(undefined)

export class LockServer {
  readonly #host: LockServerHost
  readonly #resources = new Map<ResourceId, LockResource>()
  readonly #lastReqId = new Map<ClientId, number>()
  #lastLockId: number
  readonly #reported = new Set<ClientId>()
  /** Clients that have yet to report their locks; undefined once open. */
  #expected: Set<ClientId> | undefined

  constructor(host: LockServerHost) {
    this.#host = host
    this.#lastLockId = (host.epoch ?? 0) * LOCKS_PER_EPOCH
  }

  get isOpen(): boolean {
    return this.#expected === undefined
  }

  resources(): Iterable<LockResource> {
    return this.#resources.values()
  }

  /** Returns the resource with this id, creating it if necessary. */
  resource(id: ResourceId): LockResource {
    let resource = this.#resources.get(id)
    if (resource === undefined) {
      const { policy, send, now, observe } = this.#host
      resource = new LockResource(id, { policy, send, now, observe, newLockId: () => ++this.#lastLockId })
      this.#resources.set(id, resource)
    }
    return resource
  }

  /** Handles one message; a failure is the reason that it had no effect. */
  receive(client: ClientId, message: ToLockServer): Result<void> {
    if (message.kind === 'lock-request') return this.#request(client, message)
    if (message.kind === 'recover-report') return this.#report(client, message.locks)
    const resource = this.#resources.get(message.resource)
    const lock = resource?.lock(message.lockId)
    if (resource === undefined || lock === undefined || lock.client !== client) {
      // Its reply may cross the grant that absorbed the lock, and then has no effect.
      if (message.kind === 'revoke-reply') return DONE
      return fail(notHeld(client, message.kind, message.resource, message.lockId))
    }
    if (message.kind === 'revoke-reply') resource.cancel(lock)
    else if (message.kind === 'release') resource.release(lock)
    else if (!isLockMode(message.mode)) return fail(badMode(client))
    else resource.downgrade(lock, message.mode)
    return DONE
  }

  /** Drops a client that crashed or never answered: its locks are released, its dirty data are lost. */
  evict(client: ClientId): void {
    this.#lastReqId.delete(client)
    for (const resource of this.#resources.values()) resource.evict(client)
    if (this.#expected?.delete(client)) this.#openIfComplete()
  }

  /**
   * Returns clients with a revocation sent before `before` (ns) and not yet followed by a release: candidates for
   * eviction.
   */
  overdue(before: number): Set<ClientId> {
    const clients = new Set<ClientId>()
    for (const resource of this.#resources.values()) {
      for (const lock of resource.locks()) if (lock.revokedAt >= 0 && lock.revokedAt < before) clients.add(lock.client)
    }
    return clients
  }

  /** Returns the least SN of data that may still arrive for these bytes (inclusive); Infinity if none. */
  minSn(resource: ResourceId, start: number, end: number): number {
    return this.#resources.get(resource)?.minSn(start, end) ?? Infinity
  }

  /**
   * Recovers after a crash: queries every client for its locks and opens when all have answered or are evicted.
   *
   * @param highestSn  highest SN by resource in the extent log or another durable record (A12).
   */
  recover(clients: Iterable<ClientId>, highestSn: ReadonlyMap<ResourceId, number>): void {
    this.#expected = new Set(clients)
    for (const [id, sn] of highestSn) this.resource(id).skipSn(sn)
    for (const client of this.#expected) this.#host.send(client, { kind: 'recover-query' })
    this.#reported.clear()
    this.#openIfComplete()
  }

  #openIfComplete(): void {
    if (this.#expected === undefined || this.#expected.size > 0) return
    this.#expected = undefined
    for (const client of this.#reported) this.#host.send(client, { kind: 'recover-open' })
  }

  #report(client: ClientId, locks: readonly ReportedLock[]): Result<void> {
    if (!this.#expected?.delete(client)) {
      return fail({ code: 'E_NOT_RECOVERING', what: `Client ${client} reports locks without a request` })
    }
    this.#reported.add(client)
    for (const l of locks) {
      const lock = new ServerLock({ ...l, client, reqId: 0 })
      // A revocation before the crash is repeated when the lock is wanted again.
      this.resource(l.resource).restore(lock)
      this.#lastLockId = Math.max(this.#lastLockId, l.lockId)
    }
    this.#openIfComplete()
    return DONE
  }

  #request(client: ClientId, message: LockRequest): Result<void> {
    if (!this.isOpen)
      return fail({ code: 'E_RECOVERING', what: 'The lock server is recovering locks', next: 'Retry when it is open.' })
    const { resource: id, reqId, mode, range } = message
    const last = this.#lastReqId.get(client) ?? 0
    if (!(reqId > last))
      return fail({ code: 'E_REPEATED', what: `Request ${reqId} of client ${client} was received before` })
    this.#lastReqId.set(client, reqId)
    const refusal = this.#refusal(message)
    if (refusal !== null) {
      this.#host.send(client, { kind: 'lock-refusal', resource: id, reqId, code: refusal.code as RefusalCode })
      return fail(refusal)
    }
    // Copies the checked request, so that its sender may change the message.
    this.resource(id).request(client, { kind: 'lock-request', resource: id, reqId, mode, range })
    return DONE
  }

  #refusal({ resource, mode, range }: LockRequest): Failure | null {
    if (!isLockMode(mode)) return { code: 'E_MODE', what: 'The lock mode is unknown', next: 'PR, NBW, BW or PW.' }
    if (!isLockRange(range)) {
      return {
        code: 'E_RANGE',
        what: 'The lock range is inverted, overlaps itself or is not made of whole byte offsets',
      }
    }
    const nextSn = this.#resources.get(resource)?.nextSn ?? 1
    if (isWriteMode(mode) && nextSn > MAX_SN) {
      return { code: 'E_SN_EXHAUSTED', what: 'The resource has no sequence numbers left', why: 'they end at 2^53' }
    }
    return null
  }
}

const notHeld = (client: ClientId, kind: string, resource: ResourceId, lockId: number): Failure => ({
  code: 'E_NOT_HELD',
  what: `A ${kind} of client ${client} names lock ${lockId} of resource ${resource}, which it does not hold`,
  unaffected: 'All locks are unchanged.',
})

const badMode = (client: ClientId): Failure => ({
  code: 'E_MODE',
  what: `Client ${client} downgrades to an unknown mode`,
})
