/**
 * Data of the replay: the JSON in the page. Names in it are display names already; all of it is put on the page as text.
 *
 * @typedef {import('../../core/snapshot/replay-data.ts').ReplayData} ReplayData
 * @typedef {import('../../core/snapshot/replay-data.ts').Column} Column
 */

/** @type {unknown} */
const written = JSON.parse(document.getElementById('data')?.textContent ?? '')
export const data = /** @type {ReplayData} */ (written)
/** Number of times. */
export const N = data.t.length

/**
 * Value of a column at a time; null: a gap.
 *
 * @param {Column} column
 * @param {number} i
 * @returns {number | null}
 */
export const at = (column, i) => (Array.isArray(column) ? (column[i] ?? null) : column)

/**
 * @param {Column} column
 * @returns {(number | null)[]}
 */
export const all = (column) => data.t.map((_, i) => at(column, i))

/**
 * Sum of two columns; a gap in either is a gap.
 *
 * @param {Column} a
 * @param {Column} b
 */
export const both = (a, b) =>
  data.t.map((_, i) => {
    const x = at(a, i)
    const y = at(b, i)
    return x === null || y === null ? null : x + y
  })

/** @param {readonly (number | null)[]} values */
export const largest = (values) => values.reduce((/** @type {number} */ m, v) => Math.max(m, v ?? 0), 0)

/** @param {readonly (number | null)[]} values */
export const meanOf = (values) => {
  let sum = 0
  let n = 0
  for (const v of values) {
    if (v === null) continue
    sum += v
    n++
  }
  return n === 0 ? 0 : sum / n
}

/**
 * Reason for a gap at a time; undefined: no gap.
 *
 * @param {number} i
 */
export function gapAt(i) {
  const t = data.t[i] ?? 0
  if (Object.values(data.cluster).some((column) => at(column, i) !== null)) return undefined
  return data.gaps.find((g) => t >= g.fromMs && t < g.toMs)?.why ?? 'no sample was kept'
}

/**
 * Index of the last sample at or before a time; 0 before the first.
 *
 * @param {number} ms
 */
export function indexAt(ms) {
  let low = 0
  let high = N - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((data.t[middle] ?? 0) <= ms) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}

/**
 * Index of the sample nearest to a time.
 *
 * @param {number} ms
 */
export function nearestTo(ms) {
  const i = indexAt(ms)
  const here = data.t[i] ?? 0
  const next = data.t[i + 1]
  return next !== undefined && Math.abs(next - ms) < Math.abs(here - ms) ? i + 1 : i
}
