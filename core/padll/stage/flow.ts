/**
 * A flow: all requests of one call, workflow, size class, job and user. Their channel and object are looked up once and kept
 * until the layout of the stage changes: no hashing per request.
 */
import type { PosixCallRow } from '../posix-calls.ts'
import type { EnforcementObject, WaitCounts } from './enforcement-object.ts'
import { FORWARDED, type Forwarded } from './request.ts'

export class Flow implements WaitCounts {
  readonly call: PosixCallRow
  readonly workflow: number
  readonly size: number
  readonly user: string
  readonly job: string
  /** Layout that what follows was looked up in. */
  layout = -1
  /** What limits it; null: nothing does, for the reason `bypass`. */
  object: EnforcementObject | null = null
  bypass: Forwarded = FORWARDED['no-channel']
  /** Operations that came, and of those released after a wait. */
  arrived = 0
  waited = 0
  /** Sum and maximum of their waits. */
  waitNs = 0
  longestNs = 0

  constructor(call: PosixCallRow, workflow: number, size: number, user: string, job: string) {
    this.call = call
    this.workflow = workflow
    this.size = size
    this.user = user
    this.job = job
  }
}
