/** What every control algorithm computes from: the jobs of one scope, and the rate they share. Source: spec/padll 6. */
import { PADLL_ALGORITHMS, type PadllAlgorithm } from '../../controllers/settings.ts'

export const ALGORITHMS = PADLL_ALGORITHMS
export type Algorithm = PadllAlgorithm

/** One job in one control cycle. */
export interface JobDemand {
  readonly id: string
  /** Rate that its policy asks for, op/s; null where no policy names it. */
  readonly demand: number | null
  /** Served op/s since the last collection; null in its first cycle. */
  readonly usage: number | null
}

/** Rates by job, op/s, not floored: floors and shares per stage are cut at enforcement. */
export type Rates = ReadonlyMap<string, number>
