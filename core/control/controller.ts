/**
 * Interface of all controllers. A controller is a pure step: no clock, no I/O; the live loop and the simulation drive the same object.
 */
import type { ControllerName } from '../controllers/registry.ts'

/** One job on one target in the period that just ended. */
export interface JobDemand {
  readonly jobId: string
  /** Compute nodes of the job; undefined if no resource manager reported them. */
  readonly nodes: number | undefined
  /** RPCs that the target served for the job in the period. */
  readonly served: number
}

/**
 * Delays between a target and its controller. Counters age until the decision, and the rules of a decision are in force later still: the
 * period that is observed begins under the rules of the decision before.
 */
export interface ControlLag {
  /** Time from the reading of the counters to the decision, ns, >= 0. */
  readonly ageNs: number
  /**
   * Time from the start of the observed period until the last decision was in force, ns: no rule of it before `leastNs`, all at `mostNs`,
   * when they had been read back. undefined: nothing was written in the period.
   */
  readonly write: { readonly leastNs: number; readonly mostNs: number } | undefined
}

/** One period of one target (OST or MDT), as the collector measured it. */
export interface Observation {
  /** Target name, for example `demo-OST0000`. */
  readonly target: string
  /** End of the period on the source's clock, ns. */
  readonly atNs: number
  /** Length of the period, ns: nominal, and measured where a missed deadline made it longer. */
  readonly periodNs: number
  /** Jobs with at least one RPC in the period; order is irrelevant. */
  readonly jobs: readonly JobDemand[]
  /** undefined: the controller acts at the end of the period, without delay. */
  readonly lag?: ControlLag | undefined
}

/** Allocation of one job on one target for the next period. */
export interface Allocation {
  readonly jobId: string
  /** Tokens (RPCs) for the next period. */
  readonly tokens: number
  /** Equivalent rule rate, RPC/s, integer >= 1. */
  readonly ratePerSec: number
  /** Tokens lent (+) or borrowed (-) so far on this target; 0 for controllers without a ledger. */
  readonly record: number
  /** Change of the record in this period (new record - old record). */
  readonly recordDelta: number
}

/** The desired state for one target. Not commands: `plan.ts` compares it with the server's rules. */
export interface Decision {
  readonly target: string
  readonly atNs: number
  /** Token budget of the period, RPCs. */
  readonly budget: number
  /** One entry per job that gets a rule, highest priority first: the active ones, or all known ones for fixed shares. */
  readonly allocations: readonly Allocation[]
  /** Ledger of every job ever seen, including idle ones; sums to 0. */
  readonly records: ReadonlyMap<string, number>
}

export interface Controller {
  readonly name: ControllerName
  /** Never throws on bad input: an uncountable job is omitted. */
  step(observation: Observation): Decision
}

/** observe: nothing is computed for the servers; advise: plans are shown and logged; enforce: plans are applied. */
export const MODES = ['observe', 'advise', 'enforce'] as const
export type Mode = (typeof MODES)[number]
