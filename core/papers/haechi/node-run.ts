/**
 * Data node in the setup of the paper's experiments, and its results, period by period.
 *
 * A run may be scaled down by a whole factor: rates, tokens, batch B and window Q are divided by it, so that one simulated I/O
 * represents that many; a FAA takes as long as at full size. Every share of the node's time stays the same. Results are
 * multiplied again.
 */
import { invariant } from '../../base/result.ts'
import { NS_PER_S } from '../../base/units.ts'
import {
  DEFAULT_SETTINGS,
  PAPER_PROFILE,
  type CapacityProfile,
  type EstimatorSettings,
  type HaechiSettings,
} from '../../haechi/settings.ts'
import type { LatencySummary } from '../../haechi/sim/latency-histogram.ts'
import { NodeSimulation } from '../../haechi/sim/node-simulation.ts'
import type { NodeCounters } from '../../haechi/sim/node-views.ts'
import { NODE_DEFAULTS, type NodeMode } from '../../haechi/sim/setup.ts'

/** I/Os per period of 1 s. */
export interface SceneClient {
  /** R. */
  readonly reservation: number
  readonly demand: number
  readonly limit?: number
}

/** Quantities of the node at full size. */
export interface Scene {
  readonly clients: readonly SceneClient[]
  readonly pattern?: 'burst' | 'constant'
  /** True if requests left unserved by a period wait for the next (A17). */
  readonly carry?: boolean
  readonly mode?: NodeMode
  readonly settings?: HaechiSettings
  readonly profile?: CapacityProfile
  /** I/Os that one simulated I/O represents. */
  readonly size: number
  /** Periods before the measured ones. */
  readonly warmUp: number
  readonly measured: number
  /** C_G from the start of a period on, I/O/s. */
  readonly capacity?: readonly { readonly period: number; readonly iops: number }[]
  /** Largest relative deviation of a period's capacity. */
  readonly noise?: number
}

/** Results by period, including the warm-up; I/Os and tokens of the node at full size. */
export interface NodeRun {
  readonly warmUp: number
  /** R of every client, in multiples of the I/Os that one simulated I/O represents. */
  readonly reservations: readonly number[]
  /** Completed I/Os of every client. */
  readonly completed: readonly (readonly number[])[]
  readonly totals: readonly number[]
  /** omega and U; empty without a monitor. */
  readonly omega: readonly number[]
  readonly used: readonly number[]
  /** Latency in the measured periods. */
  readonly latency: LatencySummary
  /** Its percentiles, us: `PERCENTILES`. */
  readonly percentiles: readonly (readonly [percent: number, us: number])[]
  readonly counters: NodeCounters
}

const PERCENTILES = [10, 25, 50, 75, 90, 99, 99.9] as const

/** Default settings with another estimator (spec/haechi 15). */
export const estimating = (estimator: Partial<EstimatorSettings>, settings = DEFAULT_SETTINGS): HaechiSettings => ({
  ...settings,
  estimator: { ...settings.estimator, ...estimator },
})
/** Omega stays at the profiled value. */
export const FIXED = estimating({ enabled: false })

/** @param seed  seed of the noise, the only random part. */
export function runNode(scene: Scene, seed: number): NodeRun {
  const { clients, size, warmUp, measured, pattern = 'burst', carry = true } = scene
  const { settings = DEFAULT_SETTINGS, profile = PAPER_PROFILE, mode = 'haechi', noise = 0, capacity = [] } = scene
  const small = (n: number): number => Math.floor(n / size)
  const made = NodeSimulation.create({
    ...NODE_DEFAULTS,
    mode,
    seed,
    noise,
    slots: clients.length,
    samples: { ...NODE_DEFAULTS.samples, rows: 0 },
    keptPeriods: warmUp + measured,
    settings: {
      ...settings,
      batch: Math.round(settings.batch / size),
      window: Math.max(1, Math.round(settings.window / size)),
      phase2Window: Math.max(1, Math.round(settings.phase2Window / size)),
    },
    fabric: { ...NODE_DEFAULTS.fabric, faaShare: 1 / size },
    profile: { globalIops: small(profile.globalIops), localIops: small(profile.localIops) },
    capacity: capacity.map(({ period, iops }) => ({ atNs: period * settings.periodNs, iops: small(iops) })),
    clients: clients.map(({ reservation, demand, limit }, i) => ({
      name: `C${i + 1}`,
      reservation: small(reservation),
      limit: limit === undefined ? null : small(limit),
      workload: { kind: pattern, perPeriod: small(demand), carry },
    })),
  })
  invariant(made.ok, 'the paper’s clients are admitted')
  const node = made.value
  node.runUntil(warmUp * NS_PER_S)
  node.clearLatency()
  node.runUntil((warmUp + measured) * NS_PER_S)
  const periods = node.periods.items
  const monitored = periods.flatMap(({ monitor }) => monitor ?? [])
  return {
    warmUp,
    reservations: clients.map(({ reservation }) => small(reservation) * size),
    completed: periods.map(({ completed }) => completed.map((n) => n * size)),
    totals: periods.map(({ total }) => total * size),
    omega: monitored.map(({ omega }) => omega * size),
    used: monitored.map(({ used }) => used * size),
    latency: node.latency(),
    percentiles: PERCENTILES.map((percent) => [percent, node.latencyAt(percent / 100)] as const),
    counters: node.counters(),
  }
}
