/** From which value on a measure is well above what is usual on a cluster. */

/** Values needed to say what is usual. */
const LEAST = 60
/** Times the usual distance from the middle; three times the middle at least. */
const TIMES = 6
const FACTOR = 3

const middle = (sorted: readonly number[]): number => sorted[sorted.length >> 1] as number

/**
 * The median and six times the median distance from it, and at least three times the median: single peaks move neither.
 *
 * @param values  of the past; null is a gap.
 * @returns       null where too little is known, or where the usual is zero.
 */
export function watchLevel(values: readonly (number | null)[]): number | null {
  const known = values.filter((v) => v !== null).sort((a, b) => a - b)
  if (known.length < LEAST) return null
  const usual = middle(known)
  const spread = middle(known.map((v) => Math.abs(v - usual)).sort((a, b) => a - b))
  return usual > 0 ? Math.max(usual + TIMES * spread, FACTOR * usual) : null
}
