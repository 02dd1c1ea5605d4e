/** Values of a column of the replay's data; without the schemas, for the page that replays it. */
import type { Column } from './replay-data.ts'

/** Value at an instant; null: a gap. */
export const valueAt = (of: Column, i: number): number | null => (Array.isArray(of) ? (of[i] ?? null) : of)

/** All values of a column. */
export const valuesOf = (of: Column, n: number): (number | null)[] =>
  Array.isArray(of) ? [...of] : Array.from({ length: n }, () => of)
