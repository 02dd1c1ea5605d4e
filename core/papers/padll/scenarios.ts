/** Testing scenarios of V-C: join times, shares of the load and demands. Source: paper, Table I. */
import type { Algorithm } from '../../padll/algorithms/algorithm.ts'

/** Max_R, op/s. */
export const MAX_RATE = 110_000
/** Interval between joins of jobs, s. */
export const JOIN_S = 180
/** Time for which a job submits, s; a second replays a minute. */
export const SUBMITS_S = 2160
/** Stages of a job, each on its own node. */
export const STAGES = 4

export interface ScenarioJob {
  readonly id: string
  /** Share of the trace that it submits. */
  readonly load: number
  /** op/s. */
  readonly demand: number
}

export type ScenarioNumber = 1 | 2 | 3

const jobs = (loads: readonly number[], demands: readonly number[]): ScenarioJob[] =>
  loads.map((load, i) => ({ id: `job${i + 1}`, load, demand: demands[i]! * 1000 }))

export const SCENARIOS: Readonly<Record<ScenarioNumber, readonly ScenarioJob[]>> = {
  1: jobs([0.25, 0.25, 0.25, 0.25], [15, 25, 30, 40]),
  2: jobs([0.15, 0.2, 0.2, 0.45], [15, 25, 30, 40]),
  3: jobs([0.15, 0.2, 0.2, 0.45], [40, 25, 30, 15]),
}

/** Setups in the paper's order and wording. */
export const SETUPS = {
  baseline: 'Baseline',
  uniform: 'Uniform',
  priority: 'Priority',
  psharing: 'PSharing',
  psfa: 'PSFA',
} as const
export type SetupName = keyof typeof SETUPS
export const SETUP_NAMES = Object.keys(SETUPS) as SetupName[]

/** Control of the scenarios: an algorithm with its options. */
export interface Control {
  readonly algorithm: Algorithm
  readonly epsilon?: number
  /** Time between two control cycles, s. */
  readonly cycleS?: number
  /** Delay until rates are in force, s. */
  readonly delayS?: number
  readonly leftover?: 'equal' | 'proportional'
}

/**
 * Control of the scenarios' setups; null for baseline. Uniform is a fixed 27.5 kops/s: a quarter, for any number of
 * jobs.
 */
export const controlOf = (setup: SetupName): Control | null => (setup === 'baseline' ? null : { algorithm: setup })
