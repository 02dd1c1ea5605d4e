/** Data of the replay: the JSON in the page. Names in it are display names; all of it is put on the page as text. */
import { valueAt } from '#core/snapshot/column.ts'
import type { ReplayData } from '#core/snapshot/replay-data.ts'
import { nearest } from '../charts/scale.ts'

export const data = JSON.parse(document.getElementById('data')?.textContent ?? '') as ReplayData
/** Number of times. */
export const count = data.t.length

/** Reason for a gap at a time; undefined: no gap. */
export function gapAt(i: number): string | undefined {
  const t = data.t[i] ?? 0
  if (Object.values(data.cluster).some((column) => valueAt(column, i) !== null)) return undefined
  return data.gaps.find((gap) => t >= gap.fromMs && t < gap.toMs)?.why ?? 'no data'
}

/** Index of the last sample at or before a time; 0 before the first. */
export const indexAt = (ms: number): number =>
  Math.max(
    0,
    data.t.findLastIndex((t) => t <= ms),
  )

/** Index of the sample nearest to a time. */
export const nearestTo = (ms: number): number => Math.max(0, nearest(data.t, ms))
