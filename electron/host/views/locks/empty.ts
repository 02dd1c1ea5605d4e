/** The locks frame of a source that has no plane, or before its first sample: nothing is made up. */
import type { LocksFrame } from '#core/api/locks.ts'
import { emptyRows } from './rows.ts'

/** What every frame has, whatever is in it. */
export type LocksHead = Pick<LocksFrame, 'seq' | 'sample' | 'atMs' | 'windowMs' | 'planes' | 'plane'>

export const emptyLocks = (head: LocksHead): LocksFrame => ({
  ...head,
  ...{ held: null, grants: null, cancels: null, manager: '', modes: [] },
  series: { t: [], held: [], grants: [], cancels: [], waiting: [] },
  ...emptyRows(),
  ...{ alarms: [], resource: null, ldlm: null, notices: [] },
})
