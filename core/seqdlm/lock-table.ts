/**
 * Table of the unreleased locks of one resource, with the queries of requests.
 *
 * Locks are in one index per kind, so a check of a request touches only the kinds that Table II denies it: CANCELING
 * NBW locks, by far the most under early grant, are not visited for the NBW and BW requests that may pass them.
 */
import { LockIndex } from './lock-index.ts'
import type { ClientId } from './messages.ts'
import { join, type LockMode } from './modes.ts'
import type { DlmPolicy } from './policy.ts'
import { EOF, overlaps, union, type LockRange } from './ranges.ts'
import { DENIED, kindOf, type LockKind, type ServerLock, type WaitQueue } from './server-lock.ts'

/** A request with the locks of its own client that its grant would absorb. */
export interface Wanted {
  readonly client: ClientId
  readonly mode: LockMode
  readonly range: LockRange
  readonly absorbed: readonly ServerLock[]
}

const NO_LOCKS: readonly ServerLock[] = []

export class LockTable {
  readonly #policy: DlmPolicy
  readonly #kinds: Readonly<Record<LockKind, LockIndex<ServerLock>>> = {
    read: new LockIndex(),
    write: new LockIndex(),
    'revoked-read': new LockIndex(),
    'revoked-write': new LockIndex(),
    'canceling-nbw': new LockIndex(),
  }
  /** Kinds whose data may still arrive. */
  readonly #writes = [this.#kinds.write, this.#kinds['revoked-write'], this.#kinds['canceling-nbw']]
  /** Kinds that deny a mode. */
  readonly #denying: Readonly<Record<LockMode, readonly LockIndex<ServerLock>[]>> = {
    PR: this.#denyingOf('PR'),
    NBW: this.#denyingOf('NBW'),
    BW: this.#denyingOf('BW'),
    PW: this.#denyingOf('PW'),
  }
  /** Open PR locks by client: other clients may have thousands on the same bytes, and a PR request merges its own. */
  readonly #readsByClient = new Map<ClientId, LockIndex<ServerLock>>()

  constructor(policy: DlmPolicy) {
    this.#policy = policy
  }

  get size(): number {
    let size = 0
    for (const kind of Object.values(this.#kinds)) size += kind.size
    return size
  }

  add(lock: ServerLock): void {
    lock.kind = kindOf(lock, this.#policy.earlyGrant)
    this.#kinds[lock.kind].add(lock)
    if (lock.kind !== 'read') return
    let reads = this.#readsByClient.get(lock.client)
    if (reads === undefined) this.#readsByClient.set(lock.client, (reads = new LockIndex()))
    reads.add(lock)
  }

  delete(lock: ServerLock): void {
    this.#kinds[lock.kind].delete(lock)
    if (lock.kind !== 'read') return
    const reads = this.#readsByClient.get(lock.client)
    reads?.delete(lock)
    if (reads?.size === 0) this.#readsByClient.delete(lock.client)
  }

  /** Moves a lock after a change of mode, state or revocation to its current index. */
  refile(lock: ServerLock): void {
    if (kindOf(lock, this.#policy.earlyGrant) === lock.kind) return
    this.delete(lock)
    this.add(lock)
  }

  /**
   * Returns the mode and range that a request is granted: joined with the open locks of its own client that it
   * overlaps.
   *
   * Without upgrading a lock merges only where one of the two modes covers the other.
   */
  wanted(client: ClientId, mode: LockMode, range: LockRange): Wanted {
    let absorbed: ServerLock[] | null = null
    const collect = (lock: ServerLock): boolean => {
      if (lock.client !== client || !overlaps(lock.range, range)) return false
      const joint = join(lock.mode, mode)
      if (this.#policy.upgrade || joint === mode || joint === lock.mode) (absorbed ??= []).push(lock)
      return false
    }
    // Open write locks of other clients found here conflict, and are revoked by the caller: each is found once.
    if (this.#kinds.write.size > 0) this.#kinds.write.find(range, collect)
    if (this.#readsByClient.size > 0) this.#readsByClient.get(client)?.find(range, collect)
    if (absorbed === null) return { client, mode, range, absorbed: NO_LOCKS }
    const locks: readonly ServerLock[] = absorbed
    return {
      client,
      absorbed: locks,
      mode: locks.reduce((m, l) => join(l.mode, m), mode),
      range: locks.reduce((r, l) => union(r, l.range), range),
    }
  }

  /** Returns an unreleased lock that denies a request, except those it absorbs; undefined if there is none. */
  obstacle(wanted: Wanted): ServerLock | undefined {
    const denies = (lock: ServerLock): boolean =>
      (wanted.absorbed.length === 0 || !wanted.absorbed.includes(lock)) && overlaps(lock.range, wanted.range)
    for (const index of this.#denying[wanted.mode]) {
      const found = index.size === 0 ? undefined : index.find(wanted.range, denies)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Returns the open locks that deny a request: those to be revoked. */
  openAgainst(wanted: Wanted): readonly ServerLock[] {
    const { read, write } = this.#kinds
    const reads = wanted.mode === 'PR' ? 0 : read.size
    if (reads + write.size === 0) return NO_LOCKS
    const found: ServerLock[] = []
    const collect = (lock: ServerLock): boolean => {
      if (!wanted.absorbed.includes(lock) && overlaps(lock.range, wanted.range)) found.push(lock)
      return false
    }
    if (reads > 0) read.find(wanted.range, collect)
    write.find(wanted.range, collect)
    return found
  }

  /**
   * Returns the end of the range that a request is granted (spec/seqdlm 5): up to the next unreleased lock or waiting
   * request that it would deny, or that would deny it. The start never moves.
   */
  expandedEnd(wanted: Wanted, queue: WaitQueue): number {
    const { start, end } = wanted.range
    const policy = this.#policy
    if (!policy.expand || end === EOF) return end
    let limit = EOF
    for (const index of this.#denying[wanted.mode]) limit = Math.min(limit, index.startAfter(end) - 1)
    if (policy.queueLimits) limit = Math.min(limit, queueLimit(wanted, queue))
    if (policy.capBytes < Infinity && this.size > policy.capAbove)
      limit = Math.min(limit, Math.max(end, start + policy.capBytes - 1))
    return Math.max(end, limit)
  }

  /** True if a grant passes an NBW lock that has yet to flush: early grant. */
  isOverCanceling({ client, range }: Wanted): boolean {
    const index = this.#kinds['canceling-nbw']
    return index.find(range, (lock) => lock.client !== client && overlaps(lock.range, range)) !== undefined
  }

  /**
   * Returns the least SN of data that may still arrive for some of these bytes; Infinity if no write lock is unreleased
   * there.
   */
  minSn(start: number, end: number): number {
    let least = Infinity
    for (const index of this.#writes) least = index.leastSn(start, end, least)
    return least
  }

  #denyingOf(mode: LockMode): readonly LockIndex<ServerLock>[] {
    return DENIED[mode].map((kind) => this.#kinds[kind])
  }
}

/** Returns the last byte before the first waiting request of another client that the lock would deny. */
function queueLimit(wanted: Wanted, queue: WaitQueue): number {
  const { start, end } = wanted.range
  let limit = EOF
  for (let q = queue.first; q !== null; q = q.next) {
    if (q.client === wanted.client || q.range.end < start || (q.mode === 'PR' && wanted.mode === 'PR')) continue
    // A request for some of the required bytes rules out any expansion (A8).
    if (q.range.start <= end) return end
    limit = Math.min(limit, q.range.start - 1)
  }
  return limit
}
