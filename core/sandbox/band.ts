/** A figure over the seeds: its median and how far the seeds scatter. */

/** Median, and the 5th and 95th percentile. */
export interface Band {
  readonly median: number
  readonly low: number
  readonly high: number
}

export const BAND_LOW = 0.05
export const BAND_HIGH = 0.95

/**
 * Quantile of sorted values, linear between neighbours (Hyndman and Fan 1996, definition 7).
 *
 * @param sorted  ascending, at least one.
 */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const at = q * (sorted.length - 1)
  const below = sorted[Math.floor(at)] as number
  const above = sorted[Math.ceil(at)] as number
  return below + (above - below) * (at - Math.floor(at))
}

const finite = (values: Iterable<number>): Float64Array =>
  Float64Array.from(values)
    .filter((v) => Number.isFinite(v))
    .sort()

/** Median of what was measured; NaN where nothing was. */
export function medianOf(values: Iterable<number>): number {
  const sorted = finite(values)
  return sorted.length === 0 ? NaN : quantile(sorted, 0.5)
}

/** The band of what was measured; null where no run has a figure. Runs without one (NaN) do not count. */
export function bandOf(values: Iterable<number>): Band | null {
  const sorted = finite(values)
  if (sorted.length === 0) return null
  return {
    median: quantile(sorted, 0.5),
    low: quantile(sorted, BAND_LOW),
    high: quantile(sorted, BAND_HIGH),
  }
}

/** Half of the band, as a part of the median: the "±" of a sentence. NaN where there is no median to compare with. */
export const spreadOf = (band: Band | null): number =>
  band === null || band.median === 0 ? NaN : Math.abs((band.high - band.low) / 2 / band.median)
