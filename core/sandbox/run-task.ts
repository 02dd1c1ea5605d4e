/** What one run of a scenario is asked for. */
import type { Variant } from './variant.ts'

export interface RunTask {
  readonly variant: Variant
  /** Of the variant in its list; 0 is the baseline. */
  readonly index: number
  readonly seed: number
  /** Simulated, > 0; with thinning, what the run stands for. */
  readonly seconds: number
  /** A job whose p95 wait is longer misses the objective, ms. */
  readonly sloWaitMs: number
  /** Most events of the simulation. @default 50 million */
  readonly eventsMax?: number | undefined
}
