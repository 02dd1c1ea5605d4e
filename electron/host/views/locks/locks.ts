/** Locks view: resources by contention and one resource in detail, or the counters of Lustre's lock manager. */
import type { LocksFrame, LocksPlane, LocksSort, LanesRange } from '#core/api/locks.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import { emptyLocks } from './empty.ts'
import { hasLdlm, ldlmPart } from './ldlm.ts'
import { seqdlmFrame } from './seqdlm.ts'
import { resolvePosition } from '../../position.ts'

/** Query of the locks view. */
export interface LocksQuery {
  readonly at: number | null
  readonly windowMs: number
  /** Instant A of a comparison. */
  readonly againstMs?: number | null
  /** null: the first that the source has. */
  readonly plane: LocksPlane | null
  readonly sort: LocksSort
  readonly filter: string
  readonly offset: number
  readonly limit: number
  /** Key or name of a resource, or a namespace. */
  readonly selected: string
  readonly moment: LanesRange | null
  /** null: long enough to show all of the longest queue. */
  readonly spanMs: number | null
}

/** Planes of a source: the tracing lock manager first, which shows more. */
export const lockPlanesOf = (monitor: ClusterMonitor): LocksPlane[] => [
  ...(monitor.locks ? (['seqdlm'] as const) : []),
  ...(hasLdlm(monitor) ? (['ldlm'] as const) : []),
]

export function locksFrame(monitor: ClusterMonitor, query: LocksQuery, seq: number): LocksFrame {
  const position = resolvePosition(monitor, query.at)
  const planes = lockPlanesOf(monitor)
  const plane = planes.find((p) => p === query.plane) ?? planes[0] ?? null
  const head = { seq, ...position, windowMs: query.windowMs, planes, plane }
  if (plane === 'seqdlm' && monitor.locks) return seqdlmFrame(monitor.source, monitor.locks, head, query)
  if (plane === 'ldlm') return { ...emptyLocks(head), ...ldlmPart(monitor.ldlm, query, position) }
  return emptyLocks(head)
}
