/**
 * Rates split into whole op/s without loss: jobs to whole rates, a job's rate over its stages, a stage's over its
 * channels. Source: spec/padll 5 (`equal`, floor, with the remainder on the first ones; `usage`), 6 rows 5 and 15.
 */

/** Upper bound of the relative rounding error of summed rates; a rate that is whole never gains 1 by it. */
const ROUNDING_TOLERANCE = 1e-9
const ROUNDING_TOLERANCE_MAX = 0.5

/**
 * Rounds rates to whole numbers with the same (floored) sum: each result is the increase of the floored running sum, so
 * whole rates stay as they are and none changes by 1 op/s or more.
 */
export function roundRates(rates: readonly number[]): number[] {
  let sum = 0
  let before = 0
  return rates.map((rate) => {
    sum += rate
    const now = Math.floor(sum + Math.min(ROUNDING_TOLERANCE_MAX, Math.max(1, sum) * ROUNDING_TOLERANCE))
    const part = now - before
    before = now
    return part
  })
}

/**
 * Part `i` of `n` equal parts; the first `total % n` parts are larger by 1. Monotonic in `total`, so all parts move in
 * the same direction.
 */
export const equalPart = (total: number, n: number, i: number): number => Math.floor((total + n - 1 - i) / n)

/**
 * Splits a job's rate over its stages, each with at least its floor (op/s, > 0).
 *
 * @param total    whole, >= 0.
 * @param weights  usage of each stage, op/s, for a split by usage: max(1, usage) counts. Absent: equal parts.
 * @returns        whole rates that sum to `total`, or to the floors where these need more.
 * @complexity     O(n), or O(n * rounds) where floors bind; at most n rounds, one or two in practice.
 */
export function splitRate(total: number, floors: readonly number[], weights?: readonly number[]): number[] {
  const n = floors.length
  const least = floors.reduce((a, b) => a + b, 0)
  if (total <= least) return [...floors]
  const parts = new Array<number>(n).fill(0)
  let open = floors.map((_, i) => i)
  let remaining = total
  for (;;) {
    cut(open, remaining, parts, weights)
    const low = open.filter((i) => parts[i]! < floors[i]!)
    if (low.length === 0) return parts
    for (const i of low) {
      parts[i] = floors[i]!
      remaining -= floors[i]!
    }
    const fixed = new Set(low)
    open = open.filter((i) => !fixed.has(i))
  }
}

/** Splits `total` over the open ones; what flooring leaves goes, 1 op/s each, to the first ones. */
function cut(open: readonly number[], total: number, parts: number[], weights: readonly number[] | undefined): void {
  if (!weights) {
    for (const [k, i] of open.entries()) parts[i] = equalPart(total, open.length, k)
    return
  }
  const weightOf = (i: number): number => Math.max(1, weights[i] ?? 0)
  const sum = open.reduce((s, i) => s + weightOf(i), 0)
  let rest = total
  for (const i of open) {
    parts[i] = Math.min(rest, Math.floor((total * weightOf(i)) / sum + ROUNDING_TOLERANCE))
    rest -= parts[i]
  }
  for (let k = 0; rest > 0; k = (k + 1) % open.length, rest--) parts[open[k]!]!++
}
