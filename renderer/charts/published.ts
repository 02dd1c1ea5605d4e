/** Published values beside measured ones: dashed lines through the points that a paper gives, or dashed outlines of bars. */

/** Id and name of the published values in the legend of a chart. */
export const PUBLISHED = 'published'

export type Point = readonly [x: number, y: number]

/** Dashes of a published line, px. */
export const PUBLISHED_DASH: readonly number[] = [6, 4]

/** Place of x on an axis; a logarithmic one has none for values <= 0. */
export const placeOf = (x: number, isLog: boolean): number => (isLog ? Math.log10(Math.max(x, 1e-12)) : x)

/** Value of a line at x, interpolated between its points as it is drawn; null beyond its ends. */
export function valueAt(points: readonly Point[], x: number, isLog = false): number | null {
  const after = points.findIndex(([at]) => at >= x)
  const next = points[after]
  if (next === undefined) return null
  if (next[0] === x) return next[1]
  const before = points[after - 1]
  if (before === undefined) return null
  const from = placeOf(before[0], isLog)
  const share = (placeOf(x, isLog) - from) / (placeOf(next[0], isLog) - from)
  return before[1] + share * (next[1] - before[1])
}
