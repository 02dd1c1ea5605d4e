/** Clients, capacities and run lengths of the paper's experiments (III-A to III-E; spec/haechi 13, A26). */
import { PAPER_PROFILE } from '../../haechi/settings.ts'
import { spikeShares, uniformShares, zipfShares } from '../../haechi/workloads/distributions.ts'
import type { SceneClient } from './node-run.ts'

export const CLIENTS = 10
/** C_G. */
export const CAPACITY = PAPER_PROFILE.globalIops

export type Spread = 'uniform' | 'zipf'
export const SPREADS: readonly Spread[] = ['uniform', 'zipf']

/** Returns reservations that sum to a share of C_G: equal, or zipf (s = 0.6) over five groups of two. */
export const reserved = (spread: Spread, share: number): number[] =>
  spread === 'uniform'
    ? uniformShares(Math.round(share * CAPACITY), CLIENTS)
    : zipfShares(Math.round(share * CAPACITY), CLIENTS / 2, 2, 0.6)

/** Returns clients whose demand is the reservation and all of the initial pool (2A). */
export const demanding = (reservations: readonly number[], share: number): SceneClient[] =>
  reservations.map((reservation) => ({ reservation, demand: reservation + Math.round((1 - share) * CAPACITY) }))

export const spike = (high: number, low: number): number[] => spikeShares(CLIENTS, 3, high, low)

/** Periods of the runs with the estimator. */
export const LEARNING = { warmUp: 30, measured: 12 } as const
/** Largest relative deviation of a period's capacity from C_G. */
export const NOISE = 0.001
/** I/Os that one simulated I/O represents, where nothing else is said. */
export const SIZE = 32
/** With a fixed omega all periods after the first are alike. */
export const SETTLED = { warmUp: 1, measured: 2 } as const

export const names = Array.from({ length: CLIENTS }, (_, i) => `C${i + 1}`)

export const LEARNING_SETUP =
  '30 periods of 1 s to warm up and 12 measured. Each period’s capacity is off by up to 0.1 %, from a fixed stream.'
export const FIXED_SETUP = 'Estimator off: omega stays 1,570 K. One period to warm up and two measured.'
export const sizeSetup = (size: number): string =>
  `One simulated I/O represents ${size}: rates, B and Q are divided by ${size}, so every share of the node’s time stays. At full ` +
  'size totals are the same to 0.01 %, every client to 0.1 %.'
