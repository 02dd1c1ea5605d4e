/** Statistics of small samples. */

export const sum = (values: readonly number[]): number => values.reduce((total, v) => total + v, 0)

/** NaN for an empty sample. */
export function mean(values: ArrayLike<number>): number {
  let total = 0
  for (let i = 0; i < values.length; i++) total += values[i] as number
  return total / values.length
}

/**
 * Quantile of sorted values, linear between neighbors (Hyndman and Fan 1996, definition 7).
 *
 * @param sorted  ascending; NaN for none.
 */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const at = q * (sorted.length - 1)
  const below = sorted[Math.max(0, Math.floor(at))] ?? NaN
  const above = sorted[Math.ceil(at)] ?? below
  return below + (above - below) * (at - Math.floor(at))
}

/** Median; NaN for an empty sample. */
export const median = (values: Iterable<number>): number => quantile(Float64Array.from(values).sort(), 0.5)
