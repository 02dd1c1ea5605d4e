/** Partial ranking of the visible rows: tables have ten thousand rows and show sixty. */

export type Compare = (a: number, b: number) => number

/** Number of entries below which insertion sort is faster. */
const FEW = 12

function insertion(order: Uint32Array, lo: number, hi: number, compare: Compare): void {
  for (let i = lo + 1; i < hi; i++) {
    const v = order[i] as number
    let k = i - 1
    for (; k >= lo && compare(order[k] as number, v) > 0; k--) order[k + 1] = order[k] as number
    order[k + 1] = v
  }
}

/** Moves smaller entries before a pivot; returns the start of the second part. */
function partition(order: Uint32Array, lo: number, hi: number, pivot: number, compare: Compare): number {
  let i = lo
  let k = hi - 1
  for (;;) {
    while (compare(order[i] as number, pivot) < 0) i++
    while (compare(order[k] as number, pivot) > 0) k--
    if (i >= k) return k + 1
    const v = order[i] as number
    order[i++] = order[k] as number
    order[k--] = v
  }
}

/**
 * Places the entries [from, to) as sorting everything would; the others are on the correct side.
 *
 * @param compare     total order: 0 only for an entry with itself.
 * @complexity        O(n + m log m) on average, m = to - from.
 */
export function selectRange(order: Uint32Array, from: number, to: number, compare: Compare): void {
  // Pivots are pseudo-random with a fixed seed, so that no input order stays slow.
  let draw = 0x9e3779b9
  const sort = (lo: number, hi: number): void => {
    while (hi - lo > FEW) {
      if (hi <= from || lo >= to) return
      draw = (Math.imul(draw, 1_664_525) + 1_013_904_223) >>> 0
      const pivot = order[lo + (draw % (hi - lo - 1))] as number
      const mid = partition(order, lo, hi, pivot, compare)
      sort(lo, mid)
      lo = mid
    }
    insertion(order, lo, hi, compare)
  }
  sort(0, order.length)
}

/** Largest count for which the first rows are picked in one pass. */
const FIRST_MAX = 1024

/**
 * Superset of the first `count` rows of a table, unordered; all rows if picking would not be cheaper.
 *
 * @param column  sort column; NaN last in either direction.
 * @param order   total order that begins with the column.
 */
export function firstRows(
  rows: Uint32Array,
  count: number,
  column: Float64Array,
  descending: boolean,
  order: Compare,
): Uint32Array {
  if (count === 0 || count > FIRST_MAX || rows.length <= 4 * count) return rows
  const few = new Uint32Array(2 * count)
  // Rows beyond this value are not among the first: enough rows precede them.
  let bound = descending ? -Infinity : Infinity
  let isBound = false
  let n = 0
  for (let k = 0; k < rows.length; k++) {
    const row = rows[k] as number
    const v = column[row] as number
    if (isBound && !(descending ? v >= bound : v <= bound)) continue
    few[n++] = row
    if (n < few.length) continue
    selectRange(few, count - 1, count, order)
    n = count
    bound = column[few[count - 1] as number] as number
    isBound = bound === bound
  }
  return few.subarray(0, n)
}

/** The `count` largest values, largest first; entries without a value (NaN) are omitted. */
export function largest(
  values: Float64Array,
  count: number,
  tie: Compare,
): { readonly top: number[]; readonly ranked: number } {
  const top: number[] = []
  let ranked = 0
  // Smallest of the values found, once there are enough.
  let least = -Infinity
  const before = (a: number, b: number): boolean => {
    const x = values[a] as number
    const y = values[b] as number
    return x > y || (x === y && tie(a, b) < 0)
  }
  for (let i = 0; i < values.length; i++) {
    const v = values[i] as number
    if (v !== v) continue
    ranked++
    if (v < least || (top.length === count && !before(i, top[count - 1] as number))) continue
    let k = Math.min(top.length, count - 1)
    for (; k > 0 && before(i, top[k - 1] as number); k--) top[k] = top[k - 1] as number
    top[k] = i
    if (top.length === count) least = values[top[count - 1] as number] as number
  }
  return { top, ranked }
}
