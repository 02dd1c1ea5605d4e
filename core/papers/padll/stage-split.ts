/** How a job's rate is cut over its stages in the fluid model. Source: spec/padll 5 [R]. */

export interface StageSplit {
  /** Part of the job's load that each stage submits; they sum to 1. */
  readonly load: readonly number[]
  /** Alike, or by what each stage was served in the second before. */
  readonly by: 'equal' | 'usage'
}

/** Whole rates that sum to floor(rate); what flooring leaves goes to the first stages, 1 op/s each. */
export function splitRate(rate: number, by: StageSplit['by'], usage: ArrayLike<number>): number[] {
  const parts = Array.from({ length: usage.length }, (_, s) => (by === 'equal' ? 1 : Math.max(1, usage[s]!)))
  const all = parts.reduce((sum, part) => sum + part, 0)
  const cut = parts.map((part) => Math.floor((rate * part) / all))
  let rest = Math.floor(rate) - cut.reduce((sum, part) => sum + part, 0)
  for (let s = 0; rest > 0; s = (s + 1) % cut.length, rest--) cut[s]!++
  return cut
}
