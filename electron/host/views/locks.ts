/** Locks: resources by contention and the lanes of one, or the counters of Lustre's lock manager. */
import type { LocksFrame, LocksPlane, LocksSort, Moment } from '#core/api/locks.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { stand } from './position.ts'

export interface LocksQuery {
  readonly at: number | null
  readonly windowMs: number
  readonly plane: LocksPlane | null
  readonly sort: LocksSort
  readonly filter: string
  readonly offset: number
  readonly limit: number
  readonly selected: string
  readonly moment: Moment | null
  readonly spanMs: number
}

export function locksFrame(monitor: ClusterMonitor, query: LocksQuery, seq: number): LocksFrame {
  const { sample, atMs } = stand(monitor, query.at)
  const rows = { key: [], name: [], server: [], waiting: [], conflicts: [], revocations: [] }
  return {
    ...{ seq, sample, atMs, windowMs: query.windowMs, planes: [], plane: null },
    ...{ held: null, grants: null, cancels: null, manager: '', modes: [], known: 0, shown: 0, offset: 0 },
    series: { t: [], held: [], grants: [], cancels: [], waiting: [] },
    rows: { ...rows, cancelMs: [], held: [], level: [], why: [] },
    ...{ alarms: [], resource: null, ldlm: null, notices: [] },
  }
}
