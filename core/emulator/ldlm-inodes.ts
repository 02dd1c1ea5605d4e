/**
 * Inode locks of an emulated MDT: how many each client holds, and since when.
 *
 * The model: there are no files behind an MDT, so locks are counted, not named. An operation that travels as an enqueue
 * (open, create, getattr) grants its client a lock on a file that it had none on; else it would not have asked. An operation
 * that changes or removes a file (unlink, rmdir, rename, setattr) cancels the newest lock of its own client, as clients do
 * before they send it. Locks leave unused with age, or earlier when the server's lock volume is short.
 *
 * Approximations: no lock is wanted by two clients, directories have none, ages are known to ten seconds, and a lock that was
 * granted is not used again. An RPC adds to a number and, every ten seconds, makes one.
 */
import type { NamespaceDialect } from '../lustre/text-dialect.ts'
import { CLIENT_RECALC_NS, ServedLocks, type IsTooOld } from './ldlm-served.ts'
import { METADATA_RPCS, type MetadataOperation } from './operations.ts'

/** Locks of one client that were granted in the same ten seconds. */
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

export class InodeLocks extends ServedLocks {
  readonly #clients = new Map<string, ClientLocks>()

  constructor(clock: () => number, dialect: NamespaceDialect) {
    super(clock, dialect)
  }

  /** Every lock is on another inode. */
  protected get resourcesNow(): number {
    return this.locksPool.granted
  }

  /** The MDT did an operation for a client. */
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
