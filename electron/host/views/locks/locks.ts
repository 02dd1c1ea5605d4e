/** Locks: resources by contention and the lanes of one, or the counters of Lustre's lock manager. */
import type { LocksFrame, LocksPlane } from '#core/api/locks.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import { emptyLocks } from './empty.ts'
import { hasLdlm, ldlmPart } from './ldlm.ts'
import type { LocksQuery } from './query.ts'
import { seqdlmFrame } from './seqdlm.ts'
import { stand } from '../../position.ts'

/** Planes that a source has: the lock manager that tells every step first, it shows more. */
export const lockPlanesOf = (monitor: ClusterMonitor): LocksPlane[] => [
  ...(monitor.locks ? (['seqdlm'] as const) : []),
  ...(hasLdlm(monitor) ? (['ldlm'] as const) : []),
]

export function locksFrame(monitor: ClusterMonitor, query: LocksQuery, seq: number): LocksFrame {
  const position = stand(monitor, query.at)
  const planes = lockPlanesOf(monitor)
  const plane = planes.find((p) => p === query.plane) ?? planes[0] ?? null
  const head = { seq, ...position, windowMs: query.windowMs, planes, plane }
  if (plane === 'seqdlm' && monitor.locks) return seqdlmFrame(monitor.source, monitor.locks, head, query)
  if (plane === 'ldlm') return { ...emptyLocks(head), ...ldlmPart(monitor, query, position) }
  return emptyLocks(head)
}
