/**
 * Input and output of every control algorithm: the jobs of one scope, and the rate they share. Source: spec/padll 6.
 */
import { PADLL_ALGORITHMS, type PadllAlgorithm } from '../../controllers/settings.ts'

export const ALGORITHMS = PADLL_ALGORITHMS
export type Algorithm = PadllAlgorithm

/** One job in one control cycle. */
export interface JobDemand {
  readonly id: string
  /** Demanded rate by policy, op/s; null without a policy. */
  readonly demand: number | null
  /** Served rate since the last collection, op/s; null in its first cycle. */
  readonly usage: number | null
}

/** Rates by job, op/s, not floored: floors and shares per stage are applied at enforcement. */
export type Rates = ReadonlyMap<string, number>
