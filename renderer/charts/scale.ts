/** Ends of a value axis: 1, 2 or 5 times a power of ten, so that ticks are round and the axis seldom moves. */

/** Smallest 1-2-5 x 10^n that holds `value`; 1 for what is not above zero. */
export function niceMax(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  for (const step of [1, 2, 5]) if (step * power >= value * 0.999999) return step * power
  return 10 * power
}

/** Distance of ticks under a 1-2-5 maximum: four or five of them. */
export function tickStep(max: number): number {
  const lead = max / 10 ** Math.floor(Math.log10(max) + 1e-9)
  return Math.round(lead) === 2 ? max / 4 : max / 5
}

/** A maximum that only grows while the page is open: bars of two moments stay comparable. */
export function growingMax(): (value: number) => number {
  let reached = 0
  return (value) => (reached = Math.max(reached, value > 0 ? niceMax(value) : 0)) || 1
}

/** Largest sum over series at one instant; gaps count as nothing. */
export function stackedMax(series: readonly { values: readonly (number | null)[] }[]): number {
  let max = 0
  const length = series[0]?.values.length ?? 0
  for (let i = 0; i < length; i++) {
    let sum = 0
    for (const { values } of series) sum += values[i] ?? 0
    if (sum > max) max = sum
  }
  return max
}

/** Index of the instant in ascending `t` that is nearest to `at`; -1 when there is none. */
export function nearest(t: readonly number[], at: number): number {
  let [low, high] = [0, t.length - 1]
  if (high < 0) return -1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((t[middle] ?? 0) < at) low = middle
    else high = middle
  }
  return Math.abs((t[low] ?? 0) - at) <= Math.abs((t[high] ?? 0) - at) ? low : high
}
