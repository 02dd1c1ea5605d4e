/** Metric over the seeds: its median and spread. */
import { quantile } from '../base/statistics.ts'

/** Median, and the 5th and 95th percentile. */
export interface Band {
  readonly median: number
  readonly low: number
  readonly high: number
}

export const BAND_LOW = 0.05
export const BAND_HIGH = 0.95

const finite = (values: Iterable<number>): Float64Array =>
  Float64Array.from(values)
    .filter((v) => Number.isFinite(v))
    .sort()

/** Median of the measured values; NaN without any. */
export const medianOf = (values: Iterable<number>): number => quantile(finite(values), 0.5)

/** Returns the band of the measured values; null if no run has one. Runs without a value (NaN) do not count. */
export function bandOf(values: Iterable<number>): Band | null {
  const sorted = finite(values)
  if (sorted.length === 0) return null
  return {
    median: quantile(sorted, 0.5),
    low: quantile(sorted, BAND_LOW),
    high: quantile(sorted, BAND_HIGH),
  }
}

/** Half of the band, as a part of the median: the "±" of a sentence. NaN without a median, and if it is 0. */
export const spreadOf = (band: Band | null): number =>
  band === null || band.median === 0 ? NaN : Math.abs((band.high - band.low) / 2 / band.median)
