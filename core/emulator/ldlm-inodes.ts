/**
 * Inode locks of an emulated MDT: number and age by client.
 *
 * Model: there are no files behind an MDT, so locks are counted, not named. An operation that travels as an enqueue (open,
 * create, getattr) grants its client a lock on a file on which it held none; otherwise it would not have sent one. An operation
 * that changes or removes a file (unlink, rmdir, rename, setattr) cancels the newest lock of its own client, as clients do
 * before they send it. Unused locks are dropped with age, or earlier when the server's lock volume is short.
 *
 * Approximations: clients never compete for a lock, directories have none, ages are known to ten seconds, and a granted lock is
 * not used again. An RPC increments a counter and, every ten seconds, adds a cohort.
 */
import type { NamespaceDialect } from '../lustre/text-dialect.ts'
import { CLIENT_RECALC_NS, EmulatedLocks, type IsTooOld } from './ldlm-locks.ts'
import { METADATA_RPCS, type MetadataOperation } from './operations.ts'

/** Locks of one client granted in the same ten seconds. */
interface Cohort {
  readonly atNs: number
  locks: number
}

interface ClientLocks {
  /** Oldest first. */
  readonly cohorts: Cohort[]
  locks: number
}

const CANCELS: ReadonlySet<string> = new Set<MetadataOperation>(['unlink', 'rmdir', 'rename', 'setattr'])

export class InodeLocks extends EmulatedLocks {
  readonly #clients = new Map<string, ClientLocks>()

  constructor(clock: () => number, dialect: NamespaceDialect) {
    super(clock, dialect)
  }

  /** Number of resources: every lock is on a different inode. */
  protected get resourcesNow(): number {
    return this.locksPool.granted
  }

  /** Updates the locks for an operation that the MDT did for a client. */
  done(client: string, op: MetadataOperation): void {
    const now = this.advance()
    if (METADATA_RPCS[op].opcode === 'ldlm_enqueue') this.#grant(client, now)
    else if (CANCELS.has(op)) this.#cancelNewest(client)
  }

  #grant(client: string, now: number): void {
    let c = this.#clients.get(client)
    if (!c) this.#clients.set(client, (c = { cohorts: [], locks: 0 }))
    const atNs = now - (now % CLIENT_RECALC_NS)
    const newest = c.cohorts.at(-1)
    if (newest?.atNs === atNs) newest.locks++
    else c.cohorts.push({ atNs, locks: 1 })
    c.locks++
    this.locksPool.grant()
  }

  #cancelNewest(client: string): void {
    const c = this.#clients.get(client)
    const newest = c?.cohorts.at(-1)
    if (!c || !newest) return
    c.locks--
    if (--newest.locks === 0) c.cohorts.pop()
    this.locksPool.cancel()
  }

  protected dropOld(nowNs: number, isTooOld: IsTooOld): void {
    for (const c of this.#clients.values()) {
      for (let oldest = c.cohorts[0]; oldest && isTooOld(nowNs - oldest.atNs, c.locks); oldest = c.cohorts[0]) {
        c.cohorts.shift()
        c.locks -= oldest.locks
        this.locksPool.cancel(oldest.locks)
      }
    }
  }
}
