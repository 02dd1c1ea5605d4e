/**
 * State machine of the lock server for one resource: queue, grant, revoke, cancel, release.
 *
 * Requests are granted in order of arrival among those that conflict; one without conflicts with unreleased locks and
 * earlier requests passes (A4). Source: SeqDLM II-A, III; spec/seqdlm 4-6. Deviation in form only: where the text scans
 * the whole queue at every event, a waiting request here remembers one blocker and is checked again when that is
 * removed; the grants are the same, as lock-resource.test.ts verifies.
 */
import type { GrantRule, LockObserver } from './lock-events.ts'
import { LockTable, type Wanted } from './lock-table.ts'
import type { ClientId, FromLockServer, LockRequest, ResourceId } from './messages.ts'
import { isWriteMode, type LockMode } from './modes.ts'
import type { DlmPolicy } from './policy.ts'
import { overlaps, type LockRange } from './ranges.ts'
import { ServerLock, Waiter, WaitQueue } from './server-lock.ts'

/** Interface of the server for its resources. */
export interface ResourceHost {
  readonly policy: DlmPolicy
  /** Passes a message on for delivery; it must not be delivered before the call that caused it has returned. */
  readonly send: (client: ClientId, message: FromLockServer) => void
  readonly now: () => number
  readonly newLockId: () => number
  readonly observe: LockObserver | undefined
}

/** Sequence numbers end before a double can no longer distinguish n from n + 1. */
export const MAX_SN = Number.MAX_SAFE_INTEGER - 1

const NO_IDS: readonly number[] = []

export class LockResource {
  readonly id: ResourceId
  readonly #host: ResourceHost
  readonly #table: LockTable
  readonly #locks = new Map<number, ServerLock>()
  readonly #queue = new WaitQueue()
  #arrivals = 0
  #nextSn = 1
  /** Requests to check again, in order of arrival. */
  #recheck: Waiter[] = []

  constructor(id: ResourceId, host: ResourceHost) {
    this.id = id
    this.#host = host
    this.#table = new LockTable(host.policy)
  }

  /** SN of the next write lock, >= 1. */
  get nextSn(): number {
    return this.#nextSn
  }

  get waiting(): number {
    return this.#queue.length
  }

  get unreleased(): number {
    return this.#locks.size
  }

  locks(): Iterable<ServerLock> {
    return this.#locks.values()
  }

