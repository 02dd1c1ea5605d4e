/** Task of one run of a scenario. */
import type { Variant } from './variant.ts'

export interface RunTask {
  readonly variant: Variant
  /** Index of the variant in its list; 0 is the baseline. */
  readonly index: number
  readonly seed: number
  /** Simulated time, > 0; with thinning, the time that the run represents. */
  readonly seconds: number
  /** Objective: a job with a longer p95 wait misses it, ms. */
  readonly sloWaitMs: number
  /** Maximum events of the simulation. @default 50 million */
  readonly eventsMax?: number | undefined
}
