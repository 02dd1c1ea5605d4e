/** Tagged jobs stand before all others and stay while a filter hides them; both parts are in the order asked for. */
import type { JobColumn } from '#core/api/frames.ts'
import type { JobTable } from './job-rows.ts'

/** Rows of the table: the tagged ones that are known, and those that pass the filter without them. */
export function pinsOf(table: JobTable, tagged: readonly string[], passing: Uint32Array) {
  if (tagged.length === 0) return { pins: new Uint32Array(), rest: passing, shown: passing }
  const wanted = new Set(tagged)
  const pins = Uint32Array.from(table.jobs.flatMap((job, i) => (wanted.has(job.jobId) ? [i] : [])))
  const first = new Set(pins)
  const rest = passing.filter((i) => !first.has(i))
  const shown = new Uint32Array(pins.length + rest.length)
  shown.set(pins)
  shown.set(rest, pins.length)
  return { pins, rest, shown }
}

/** The slice of the table on screen. */
export function sliceOf(
  table: JobTable,
  { pins, rest }: { readonly pins: Uint32Array; readonly rest: Uint32Array },
  { sort, descending, offset, limit }: { sort: JobColumn; descending: boolean; offset: number; limit: number },
): number[] {
  const rank = (rows: Uint32Array, from: number, to: number): number[] =>
    to <= from ? [] : [...table.ranked(rows, sort, descending, from, to)]
  const [from, to] = [offset, offset + limit]
  const n = pins.length
  return [...rank(pins, Math.min(from, n), Math.min(to, n)), ...rank(rest, Math.max(0, from - n), Math.max(0, to - n))]
}
