/**
 * Input and output of every control algorithm: the jobs of one scope, and the rate they share. Source: spec/padll 6.
 */
import { PADLL_ALGORITHMS, type PadllAlgorithm } from '../../controllers/settings.ts'

export const ALGORITHMS = PADLL_ALGORITHMS
export type Algorithm = PadllAlgorithm

/** Load that a job is expected to have in the next control cycle. */
export interface Forecast {
  /** Operations that arrive, op/s. */
  readonly arrivals: number
  /** Mean change of the arrivals between cycles, op/s. */
  readonly volatility: number
  /** Operations waiting now, as the rate that serves them in one cycle, op/s. */
  readonly waiting: number
}

/** One job in one control cycle. */
export interface JobDemand {
  readonly id: string
  /** Demanded rate by policy, op/s; null without a policy. */
  readonly demand: number | null
  /** Served rate since the last collection, op/s; null in its first cycle. */
  readonly usage: number | null
  /** Input of `psfa-adaptive`; null or absent where waiting operations are not known. */
  readonly forecast?: Forecast | null | undefined
}

/** Rates by job, op/s, not floored: floors and shares per stage are applied at enforcement. */
export type Rates = ReadonlyMap<string, number>
