/**
 * One commit at a time on a cluster, over all processes that share a data folder: each reads the servers and then writes, and between
 * the two nobody else may. The lock of a process that has ended is nobody's.
 */
import { fail, ok, type Result } from '#core/base/result.ts'
import { isOrphan, thisProcess } from '../../enforce/store-leases.ts'
import type { EnforcementStore } from '../../enforce/store.ts'

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
 * Takes the lock. Failure: BUSY.
 *
 * @returns  how to give it back.
 */
export function lockCommits({ plans }: EnforcementStore, cluster: string): Result<() => void> {
  const id = `commit of ${cluster}`
  const mine = busyState()
  // Of no cluster, so that it is not among its plans.
  if (!plans.find(id)) plans.keep({ id, cluster: '', atMs: Date.now(), state: FREE, document: null })
  const state = plans.find(id)?.state ?? FREE
  const owner = ownerOf(state)
  const isFree = state === FREE || owner === undefined || isOrphan(owner, Date.now())
  if (isFree && plans.turn(id, state, mine)) return ok(() => void plans.turn(id, mine, FREE))
  return fail({
    code: 'BUSY',
    what: 'The change cannot be sent',
    why: `another process is sending one to ${cluster}${owner ? ` (process ${owner.pid} on ${owner.machine})` : ''}`,
    unaffected: 'Nothing was sent.',
    next: 'Wait for its end, then plan again.',
  })
}
