/** Where a queue was fullest: what to show of a resource when nobody says when. */
import type { Counts } from './counts.ts'
import type { Ledger } from './ledger.ts'

/** Ends of stretches that are compared: a quarter of a stretch apart. */
const PARTS = 4
const MOST_PARTS = 100_000

/**
 * End of the stretch in which most requests waited on average, the newest of equals; undefined when none waited at all.
 *
 * Ends lie on a grid of quarters of a stretch that does not move with `at`, so that what is found stays where it is.
 */
export function fullest(
  ledger: Ledger,
  counts: Counts,
  { at, spanNs, from }: { readonly at: number; readonly spanNs: number; readonly from: number },
): number | undefined {
  const part = spanNs / PARTS
  const lastPart = Math.floor(at / part)
  const firstPart = Math.max(Math.ceil(from / part), lastPart - MOST_PARTS)
  if (!(part > 0) || lastPart - firstPart < PARTS) return undefined
  // Waiting requests times ns, by quarter.
  const areas = new Float64Array(lastPart - firstPart)
  ledger.steps(counts, firstPart * part, lastPart * part, (start, end, waiting) => {
    if (waiting === 0) return
    for (let p = Math.floor(start / part); p * part < end; p++) {
      const i = p - firstPart
      const share = Math.min(end, (p + 1) * part) - Math.max(start, p * part)
      if (i >= 0 && i < areas.length && share > 0) areas[i]! += waiting * share
    }
  })
  let best = 0
  let found: number | undefined
  for (let end = areas.length; end >= PARTS; end--) {
    const area = areas.subarray(end - PARTS, end).reduce((a, b) => a + b)
    if (area > best * (1 + 1e-9)) [best, found] = [area, (firstPart + end) * part]
  }
  return found
}
