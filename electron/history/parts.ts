/**
 * Divides instants into the points of a chart. Up to the limit they are drawn individually, with an empty point where samples are
 * missing; beyond it they are grouped, and a group without samples is empty: a line is never drawn across a gap.
 */

export interface Parts {
  /** Time of each point. */
  readonly t: number[]
  /** Point of each instant. */
  readonly of: Int32Array
}

/** Typical distance between instants, ms. */
export function cadenceOf(instants: Float64Array, leastMs: number): number {
  if (instants.length < 2) return Math.max(leastMs, 1)
  const distances = new Float64Array(instants.length - 1)
  for (let i = 1; i < instants.length; i++) distances[i - 1] = (instants[i] as number) - (instants[i - 1] as number)
  distances.sort()
  return Math.max(leastMs, distances[distances.length >> 1] as number, 1)
}

/** Distance from which samples count as missing, ms: smaller for the coarser tiers, whose distances do not vary. */
export const missingFrom = (cadenceMs: number): number => cadenceMs * (cadenceMs >= 10_000 ? 1.5 : 2.5)

/** Longest sampling interval of a slow live cluster, ms: repeated distances up to it are its regular pace. */
const SLOWEST_MS = 10_500
const ALIKE = 1.5

/**
 * True if samples are missing before an instant: its distance exceeds the limit, and neither neighboring distance is
 * about as long (a slow, regular pace); no pace is slower than `SLOWEST_MS`.
 */
export function isHole(instants: Float64Array, i: number, missingMs: number): boolean {
  const at = (k: number): number => instants[k] ?? NaN
  const distance = at(i) - at(i - 1)
  if (!(distance > missingMs)) return false
  if (distance > SLOWEST_MS) return true
  const beside = [at(i - 1) - at(i - 2), at(i + 1) - at(i)]
  return !beside.some((d) => d * ALIKE >= distance && d <= SLOWEST_MS)
}

/**
 * Groups instants into points.
 *
 * @param instants  ascending, in [fromMs, toMs).
 * @param points    most points.
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
  const first = instants[0] as number
  const last = instants[n - 1] as number
  const from = Math.max(fromMs, first)
  const to = Math.min(toMs, last + 1)
  let width = cadence * Math.max(2, Math.ceil((to - from) / (cadence * points)))
  const begin = (): number => Math.floor(from / width) * width
  while (Math.ceil((to - begin()) / width) > points) width += cadence
  const start = begin()
  for (let i = 0; i < n; i++) of[i] = Math.floor(((instants[i] as number) - start) / width)
  const length = (of[n - 1] as number) + 1
  return { t: Array.from({ length }, (_, i) => Math.max(fromMs, start + i * width)), of }
}
