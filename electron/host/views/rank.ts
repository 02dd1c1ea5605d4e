/** The part of a ranking that is on screen, without ranking all: tables hold ten thousand rows and show sixty. */

export type Compare = (a: number, b: number) => number

/** Below this many, sorting by insertion is quicker. */
const FEW = 12

function insertion(order: Uint32Array, lo: number, hi: number, compare: Compare): void {
  for (let i = lo + 1; i < hi; i++) {
    const v = order[i] as number
    let k = i - 1
    for (; k >= lo && compare(order[k] as number, v) > 0; k--) order[k + 1] = order[k] as number
    order[k + 1] = v
  }
}

/** Moves what comes before a pivot in front of it; returns where the second part begins. */
function partition(order: Uint32Array, lo: number, hi: number, pivot: number, compare: Compare): number {
  let [i, k] = [lo, hi - 1]
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
 * Brings the entries [from, to) of an order where sorting all of it would bring them; the others lie on their sides of it.
 *
 * @param compare     a whole order: 0 only for an entry with itself.
 * @complexity        O(n + m log m) as a rule, m = to - from.
 */
export function selectRange(order: Uint32Array, from: number, to: number, compare: Compare): void {
  // Which entry divides is drawn by a fixed rule, so that no order of the input makes it slow for long.
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

/** Rows up to which a table's beginning is picked rather than selected. */
const FIRST_MAX = 1024

/**
 * Among the rows of a table those that its first `count` are of, in no order; all rows where that is no less work.
 *
 * @param column  what is sorted by; NaN last in either direction.
 * @param order   the whole order, which goes by the column first.
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
  // No row beyond this value is among the first: so many are before it already.
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

/** The `count` largest values, largest first; entries without a value (NaN) are left out. */
export function largest(
  values: Float64Array,
  count: number,
  tie: Compare,
): { readonly top: number[]; readonly ranked: number } {
  const top: number[] = []
  let ranked = 0
  // The least of those found, once they are enough.
  let least = -Infinity
  const before = (a: number, b: number): boolean => {
    const [x, y] = [values[a] as number, values[b] as number]
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
