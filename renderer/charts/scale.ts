/** Limits of a value axis: round and rarely changing. */
import { niceMax, tickStep } from '#core/base/scale.ts'
import { isKnown } from '../widgets/canvas.ts'

export { niceMax, tickStep }

/** Maximum that only grows while the page is open, so that bars stay comparable over time. */
export function growingMax(): (value: number) => number {
  let reached = 0
  return (value) => (reached = Math.max(reached, value > 0 ? niceMax(value) : 0)) || 1
}

/** Largest measured value, at least `least`. */
export function largest(values: readonly (number | null | undefined)[], least = 0): number {
  let most = least
  for (const v of values) if (isKnown(v) && v > most) most = v
  return most
}

/** Largest sum over series at one instant; gaps count as 0. */
export function stackedMax(series: readonly { values: readonly (number | null)[] }[]): number {
  let max = 0
  const length = series[0]?.values.length ?? 0
  for (let i = 0; i < length; i++) {
    let sum = 0
    for (const { values } of series) {
      const v = values[i]
      if (isKnown(v)) sum += v
    }
    if (sum > max) max = sum
  }
  return max
}

/** Index of the instant in ascending `t` nearest to `at`; -1 if empty. */
export function nearest(t: readonly number[], at: number): number {
  let low = 0
  let high = t.length - 1
  if (high < 0) return -1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((t[middle] ?? 0) < at) low = middle
    else high = middle
  }
  return Math.abs((t[low] ?? 0) - at) <= Math.abs((t[high] ?? 0) - at) ? low : high
}