  /** Iterates over waiting requests, oldest first. */
  *waiters(): Generator<Waiter, void, void> {
    for (let w = this.#queue.first; w !== null; w = w.next) yield w
  }

  lock(lockId: number): ServerLock | undefined {
    return this.#locks.get(lockId)
  }

  /** @complexity O(log n) in unreleased locks, O(n) in waiting requests. */
  request(client: ClientId, request: LockRequest): void {
    const at = this.#host.now()
    const w = new Waiter(client, request, at, this.#arrivals++)
    const { mode, range, reqId } = request
    const resource = this.id
    this.#host.observe?.({ kind: 'asked', resource, at, client, reqId, mode, range })
    const wanted = this.#look(w)
    if (wanted !== null) this.#grant(w, wanted, false)
    else {
      this.#queue.push(w)
      const behindClient = w.witness?.client ?? client
      this.#host.observe?.({ kind: 'waiting', resource, at, client, reqId, behindClient })
    }
    this.#settle()
  }

  /** Marks a lock as unusable for new operations: its revocation was answered. */
  cancel(lock: ServerLock): void {
    if (lock.state === 'CANCELING') return
    lock.state = 'CANCELING'
    this.#observe('canceling', lock)
    this.#changed(lock)
    this.#settle()
  }

  /** Downgrades a lock, which implies CANCELING. */
  downgrade(lock: ServerLock, mode: LockMode): void {
    lock.mode = mode
    lock.state = 'CANCELING'
    const { client, lockId } = lock
    this.#host.observe?.({ kind: 'downgraded', resource: this.id, at: this.#host.now(), client, lockId, mode })
    this.#changed(lock)
    this.#settle()
  }

  release(lock: ServerLock): void {
    this.#drop(lock)
    this.#observe('released', lock)
    this.#settle()
  }

  /** Drops a client: its locks are released and its requests withdrawn. */
  evict(client: ClientId): void {
    for (const w of this.waiters()) {
      if (w.client !== client) continue
      this.#queue.delete(w)
      this.#withdrawn(w)
    }
    for (const lock of this.#locks.values()) {
      if (lock.client !== client) continue
      this.#drop(lock)
      this.#observe('evicted', lock)
    }
    this.#settle()
  }

  /** Restores a lock that a client reported after the server lost it. */
  restore(lock: ServerLock): void {
    this.#locks.set(lock.lockId, lock)
    this.#table.add(lock)
    this.#nextSn = Math.max(this.#nextSn, Math.min(lock.sn, MAX_SN) + 1)
  }

  /** Raises the next SN above every one that may have been assigned. */
  skipSn(highest: number): void {
    this.#nextSn = Math.max(this.#nextSn, highest + 1)
  }

  /** Returns the least SN of data that may still arrive for start..end (inclusive); Infinity if none. */
  minSn(start: number, end: number): number {
    return this.#table.minSn(start, end)
  }

  /** Returns the grant of a request if nothing denied it, with the present locks and requests. */
  preview(client: ClientId, mode: LockMode, required: LockRange): Pick<ServerLock, 'mode' | 'range' | 'state'> {
    const wanted = this.#table.wanted(client, mode, required)
    const range = { ...wanted.range, end: this.#table.expandedEnd(wanted, this.#queue) }
    return { mode: wanted.mode, range, state: this.#stateOf(wanted, range) }
  }

  /** Queues a request without checking it; for `preview`. */
  enqueue(client: ClientId, request: LockRequest): void {
    this.#queue.push(new Waiter(client, request, this.#host.now(), this.#arrivals++))
  }

  /** Revokes all that denies a request; returns its grant if nothing does, else null and sets a witness. */
  #look(w: Waiter): Wanted | null {
    const wanted = this.#wantedBy(w)
    for (const lock of this.#table.openAgainst(wanted)) this.#revoke(lock)
    const witness = this.#queue.conflictBefore(w) ?? this.#table.obstacle(wanted) ?? null
    // Still in the list of its previous witness, unless that released it.
    if (witness !== w.witness) witness?.watchers.push(w)
    w.witness = witness
    return witness === null ? wanted : null
  }

  #wantedBy(w: Waiter): Wanted {
    const wanted = this.#table.wanted(w.client, w.mode, w.range)
    w.wantedMode = wanted.mode
    w.wantedRange = wanted.range
    return wanted
  }

  #grant(w: Waiter, wanted: Wanted, hasWaited: boolean): void {
    const { send, newLockId, now, observe } = this.#host
    const { client, reqId } = w
    const { mode } = wanted
    const resource = this.id
    if (isWriteMode(mode) && this.#nextSn > MAX_SN) {
      send(client, { kind: 'lock-refusal', resource, reqId, code: 'E_SN_EXHAUSTED' })
      this.#withdrawn(w)
      return
    }
    const end = this.#table.expandedEnd(wanted, this.#queue)
    const { start, pieces } = wanted.range
    const range = end === wanted.range.end ? wanted.range : { start, end, pieces }
    const state = this.#stateOf(wanted, range)
    const sn = this.#nextSn
    if (isWriteMode(mode)) this.#nextSn++
    let minSn = sn
    const rule = observe === undefined ? 'free' : this.#ruleOf(wanted, hasWaited)
    for (const old of wanted.absorbed) {
      if (isWriteMode(old.mode)) minSn = Math.min(minSn, old.minSn)
      this.#drop(old)
    }
    const lock = new ServerLock({ lockId: newLockId(), client, reqId, range, sn, minSn, mode, state })
    this.#locks.set(lock.lockId, lock)
    this.#table.add(lock)
    const absorbed = wanted.absorbed.length === 0 ? NO_IDS : wanted.absorbed.map((l) => l.lockId)
    const { lockId } = lock
    send(client, { kind: 'lock-grant', resource, reqId, lockId, range, mode, state, sn, absorbed })
    const at = now()
    // One literal: an object spread costs as much as the rest of a grant.
    // prettier-ignore
    observe?.({
      kind: 'granted', resource, at, client, lockId, reqId, asked: w.mode, mode, range, required: w.range,
      state, sn, minSn, absorbed, waitedNs: at - w.requestedAt, rule,
    })
    if (state === 'GRANTED' && this.#queue.hasConflict(client, mode, range)) this.#revoke(lock)
    this.#again(w.watchers)
    this.#againOf(lock)
  }

  #ruleOf(wanted: Wanted, hasWaited: boolean): GrantRule {
    if (this.#table.isOverCanceling(wanted)) return 'early-grant'
    return hasWaited ? 'normal-grant' : 'free'
  }

  /** Early revocation: a lock that could not expand and that a waiting request wants will not be reused. */
  #stateOf(wanted: Wanted, range: LockRange): ServerLock['state'] {
    const isFull = range.end === wanted.range.end
    const { earlyRevocation } = this.#host.policy
    return earlyRevocation && isFull && this.#queue.hasConflict(wanted.client, wanted.mode, range)
      ? 'CANCELING'
      : 'GRANTED'
  }

  #revoke(lock: ServerLock): void {
    if (!lock.isOpen) return
    lock.revokedAt = this.#host.now()
    this.#table.refile(lock)
    this.#observe('revoked', lock)
    this.#host.send(lock.client, { kind: 'revoke', resource: this.id, lockId: lock.lockId })
    // Requests of its own client can no longer merge with it.
    this.#againOf(lock)
  }

  #changed(lock: ServerLock): void {
    this.#table.refile(lock)
    this.#again(lock.watchers)
    lock.watchers = []
    this.#againOf(lock)
  }

