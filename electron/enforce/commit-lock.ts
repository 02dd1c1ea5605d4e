/**
 * One commit at a time on a cluster, over all processes that share a data folder: each reads the servers and then writes, and between
 * the two nobody else may. The lock of a process that has ended is nobody's.
 */
import { fail, ok, type Result } from '#core/base/result.ts'
import { isOrphan, thisProcess } from './store-leases.ts'
import type { EnforcementStore } from './store.ts'

const FREE = 'free'

/** `busy MACHINE PID BORN` */
const busyState = (): string => {
  const { machine, pid, born } = thisProcess()
  return `busy ${machine} ${pid} ${born}`
}

function ownerOf(state: string): Parameters<typeof isOrphan>[0] | undefined {
  const [, machine, pid, born] = /^busy (\S+) (\d+) (\S*)$/.exec(state) ?? []
  if (machine === undefined || pid === undefined) return undefined
  return { machine, pid: Number(pid), born: born ?? '', expiresMs: Infinity }
}

/**
 * Takes the lock; without a store there is nobody to share it with. Failures: BUSY, NOT_ON_RECORD.
 *
 * @returns  how to give it back.
 */
export function lockCommits(store: EnforcementStore | undefined, cluster: string): Result<() => void> {
  try {
    return store ? take(store, cluster) : ok(() => undefined)
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

function take({ plans }: EnforcementStore, cluster: string): Result<() => void> {
  const id = `commit of ${cluster}`
  const mine = busyState()
  // Of no cluster, so that it is not among its plans.
  if (!plans.find(id)) plans.keep({ id, cluster: '', atMs: Date.now(), state: FREE, document: null })
  const state = plans.find(id)?.state ?? FREE
  const owner = ownerOf(state)
  // One of this very process was not given back: it has one desk a cluster, which sends one at a time.
  const isFree = state === FREE || state === mine || owner === undefined || isOrphan(owner, Date.now())
  if (isFree && plans.turn(id, state, mine)) {
    return ok(() => {
      try {
        plans.turn(id, mine, FREE)
      } catch {
        // The record takes nothing now; it is free to this process, and to all when this one ends.
      }
    })
  }
  return fail({
    code: 'BUSY',
    what: 'The change cannot be sent',
    why: `another process is sending one to ${cluster}${owner ? ` (process ${owner.pid} on ${owner.machine})` : ''}`,
    unaffected: 'Nothing was sent.',
    next: 'Wait for its end, then plan again.',
  })
}
