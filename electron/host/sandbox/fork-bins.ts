/** Bins of a range that becomes a fork: their number, gaps, and throttled time of a job. */

/** Bins of a range: enough to resolve a burst of a quarter of a second in a minute. */
export const BINS = 240
/** Smallest share of measured bins for a usable range. */
export const COVERAGE_MIN = 0.5

/** Share of its active time that a job ran at the limit of a rule. */
export function heldPart(rpcs: readonly number[], throttled: readonly number[]): number {
  let held = 0
  let busy = 0
  rpcs.forEach((r, i) => {
    const t = throttled[i] ?? NaN
    if (!(r > 0) || Number.isNaN(t)) return
    busy++
    held += t
  })
  return busy === 0 ? 0 : held / busy
}

/** Runs of empty bins. */
export function gapsOf(isKnown: readonly boolean[], binS: number): { fromS: number; toS: number; why: string }[] {
  const gaps: { from: number; to: number }[] = []
  isKnown.forEach((known, i) => {
    if (known) return
    const last = gaps.at(-1)
    if (last?.to === i) last.to = i + 1
    else gaps.push({ from: i, to: i + 1 })
  })
  return gaps.map(({ from, to }) => ({ fromS: from * binS, toS: to * binS, why: 'no server was measured' }))
}
