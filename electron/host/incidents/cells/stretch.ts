/** Stretches of an incident: what it is about, and which two are compared to say who moved. */

/** [fromMs, toMs). */
export interface StretchMs {
  readonly fromMs: number
  readonly toMs: number
}

/** On either side of the cursor. */
export const HALF_MS = 300_000
/** The stretch around the cursor that is compared with what was before. */
const AROUND_MS = 60_000
const MS_MOST = 8.64e15

/**
 * Five minutes on either side of an instant, as far as anything is kept before it. It may end ahead of what is known: until then it grows.
 *
 * @param last  last instant that can come to be known; undefined: it goes on.
 */
export function around(atMs: number, firstMs: number, last?: number): StretchMs {
  const toMs = Math.min(atMs + HALF_MS, last === undefined ? Infinity : last + 1)
  const fromMs = Math.min(atMs, Math.max(atMs - HALF_MS, firstMs))
  return { fromMs: Math.round(fromMs), toMs: Math.round(Math.max(toMs, fromMs + 1)) }
}

/** Why a stretch cannot be that of an incident; undefined: it can. */
export function stretchFault({ fromMs, toMs }: StretchMs, newestMs: number): string | undefined {
  if (!(fromMs >= 0 && toMs <= MS_MOST && toMs > fromMs)) return 'it ends before it begins, or is no time'
  if (fromMs > newestMs) return 'it begins after the newest sample'
  return toMs > newestMs + HALF_MS + 1 ? 'it ends more than five minutes after the newest sample' : undefined
}

/** The minute around an instant, and what comes before it in the stretch; undefined where there is not enough of either. */
export function compared(
  atMs: number,
  { fromMs, toMs }: StretchMs,
  newestMs: number,
): { readonly a: StretchMs; readonly b: StretchMs } | undefined {
  const end = Math.min(toMs, newestMs + 1)
  const length = Math.min(AROUND_MS, (end - fromMs) / 3)
  if (!(length >= 1)) return undefined
  const to = Math.min(end, Math.max(fromMs + 2 * length, atMs + length / 2))
  const border = Math.round(to - length)
  return { a: { fromMs: Math.round(fromMs), toMs: border }, b: { fromMs: border, toMs: Math.round(to) } }
}
