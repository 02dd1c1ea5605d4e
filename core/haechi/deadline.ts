/**
 * Reservations by deadline (advance `haechi.deadline`): outstanding I/Os in proportion to the reservation, and global tokens only as
 * far as all that is reserved still finishes within the period. Not in the paper; see docs/advances/haechi-deadline.md.
 */
import { NS_PER_S } from '../base/units.ts'
import type { CapacityProfile, HaechiSettings } from './settings.ts'

/** Part of the capacity that is kept back: FAAs use it, too, and an estimate that probes upwards is one increment too high. */
const MARGIN = 0.02

/** Time at the end of a period that is kept back, in intervals delta: a report is up to two old, and I/Os in flight take part of one. */
const MARGIN_TICKS = 4

/** Part of Q that a client without reservation tokens uses: pool I/Os hardly delay reserved ones, and still saturate the node. */
const POOL_PART = 1 / 8

/**
 * Returns the outstanding I/Os of a client with reservation tokens, at most Q. A FIFO node serves clients in proportion to them, so
 * that all reservations finish at about the same time.
 *
 * @param localTokens  I/Os that one client can do in a period, C_L T; undefined: not known, Q for everyone.
 */
export const reservedWindow = (window: number, reservation: number, localTokens: number | undefined): number =>
  localTokens === undefined ? window : Math.max(1, Math.min(window, Math.ceil((window * reservation) / localTokens)))

/** Returns the outstanding I/Os of a client without reservation tokens. */
export const poolWindow = (phase2Window: number): number => Math.max(1, Math.floor(phase2Window * POOL_PART))

/** A client with reservation tokens: those left, and its weight at the node, its outstanding I/Os. */
export interface Owed {
  readonly tokens: number
  readonly weight: number
}

/**
 * Returns the most tokens that clients without reservation tokens may get together, so that what is owed still finishes in time.
 *
 * Each claimant is expected to take an equal part. An active client of weight w gets at least w dv, where v advances at
 * min(C_G / W, C_L / w_max), W the sum of the active weights: so a client that is owed L finishes when v = L / w.
 *
 * @param claimants  clients without reservation tokens, and the weight of each.
 * @param remainingNs  time until all that is owed must have finished.
 * @returns  whole tokens; 0 if it does not finish in time even alone, Infinity if no number of tokens delays it too much.
 * @complexity  O(n log n).
 */
export function releasable(
  owed: readonly Owed[],
  claimants: { readonly count: number; readonly weight: number },
  remainingNs: number,
  { globalIops, localIops }: CapacityProfile,
): number {
  const steps = owed
    .map(({ tokens, weight }) => ({ weight, end: tokens / weight }))
    .sort((a, b) => a.end - b.end || a.weight - b.weight)
  const last = steps.at(-1)
  if (last === undefined) return Infinity
  if (claimants.count === 0) return 0
  let weights = 0
  let heaviest = 0
  /** Of the clients that are active from a step on: sum of the weights, and the largest. */
  const active = steps.map(() => ({ weights: 0, heaviest: 0 }))
  for (let i = steps.length - 1; i >= 0; i--) {
    weights += steps[i]!.weight
    heaviest = Math.max(heaviest, steps[i]!.weight)
    active[i] = { weights, heaviest }
  }
  /** Time until all that is owed is done, s, if claimants are active until v = `until`. */
  const finish = (until: number): number => {
    let seconds = 0
    let v = 0
    for (const [i, { end }] of steps.entries()) {
      const { weights: own, heaviest: most } = active[i]!
      const contested = Math.max(v, Math.min(until, end))
      const all = own + claimants.count * claimants.weight
      seconds += (contested - v) / Math.min(globalIops / all, localIops / Math.max(most, claimants.weight))
      seconds += (end - contested) / Math.min(globalIops / own, localIops / most)
      v = end
    }
    return seconds
  }
  const within = remainingNs / NS_PER_S
  if (finish(0) > within) return 0
  if (finish(last.end) <= within) return Infinity
  let least = 0
  let most = last.end
  // `finish` increases with `until`; a token a claimant more or less is far below the margin.
  while ((most - least) * claimants.weight > 1) {
    const middle = (least + most) / 2
    if (finish(middle) <= within) least = middle
    else most = middle
  }
  return Math.floor(least * claimants.weight * claimants.count)
}

/** Capacity that `releasable` may count on with an estimate of `omega` tokens, I/O/s. */
export const safeIops = (omega: number, periodNs: number): number => ((omega * NS_PER_S) / periodNs) * (1 - MARGIN)

/** Time that `releasable` may count on, ns. */
export const safeTime = (
  elapsedNs: number,
  { periodNs, tickNs }: Pick<HaechiSettings, 'periodNs' | 'tickNs'>,
): number => periodNs - elapsedNs - MARGIN_TICKS * tickNs
