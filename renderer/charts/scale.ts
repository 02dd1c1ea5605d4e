/** Ends of a value axis: a few round leads times a power of ten, so that ticks are round and the axis seldom moves. */

/** Leads, and into how many parts ticks cut each; close enough together that no chart stands half empty. */
const LEADS: readonly (readonly [lead: number, parts: number])[] = [
  [1, 5],
  [1.5, 3],
  [2, 4],
  [2.5, 5],
  [3, 3],
  [4, 4],
  [5, 5],
  [6, 3],
  [8, 4],
  [10, 5],
]
const powerOf = (value: number): number => 10 ** Math.floor(Math.log10(value) + 1e-9)

/** Smallest round end that holds `value`; 1 for what is not above zero. */
export function niceMax(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1
  const power = powerOf(value)
  for (const [lead] of LEADS) if (lead * power >= value * 0.999999) return Number((lead * power).toPrecision(12))
  return 10 * power
}

/** Distance of ticks under a round end: three to five of them. */
export function tickStep(max: number): number {
  const lead = max / powerOf(max)
  const parts = LEADS.find(([l]) => Math.abs(l - lead) < 1e-6)?.[1] ?? 5
  return max / parts
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
