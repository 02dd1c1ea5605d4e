/**
 * Commit lock of a cluster across all processes that share a data folder: a commit reads the servers and then writes,
 * and no other process may write in between.
 *
 * The holder renews the lock while it works. A process of this machine that has ended holds nothing. Of processes of
 * other machines, including this one under a former name, only the renewals are known: the lock is free once they stop.
 * A holder that renews too late detects before its next command that it has lost the lock.
 */
import { plainText } from '#core/base/plain-text.ts'
import { formatSpan } from '#core/base/figure-text.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { isOrphan, isProvenToRun, thisProcess, type LeaseRecord } from './store-leases.ts'
import type { EnforcementStore } from './store.ts'

const FREE = 'free'
const planOf = (cluster: string): string => `commit of ${cluster}`
/** Renewal interval, wall ms. */
const RENEWED_MS = 5_000
/** A lock not renewed for this long is free, wall ms. */
export const LAPSED_MS = 60_000

/** A held lock. */
export interface CommitLock {
  /** Reason why nothing more may be sent under it; undefined while it is held. */
  readonly lost: () => Failure | undefined
  readonly release: () => void
}

type Holder = Pick<LeaseRecord, 'machine' | 'pid' | 'born'> & {
  /** Time of the newest renewal, Unix ms; undefined if an older release holds the lock. */
  readonly renewedMs: number | undefined
}

/** `busy MACHINE PID BORN RENEWED` */
const busyState = (nowMs: number): string => {
  const { machine, pid, born } = thisProcess()
  return `busy ${machine} ${pid} ${born} ${Math.round(nowMs)}`
}

function holderOf(state: string): Holder | undefined {
  const [, machine, pid, born, renewed] = /^busy (\S+) (\d+) (\S*)(?: (\d+))?$/.exec(state) ?? []
  if (machine === undefined || pid === undefined) return undefined
  return { machine, pid: Number(pid), born: born ?? '', renewedMs: renewed === undefined ? undefined : Number(renewed) }
}

function isThisProcess({ machine, pid, born }: Holder): boolean {
  const me = thisProcess()
  return machine === me.machine && pid === me.pid && born === me.born
}

/**
 * True once its process has ended. If that cannot be told, for example of another machine: once the lock was not renewed
 * for `LAPSED_MS`; a renewal further in the future comes from a wrong clock and does not count.
 */
function isStale(holder: Holder, nowMs: number): boolean {
  if (isOrphan({ ...holder, expiresMs: Infinity }, nowMs)) return true
  if (isProvenToRun(holder)) return false
  return Math.abs(nowMs - (holder.renewedMs ?? 0)) > LAPSED_MS
}

/**
 * Takes the lock; without a store there is no process to share it with. Failures: BUSY, NOT_ON_RECORD.
 *
 * @param nowMs  wall clock, Unix ms.
 */
export function lockCommits(
  store: EnforcementStore | undefined,
  cluster: string,
  nowMs: () => number = Date.now,
): Result<CommitLock> {
  try {
    return store ? take(store, cluster, nowMs) : ok({ lost: () => undefined, release: () => undefined })
  } catch (e) {
    return fail({
      code: 'NOT_ON_RECORD',
      what: 'The change cannot be sent',
      why: e instanceof Error ? e.message : String(e),
      unaffected: 'Nothing was sent.',
      next: 'Free space in the data folder, and try again.',
    })
  }
}

/** Checks in the store whether a process holds the commit lock of a cluster. */
export function isCommitting({ plans }: EnforcementStore, cluster: string, nowMs = Date.now()): boolean {
  const holder = holderOf(plans.find(planOf(cluster))?.state ?? FREE)
  return holder !== undefined && !isStale(holder, nowMs)
}

function take({ plans }: EnforcementStore, cluster: string, nowMs: () => number): Result<CommitLock> {
  const id = planOf(cluster)
  // Stored without a cluster, so that it is not listed among the cluster's plans.
  if (!plans.find(id)) plans.keep({ id, cluster: '', atMs: nowMs(), state: FREE, document: null })
  const state = plans.find(id)?.state ?? FREE
  const holder = holderOf(state)
  // A lock of this process was not released: its rule service sends one commit at a time per cluster.
  const isFree = holder === undefined || isThisProcess(holder) || isStale(holder, nowMs())
  const busyNow = busyState(nowMs())
  if (isFree && plans.transition(id, state, busyNow)) return ok(new HeldLock(plans, id, busyNow, nowMs))
  return fail(busy(cluster, holder, nowMs()))
}

function busy(cluster: string, holder: Holder | undefined, nowMs: number): Failure {
  const refused = (why: string, next: string): Failure => ({
    code: 'BUSY',
    what: 'The change cannot be sent',
    why: `another process is sending one to ${cluster}${why}`,
    unaffected: 'Nothing was sent.',
    next,
  })
  if (!holder) return refused('', 'Wait until it has finished, then plan again.')
  const { pid, renewedMs } = holder
  const machine = plainText(holder.machine)
  const ageMs = renewedMs === undefined ? undefined : Math.max(0, nowMs - renewedMs)
  const age = ageMs === undefined ? '' : `, last renewed ${formatSpan(ageMs)} ago`
  const end = isProvenToRun(holder)
    ? `If it hangs, end process ${pid}.`
    : `If it has ended, the lock expires in ${formatSpan(Math.max(0, LAPSED_MS - (ageMs ?? 0)))}.`
  return refused(` (process ${pid} on ${machine}${age})`, `Wait until it has finished, then plan again. ${end}`)
}

class HeldLock implements CommitLock {
  readonly #plans: EnforcementStore['plans']
  readonly #id: string
  readonly #nowMs: () => number
  readonly #renewing: NodeJS.Timeout
  /** State as last written. */
  #state: string

  constructor(plans: EnforcementStore['plans'], id: string, state: string, nowMs: () => number) {
    this.#plans = plans
    this.#id = id
    this.#state = state
    this.#nowMs = nowMs
    this.#renewing = setInterval(() => this.#renew(), RENEWED_MS).unref()
  }

  readonly lost = (): Failure | undefined => {
    let why: string
    try {
      const holder = holderOf(this.#plans.find(this.#id)?.state ?? FREE)
      if (holder && isThisProcess(holder)) return undefined
      const by = holder ? `process ${holder.pid} on ${plainText(holder.machine)} took it` : 'it was released'
      why = `this process no longer holds the commit lock: ${by}`
    } catch (e) {
      why = `the commit lock cannot be read: ${e instanceof Error ? e.message : String(e)}`
    }
    return { code: 'LOCK_LOST', what: 'Nothing more is sent', why, next: 'Check the rules, then plan again.' }
  }

  readonly release = (): void => {
    clearInterval(this.#renewing)
    try {
      this.#plans.transition(this.#id, this.#state, FREE)
    } catch {
      // The store cannot be written now; the lock is free to this process, and to all when this one ends.
    }
  }

  #renew(): void {
    const next = busyState(this.#nowMs())
    try {
      if (this.#plans.transition(this.#id, this.#state, next)) this.#state = next
    } catch {
      // Retried; if another process takes it after a minute of this, that is detected before the next command.
    }
  }
}
