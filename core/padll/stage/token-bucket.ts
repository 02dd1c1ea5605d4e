/**
 * PAIO's token bucket ("drl") in virtual time: a refill sets the tokens to the full capacity, capacity = rate * period,
 * a double that is never rounded; leftover tokens are lost.
 *
 * Source: spec/padll 1.6. Deviations, as recommended there: refills follow a grid (deadline += period), so that the
 * served rate is the nominal one; the rate has a floor, since operations would wait forever without capacity. Two more
 * options: `spend: 'whole'` takes an operation's tokens (or a slice of one capacity) at once or not at all, as upstream
 * does: at 150 op/s and 10 ms only one operation fits each capacity of 1.5, so 100 op/s are served. `partial`, the
 * default, lets the first in the queue take the available tokens towards its cost: no token is lost while an operation
 * waits, and never more than one capacity is taken in a period. `drift`: the next refill is one period after the last
 * one was seen by a waiter that polls every 1 % of the period and is LATE_NS late: 19,463 op/s at 20,000 nominal
 * (spec/padll 1.6).
 */
import { fail, ok, type Result } from '../../base/result.ts'
import { NS_PER_S, NS_PER_US } from '../../base/units.ts'

/** Lowest rate, op/s (byte/s for data). */
export const RATE_FLOOR = 1
/** Largest rate that stays exact. */
export const RATE_MAX = 2 ** 50
export const REFILL_MIN_NS = 100 * NS_PER_US
export const REFILL_MAX_NS = 3600 * NS_PER_S

/** Delay of upstream's waiter behind a refill period of 10 ms, ns: it waits for 20,000 / 19,463 of the period in total. */
const LATE_NS = 275_908
/** Fraction of a cost that counts as zero: rounding error of summed fractions of a capacity. */
export const ROUNDING_ERROR = 1e-9

export interface BucketOptions {
  readonly spend: 'partial' | 'whole'
  readonly drift: boolean
}

/** Returns the rate to set for a requested one. @returns E_RATE for an invalid rate. */
export function usableRate(rate: number): Result<number> {
  if (!Number.isFinite(rate) || rate < 0 || rate > RATE_MAX) {
    return fail({ code: 'E_RATE', what: `${rate} is not a valid rate`, why: `rates go from 0 to ${RATE_MAX}` })
  }
  return ok(Math.max(rate, RATE_FLOOR))
}

/** @returns E_REFILL for an invalid refill period. */
export function usableRefill(periodNs: number): Result<number> {
  if (!Number.isInteger(periodNs) || periodNs < REFILL_MIN_NS || periodNs > REFILL_MAX_NS) {
    const why = `periods go from ${REFILL_MIN_NS / NS_PER_US} us to ${REFILL_MAX_NS / NS_PER_S} s, in whole ns`
    return fail({ code: 'E_REFILL', what: `${periodNs} ns is not a valid refill period`, why })
  }
  return ok(periodNs)
}

export class TokenBucket {
  readonly #spendsWhole: boolean
  readonly #drift: boolean
  #rate: number
  #periodNs: number
  #capacity: number
  #tokens: number
  /** Time of the next refill. */
  #deadline: number

  /** Creates a full bucket. @param rate, periodNs  valid ones. */
  constructor(nowNs: number, rate: number, periodNs: number, options: BucketOptions) {
    this.#spendsWhole = options.spend === 'whole'
    this.#drift = options.drift
    this.#rate = rate
    this.#periodNs = periodNs
    this.#capacity = (rate * periodNs) / NS_PER_S
    this.#tokens = this.#capacity
    this.#deadline = nowNs + periodNs
  }

  get rate(): number {
    return this.#rate
  }

  get periodNs(): number {
    return this.#periodNs
  }

  get capacity(): number {
    return this.#capacity
  }

  /** Tokens as of the last call. */
  get tokens(): number {
    return this.#tokens
  }

