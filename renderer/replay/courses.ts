/** Series as lines: interrupted where nothing was measured, with a stroke for a sample that no line reaches. */
import type { Size, Values } from '../charts/picture.ts'
import { isKnown } from '../widgets/canvas.ts'
import { data } from './data.ts'

/** Intervals between samples from which a line is interrupted. */
const HOLE_STEPS = 3.5
const isHole = (i: number): boolean => (data.t[i] ?? 0) - (data.t[i - 1] ?? Infinity) > HOLE_STEPS * data.stepMs

/** True if a sample cannot be joined to another one by a line: it is between two gaps, or missing itself. */
const isAlone = (values: Values, i: number): boolean =>
  !isKnown(values[i]) || ((isHole(i) || !isKnown(values[i - 1])) && (isHole(i + 1) || !isKnown(values[i + 1])))
/** Length of the stroke that shows such a sample, px. */
const STROKE_PX = 1.5

export interface Courses {
  readonly t: readonly number[]
  readonly values: readonly Values[]
}
/** Courses of series with the instants that a line needs beside the samples: one in each hole, the end of each stroke. */
export function coursesOf(series: readonly Values[], { width }: Size): Courses {
  const strokeMs = (STROKE_PX * (data.toMs - data.fromMs)) / width
  const t: number[] = []
  const values: (number | null)[][] = series.map(() => [])
  function put(at: number, i: number): void {
    t.push(at)
    series.forEach((one, s) => values[s]?.push(one[i] ?? null))
  }
  data.t.forEach((at, i) => {
    if (isHole(i)) put((at + (data.t[i - 1] ?? at)) / 2, -1)
    put(at, i)
    if (series.every((one) => isAlone(one, i))) put(at + strokeMs, i)
  })
  return { t, values }
}
