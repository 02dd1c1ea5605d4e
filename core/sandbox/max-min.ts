/** Weighted max-min fairness: no share can grow without reducing one that is smaller relative to its weight. */

/**
 * Fair shares by water-filling.
 *
 * Source: D. Bertsekas, R. Gallager, Data Networks, 6.5.2; weights as in A. Demers et al., SIGCOMM 1989.
 *
 * @param capacity  shared amount, >= 0.
 * @param wishes    shape [n]; usable amount of each, >= 0; Infinity for any.
 * @param weights   shape [n]; > 0.
 * @returns         shape [n]; no share above its wish; sum is the smaller of the capacity and all wishes.
 * @complexity      O(n log n).
 */
export function maxMinShares(capacity: number, wishes: readonly number[], weights: readonly number[]): Float64Array {
  const shares = new Float64Array(wishes.length)
  const level = (i: number): number => (wishes[i] as number) / (weights[i] as number)
  const order = [...wishes.keys()].sort((a, b) => {
    const x = level(a)
    const y = level(b)
    return x < y ? -1 : x > y ? 1 : a - b
  })
  let remaining = capacity
  let weight = weights.reduce((sum, w) => sum + w, 0)
  for (const i of order) {
    const weightOf = weights[i] as number
    const share = Math.max(0, Math.min(wishes[i] as number, (remaining * weightOf) / weight))
    shares[i] = share
    remaining -= share
    weight -= weightOf
  }
  return shares
}
