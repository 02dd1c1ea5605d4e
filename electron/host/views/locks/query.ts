/** What a window asks of the locks view. */
import type { LocksPlane, LocksSort, Moment } from '#core/api/locks.ts'

export interface LocksQuery {
  readonly at: number | null
  readonly windowMs: number
  /** null: the first that the source has. */
  readonly plane: LocksPlane | null
  readonly sort: LocksSort
  readonly filter: string
  readonly offset: number
  readonly limit: number
  /** Key or name of a resource, or a namespace. */
  readonly selected: string
  readonly moment: Moment | null
  /** null: as long as the longest queue needs to be seen whole. */
  readonly spanMs: number | null
}