  #drop(lock: ServerLock): void {
    this.#table.delete(lock)
    this.#locks.delete(lock.lockId)
    this.#again(lock.watchers)
    this.#againOf(lock)
  }

  #again(watchers: readonly Waiter[]): void {
    for (let i = 0; i < watchers.length; i++) {
      const w = watchers[i] as Waiter
      w.witness = null
      if (w.isQueued) this.#recheck.push(w)
    }
  }

  /**
   * Rechecks waiting requests of the lock's client. They merge with a lock if they need part of its range; if they
   * reach it only through other locks that they merge with, it blocks them. Their resulting range counts at once for
   * grants out of turn.
   */
  #againOf({ client, range }: ServerLock): void {
    for (let w = this.#queue.first; w !== null; w = w.next) {
      if (w.client !== client || !overlaps(w.wantedRange, range)) continue
      this.#wantedBy(w)
      this.#recheck.push(w)
    }
  }

  #settle(): void {
    while (this.#recheck.length > 0) {
      const due = inOrder(this.#recheck)
      this.#recheck = []
      for (let i = 0; i < due.length; i++) {
        const w = due[i] as Waiter
        if (!w.isQueued) continue
        const wanted = this.#look(w)
        if (wanted === null) continue
        this.#queue.delete(w)
        this.#grant(w, wanted, true)
        // Its watchers may precede the rest of the requests that are due.
        if (this.#recheck.length === 0) continue
        for (let rest = i + 1; rest < due.length; rest++) this.#recheck.push(due[rest] as Waiter)
        break
      }
    }
  }

  #withdrawn({ client, reqId, watchers }: Waiter): void {
    this.#host.observe?.({ kind: 'withdrawn', resource: this.id, at: this.#host.now(), client, reqId })
    this.#again(watchers)
  }

  #observe(kind: 'revoked' | 'canceling' | 'released' | 'evicted', { client, lockId }: ServerLock): void {
    this.#host.observe?.({ kind, resource: this.id, at: this.#host.now(), client, lockId })
  }
}

/** Largest number of locks that is sorted by insertion. */
const FEW = 32

/**
 * Returns each of these once, in order of arrival; may sort in place. Each step of a lock yields only a few: a set and
 * a sort took a fifth of a contended lock server.
 */
function inOrder(waiters: Waiter[]): Waiter[] {
  if (waiters.length > FEW) return [...new Set(waiters)].sort((a, b) => a.order - b.order)
  let size = Math.min(1, waiters.length)
  for (let i = 1; i < waiters.length; i++) {
    const w = waiters[i] as Waiter
    let at = size
    while (at > 0 && (waiters[at - 1] as Waiter).order > w.order) at--
    if (at > 0 && waiters[at - 1] === w) continue
    for (let j = size++; j > at; j--) waiters[j] = waiters[j - 1] as Waiter
    waiters[at] = w
  }
  waiters.length = size
  return waiters
}
