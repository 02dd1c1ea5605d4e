/** Locks frame without data, for a source without a plane or before its first sample. */
import type { LocksFrame } from '#core/api/locks.ts'
import { emptyRows } from './rows.ts'

/** Fields that every frame has, also without data. */
export type LocksHead = Pick<LocksFrame, 'seq' | 'sample' | 'atMs' | 'windowMs' | 'planes' | 'plane'>

export const emptyLocks = (head: LocksHead): LocksFrame => ({
  ...head,
  held: null,
  grants: null,
  cancels: null,
  manager: '',
  modes: [],
  series: { t: [], held: [], grants: [], cancels: [], waiting: [] },
  ...emptyRows(),
  alarms: [],
  convoys: [],
  resource: null,
  ldlm: null,
  notices: [],
})
