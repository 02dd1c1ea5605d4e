/**
 * OST of an experiment as its clients and its controller see it: the paper's model (`ModelServer`), or the emulated
 * server with all that live clusters run (`ShippedServer`).
 */
import type { Deadband } from '../../control/rule-changes.ts'
import type { Decision, Observation } from '../../control/controller.ts'
import type { JobMeasure } from '../../adaptbf/demand.ts'

/** One RPC in flight. */
export interface Rpc {
  /** Number of the job. */
  readonly job: number
  /** Called when the device is done with it. */
  readonly served: () => void
}

/** RPCs of one job since the start. */
export interface JobCounts {
  readonly arrivals: number
  readonly dispatched: number
  readonly served: number
}

export interface ExperimentServer {
  /** By number of the job. */
  readonly counts: readonly JobCounts[]
  /** Busy time of the device since the start, ns. */
  readonly busyNs: number
  receive(rpc: Rpc): void
  /** Activity of the jobs since earlier counts, with the counts that its controller can read. */
  activitySince(before: readonly JobCounts[]): JobMeasure[]
  /**
   * Plans the change from the rules in force to those of a decision.
   *
   * @param observation  the period of the decision.
   * @returns            commands of the plan, in order; each executes itself.
   */
  plan(observation: Observation, decision: Decision, deadband: Deadband): readonly (() => void)[]
}
