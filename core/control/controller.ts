/**
 * What every controller shares. A controller is a pure step: no clock, no I/O; the live loop and the simulation drive the
 * same object.
 */
import type { ControllerName } from '../controllers/registry.ts'

/** One job as one target saw it in the period that just ended. */
export interface JobDemand {
  readonly jobId: string
  /** Compute nodes of the job; undefined where no resource manager named them. */
  readonly nodes: number | undefined
  /** RPCs that the target served for the job in the period. */
  readonly served: number
}

/** One period of one target (OST or MDT), as the collector measured it. */
export interface Observation {
  /** For example `demo-OST0000`. */
  readonly target: string
  /** End of the period on the source's clock, ns. */
  readonly atNs: number
  /** Nominal length of the period, ns. */
  readonly periodNs: number
  /** Jobs with at least one RPC in the period; order is irrelevant. */
  readonly jobs: readonly JobDemand[]
}

/** What one job may use of one target in the next period. */
export interface Allocation {
  readonly jobId: string
  /** Tokens (RPCs) for the next period. */
  readonly tokens: number
  /** The rule rate that this means, RPC/s, integer >= 1. */
  readonly ratePerSec: number
  /** Tokens lent (+) or borrowed (-) so far on this target; 0 for controllers without a ledger. */
  readonly record: number
  /** What moved in this period's ledger (new record - old record). */
  readonly recordDelta: number
}

/** The desired state for one target. Not commands: `plan.ts` compares it with what the server has. */
export interface Decision {
  readonly target: string
  readonly atNs: number
  /** Token budget of the period, RPCs. */
  readonly budget: number
  /** One entry per job that is to have a rule, highest priority first: the active ones, or all known where shares are fixed. */
  readonly allocations: readonly Allocation[]
  /** Ledger of every job ever seen, also the idle ones; sums to 0. */
  readonly records: ReadonlyMap<string, number>
}

export interface Controller {
  readonly name: ControllerName
  /** Never throws on bad input: a job that cannot be counted is left out. */
  step(observation: Observation): Decision
}

/** observe: nothing is computed for the servers; advise: plans are shown and logged; enforce: plans are applied. */
export const MODES = ['observe', 'advise', 'enforce'] as const
export type Mode = (typeof MODES)[number]
