/** Jobs shown by the current view, for the palette; set by the views, read when the palette opens. */
import { shallowRef } from 'vue'

export interface OnScreenJob {
  readonly id: string
  readonly colour: number
  /** null: not measured. */
  readonly rpcs: number | null
}
export const onScreenJobs = shallowRef<readonly OnScreenJob[]>([])

/** Converts the columns of a frame to a list. */
export function jobsOf(rows: { jobId: string[]; colour: number[]; rpcs: (number | null)[] }): OnScreenJob[] {
  return rows.jobId.map((id, i) => ({ id, colour: rows.colour[i] ?? 0, rpcs: rows.rpcs[i] ?? null }))
}
