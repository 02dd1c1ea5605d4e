/**
 * A client's report as one 64-bit word, written by one WRITE, as two 32-bit halves so that no hot path needs a BigInt.
 *
 * The monitor needs three counts of a period: residual, reservation tokens spent, I/Os completed (N); what was yielded is
 * R - residual - spent. Three counts do not fit beside each other, and need not: while reservation tokens are left no global
 * token was used, so N is within a window Q of `spent`; once none are left the residual is zero.
 *
 *     residual > 0:  [0:1][backlogged:1][epoch:3][beat:3] [spent:23][residual:23][N - spent + 512:10]
 *     residual = 0:  [1:1][backlogged:1][epoch:3][beat:3] [spent:23][N:33]
 *
 * Counts are absolute, so a report that is overwritten before it is read loses nothing. Bounds: R <= `MAX_RESERVATION`, Q <= `MAX_WINDOW`.
 * The epoch reveals a late report of a past period (A9), the beat distinguishes an idle client from a silent one.
 */
import type { ClientReport } from './messages.ts'

export interface Word {
  readonly hi: number
  readonly lo: number
}

/** A report as read from its word. */
export interface SlotReport {
  /** Low bits of the epoch: `lowEpoch`. */
  readonly epoch: number
  readonly residual: number
  readonly spent: number
  readonly completed: number
  /** As in `ClientReport`. */
  readonly isBacklogged: boolean
  /** 0: no report was ever written. */
  readonly beat: number
}

/** Largest reservation, tokens a period of one client. */
export const MAX_RESERVATION = 2 ** 23 - 1
/** Largest window Q. */
export const MAX_WINDOW = 2 ** 9 - 1

const EPOCH_MASK = 7
const BACKLOGGED = 64
const BEATS = 7
const RESIDUAL_IN_LO = 2 ** 22
const OFFSET_BIAS = 2 ** 9
const OFFSET_MASK = 2 ** 10 - 1
const TWO_32 = 2 ** 32
const GOLDEN = 0x9e3779b1

/** Bits of an epoch that a report carries. */
export const lowEpoch = (epoch: number): number => epoch & EPOCH_MASK

/** Beat of the n-th report, 1 to 7: multiples of the golden ratio, so that a monitor that reads every k-th report sees it change. */
const beatOf = (n: number): number => 1 + Math.floor(((Math.imul(n, GOLDEN) >>> 0) / TWO_32) * BEATS)

export function packReport({ epoch, residual, spent, completed, isBacklogged, beat }: ClientReport): Word {
  const head = (isBacklogged === true ? BACKLOGGED : 0) | (lowEpoch(epoch) << 3) | beatOf(beat)
  if (residual === 0) {
    const above = completed >= TWO_32 ? 1 : 0
    return { hi: (((head | 128) << 24) | (spent << 1) | above) >>> 0, lo: completed >>> 0 }
  }
  const above = residual >= RESIDUAL_IN_LO ? 1 : 0
  const offset = completed - spent + OFFSET_BIAS
  return {
    hi: ((head << 24) | (spent << 1) | above) >>> 0,
    lo: (((residual % RESIDUAL_IN_LO) << 10) | offset) >>> 0,
  }
}

export function unpackReport({ hi, lo }: Word): SlotReport {
  const head = hi >>> 24
  const epoch = (head >>> 3) & EPOCH_MASK
  const isBacklogged = (head & BACKLOGGED) !== 0
  const beat = head & 7
  const spent = (hi >>> 1) & MAX_RESERVATION
  const above = hi & 1
  if (head >= 128) return { epoch, residual: 0, spent, completed: above * TWO_32 + lo, isBacklogged, beat }
  // A word of zeros: nothing was written yet.
  if (beat === 0) return { epoch, residual: 0, spent: 0, completed: 0, isBacklogged: false, beat }
  const residual = above * RESIDUAL_IN_LO + (lo >>> 10)
  return { epoch, residual, spent, completed: spent + (lo & OFFSET_MASK) - OFFSET_BIAS, isBacklogged, beat }
}

/** True if nothing was written between two readings of a slot. */
export const isSameReport = (a: SlotReport, b: SlotReport): boolean =>
  a.beat === b.beat &&
  a.completed === b.completed &&
  a.spent === b.spent &&
  a.residual === b.residual &&
  a.isBacklogged === b.isBacklogged &&
  a.epoch === b.epoch