  /** Takes one operation's tokens if all are available. */
  takeOne(nowNs: number, cost: number): boolean {
    if (nowNs >= this.#deadline && !this.#drift) this.#refill(nowNs)
    if (this.#tokens < cost) return this.takeMany(nowNs, 1, cost) === 1
    this.#tokens -= cost
    return true
  }

  /** Takes tokens of whole operations of one cost; returns how many of `count` can go. */
  takeMany(nowNs: number, count: number, cost: number): number {
    this.#refillIfDue(nowNs, Math.min(cost, this.#capacity))
    const n = Math.min(count, Math.floor((this.#tokens + ROUNDING_ERROR * cost) / cost))
    this.#tokens = Math.max(0, this.#tokens - n * cost)
    return n
  }

  /**
   * Takes tokens for one operation of which `need` are still unpaid.
   *
   * @returns  tokens that were taken, 0..need.
   */
  pay(nowNs: number, need: number): number {
    const slice = Math.min(need, this.#capacity)
    this.#refillIfDue(nowNs, slice)
    if (this.#spendsWhole && this.#tokens < slice * (1 - ROUNDING_ERROR)) return 0
    const paid = Math.min(this.#tokens, need)
    this.#tokens -= paid
    return paid
  }

  /** Refills, including the next one, that an operation with `need` unpaid tokens waits for. */
  refillsFor(need: number): number {
    return this.#drift ? 1 : Math.max(1, Math.ceil(need / this.#capacity - ROUNDING_ERROR))
  }

  /** Time at which a waiter since `sinceNs` sees the n-th refill from now. */
  refillAt(n: number, sinceNs: number): number {
    if (!this.#drift) return this.#deadline + (n - 1) * this.#periodNs
    const pollNs = Math.max(1, Math.round(this.#periodNs / 100))
    return sinceNs + Math.max(1, Math.ceil((this.#deadline - sinceNs) / pollNs)) * pollNs + LATE_NS
  }

  /** Number of refills of the grid due by `nowNs`. */
  refillsBy(nowNs: number): number {
    return this.#drift || nowNs < this.#deadline ? 0 : Math.floor((nowNs - this.#deadline) / this.#periodNs) + 1
  }

  /** Skips n refills, all their tokens going to one operation; returns those tokens. Only on the grid. */
  skipRefills(n: number): number {
    this.#deadline += n * this.#periodNs
    this.#tokens = 0
    return n * this.#capacity
  }

  /**
   * Sets the rate. Tokens over the new capacity are lost; none are added before the next refill. @param rate  a valid
   * one.
   */
  setRate(nowNs: number, rate: number): void {
    if (nowNs >= this.#deadline && !this.#drift) this.#refill(nowNs)
    this.#rate = rate
    this.#resize()
  }

  /**
   * Sets the refill period. Keeps the rate. The next refill comes when it was due or one new period from now, whichever
   * is sooner.
   */
  setRefill(nowNs: number, periodNs: number): void {
    if (nowNs >= this.#deadline && !this.#drift) this.#refill(nowNs)
    this.#periodNs = periodNs
    this.#deadline = Math.min(this.#deadline, nowNs + periodNs)
    this.#resize()
  }

  #resize(): void {
    this.#capacity = (this.#rate * this.#periodNs) / NS_PER_S
    if (this.#tokens > this.#capacity) this.#tokens = this.#capacity
  }

  /** Refills if due. With drift, only if tokens are short: upstream checks the clock only then. */
  #refillIfDue(nowNs: number, wanted: number): void {
    if (nowNs >= this.#deadline && (!this.#drift || this.#tokens < wanted)) this.#refill(nowNs)
  }

  #refill(nowNs: number): void {
    this.#tokens = this.#capacity
    if (this.#drift) this.#deadline = nowNs + this.#periodNs
    else this.#deadline += (Math.floor((nowNs - this.#deadline) / this.#periodNs) + 1) * this.#periodNs
  }
}
