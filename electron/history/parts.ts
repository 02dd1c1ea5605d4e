/**
 * Divides instants into the points of a chart. As many as fit are drawn one by one, with an empty point where samples are missing;
 * more are put together, and a part without any is empty: a gap is never drawn across.
 */

export interface Parts {
  /** Where each point stands. */
  readonly t: number[]
  /** The point of each instant. */
  readonly of: Int32Array
}

/** Usual distance of instants, ms. */
export function cadenceOf(instants: Float64Array, leastMs: number): number {
  if (instants.length < 2) return Math.max(leastMs, 1)
  const distances = new Float64Array(instants.length - 1)
  for (let i = 1; i < instants.length; i++) distances[i - 1] = (instants[i] as number) - (instants[i - 1] as number)
  distances.sort()
  return Math.max(leastMs, distances[distances.length >> 1] as number, 1)
}

/** From what distance on samples are missing; those of coarser tiers stand at fixed distances, others waver. */
export const missingFrom = (cadenceMs: number): number => cadenceMs * (cadenceMs >= 10_000 ? 1.5 : 2.5)

/** A live cluster that is slow to read is sampled as seldom as this, ms: distances that repeat themselves up to it are its pace. */
const SLOWEST_MS = 10_500
const ALIKE = 1.5

/** Whether samples are missing before an instant: it is further from the one before than usual, and than those beside it are. */
export function isHole(instants: Float64Array, i: number, missingMs: number): boolean {
  const at = (k: number): number => instants[k] ?? NaN
  const distance = at(i) - at(i - 1)
  if (!(distance > missingMs)) return false
  if (distance > SLOWEST_MS) return true
  const beside = [at(i - 1) - at(i - 2), at(i + 1) - at(i)]
  return !beside.some((d) => d * ALIKE >= distance && d <= SLOWEST_MS)
}

/**
 * @param instants  ascending, in [fromMs, toMs).
 * @param points    at most so many parts.
 * @param leastMs   least distance of two instants.
 */
export function partsOf(instants: Float64Array, fromMs: number, toMs: number, points: number, leastMs: number): Parts {
  const n = instants.length
  const of = new Int32Array(n)
  const cadence = cadenceOf(instants, leastMs)
  const missing = missingFrom(cadence)
  const t: number[] = []
  let before = NaN
  for (let i = 0; i < n && t.length <= points; i++) {
    const at = instants[i] as number
    if (isHole(instants, i, missing)) t.push(before + cadence)
    of[i] = t.length
    t.push(at)
    before = at
  }
  if (t.length <= points) return { t, of }
  const [first, last] = [instants[0] as number, instants[n - 1] as number]
  const [from, to] = [Math.max(fromMs, first), Math.min(toMs, last + 1)]
  let width = cadence * Math.max(2, Math.ceil((to - from) / (cadence * points)))
  const begin = (): number => Math.floor(from / width) * width
  while (Math.ceil((to - begin()) / width) > points) width += cadence
  const start = begin()
  for (let i = 0; i < n; i++) of[i] = Math.floor(((instants[i] as number) - start) / width)
  const length = (of[n - 1] as number) + 1
  return { t: Array.from({ length }, (_, i) => Math.max(fromMs, start + i * width)), of }
}
