/**
 * Extent locks of an emulated OST: clients that may read or write each object.
 *
 * Model: the first RPC of a client to an object acquires a lock on the whole object, because no other client wants a part of
 * it; later ones find it in the client's cache. A write revokes the locks of other clients, a read those of writers. A client
 * drops locks unused for lru_max_age, or earlier when the server's lock volume is short. Objects are those of the emulated
 * jobs: one a process, or one shared by several clients, whose lock and waiting times SharedRange models.
 *
 * Approximations: for unshared objects a lock takes no time and no message; locks left by a job age as if its files stayed;
 * writes to lru_size, lru_max_age and contended_locks change nothing. An RPC that finds its lock allocates nothing.
 */
import type { NamespaceDialect } from '../lustre/text-dialect.ts'
import { EmulatedLocks, type IsTooOld } from './ldlm-locks.ts'

interface Held {
  readonly client: string
  readonly isWrite: boolean
  usedNs: number
}

interface LockedObject {
  /** Usually one holder. */
  held: Held[]
  /** True if a SharedRange models its lock; RPCs do not take it. */
  isShared: boolean
  waiting: number
}

export class ExtentLocks extends EmulatedLocks {
  readonly #objects = new Map<string, LockedObject>()
  /** Locks by client. */
  readonly #counts = new Map<string, number>()

  constructor(clock: () => number, dialect: NamespaceDialect) {
    super(clock, dialect)
  }

  protected get resourcesNow(): number {
    return this.#objects.size
  }

  /** Acquires the lock for an RPC on an object; none is needed if the RPC names no object. */
  touch(client: string, object: string | undefined, isWrite: boolean): void {
    if (object === undefined) return
    const now = this.advance()
    const o = this.#object(object)
    const { held } = o
    for (const h of held) {
      if (h.client !== client || (isWrite && !h.isWrite)) continue
      h.usedNs = now
      return
    }
    if (!o.isShared) this.#take(o, client, isWrite, now)
  }

  /** Queues a client for the lock of a shared object. */
  wait(object = ''): void {
    this.advance()
    const o = this.#object(object)
    o.isShared = true
    if (o.held.length + o.waiting > this.contendedLocks) this.contentionEvents++
    o.waiting++
    this.waiting++
  }

  /** Grants the lock of a shared object to a client, for `requests` of its waiting requests. */
  handOver(client: string, requests: number, object = ''): void {
    const now = this.advance()
    const o = this.#object(object)
    o.waiting -= requests
    this.waiting -= requests
    this.#take(o, client, true, now)
  }

  #object(name: string): LockedObject {
    let o = this.#objects.get(name)
    if (!o) this.#objects.set(name, (o = { held: [], isShared: false, waiting: 0 }))
    return o
  }

  #take(o: LockedObject, client: string, isWrite: boolean, now: number): void {
    o.held = o.held.filter((h) => {
      const stays = !isWrite && !h.isWrite
      if (!stays) this.#cancel(h)
      return stays
    })
    o.held.push({ client, isWrite, usedNs: now })
    this.#counts.set(client, (this.#counts.get(client) ?? 0) + 1)
    this.locksPool.grant()
  }

  #cancel({ client }: Held): void {
    this.#counts.set(client, (this.#counts.get(client) ?? 0) - 1)
    this.locksPool.cancel()
  }

  protected dropOld(nowNs: number, isTooOld: IsTooOld): void {
    for (const [name, o] of this.#objects) {
      const isOld = (h: Held): boolean => isTooOld(nowNs - h.usedNs, this.#counts.get(h.client) ?? 0)
      // The holder of a shared lock writes into its cache unobserved: the lock is revoked, not dropped.
      if (o.isShared || !o.held.some(isOld)) continue
      o.held = o.held.filter((h) => {
        const isRemoved = isOld(h)
        if (isRemoved) this.#cancel(h)
        return !isRemoved
      })
      if (o.held.length === 0) this.#objects.delete(name)
    }
  }
}
