/** Bins of a stretch that becomes a fork: how many, which of them are gaps, and how long a job was held back in them. */

/** Bins of a stretch: enough to see a burst of a quarter of a second in a minute. */
export const BINS = 240
/** Part of the bins without which a stretch says too little. */
export const COVERAGE_MIN = 0.5

/** Part of its time at work that a job ran at the limit of a rule. */
export function heldPart(rpcs: readonly number[], throttled: readonly number[]): number {
  let [held, busy] = [0, 0]
  rpcs.forEach((r, i) => {
    const t = throttled[i] ?? NaN
    if (!(r > 0) || Number.isNaN(t)) return
    busy++
    held += t
  })
  return busy === 0 ? 0 : held / busy
}

/** Runs of bins without anything. */
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
