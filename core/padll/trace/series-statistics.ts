/** Statistics that the paper reports for its month, computed from a series of per-minute rates. */

/** Lengths of the ranges in which the rate stays above `threshold`, min. */
export function rangesAbove(rates: ArrayLike<number>, threshold: number): number[] {
  const lengths: number[] = []
  let length = 0
  for (let t = 0; t <= rates.length; t++) {
    if (t < rates.length && rates[t]! > threshold) length++
    else if (length > 0) {
      lengths.push(length)
      length = 0
    }
  }
  return lengths
}

/** Rises from at most `low` to at least `high` within `within` minutes; each is counted once, at its last low minute. */
export function jumps(rates: ArrayLike<number>, low: number, high: number, within: number): number {
  let count = 0
  let lastLow = -Infinity
  for (let t = 0; t < rates.length; t++) {
    if (rates[t]! <= low) lastLow = t
    else if (rates[t]! >= high && t - lastLow <= within) {
      count++
      lastLow = -Infinity
    }
  }
  return count
}

export const shareOf = (values: ArrayLike<number>, holds: (value: number, at: number) => boolean): number => {
  let count = 0
  for (let t = 0; t < values.length; t++) if (holds(values[t]!, t)) count++
  return count / values.length
}
