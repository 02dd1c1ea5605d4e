/** Time ranges of an incident: its own, and the two that are compared to find changes. */

/** [fromMs, toMs). */
export interface RangeMs {
  readonly fromMs: number
  readonly toMs: number
}

/** Half width around the cursor. */
export const HALF_MS = 300_000
/** Range around the cursor that is compared with the time before. */
const AROUND_MS = 60_000
const MS_MOST = 8.64e15

/**
 * Five minutes on either side of an instant, limited to kept data before it. It may end in the future: until then it
 * grows.
 *
 * @param last  last instant that can become known; undefined: the source continues.
 */
export function around(atMs: number, firstMs: number, last?: number): RangeMs {
  const toMs = Math.min(atMs + HALF_MS, last === undefined ? Infinity : last + 1)
  const fromMs = Math.min(atMs, Math.max(atMs - HALF_MS, firstMs))
  return { fromMs: Math.round(fromMs), toMs: Math.round(Math.max(toMs, fromMs + 1)) }
}

/** Reason why a range is not valid for an incident; undefined if it is. */
export function rangeFault({ fromMs, toMs }: RangeMs, newestMs: number): string | undefined {
  if (!(fromMs >= 0 && toMs <= MS_MOST && toMs > fromMs)) return 'it ends before it begins, or is not a valid time'
  if (fromMs > newestMs) return 'it begins after the newest sample'
  return toMs > newestMs + HALF_MS + 1 ? 'it ends more than five minutes after the newest sample' : undefined
}

/** The minute around an instant, and the rest of the range before it; undefined if either is too short. */
export function compared(
  atMs: number,
  { fromMs, toMs }: RangeMs,
  newestMs: number,
): { readonly a: RangeMs; readonly b: RangeMs } | undefined {
  const end = Math.min(toMs, newestMs + 1)
  const length = Math.min(AROUND_MS, (end - fromMs) / 3)
  if (!(length >= 1)) return undefined
  const to = Math.min(end, Math.max(fromMs + 2 * length, atMs + length / 2))
  const border = Math.round(to - length)
  return { a: { fromMs: Math.round(fromMs), toMs: border }, b: { fromMs: border, toMs: Math.round(to) } }
}
