/**
 * Enforcement object: limiter of a channel's operations. `drl` is a token bucket with a FIFO queue of waiting
 * operations; `noop` lets everything pass and counts.
 *
 * Source: spec/padll 1.5, 1.6. Deviations: upstream's order among waiting threads is the mutex's; here it is the order
 * of arrival. Operations that arrive together wait as one lot and are released in parts. Counts are in tokens:
 * operations, and bytes where the cost is bytes.
 */
import { ok, type Result } from '../../base/result.ts'
import { Ring } from '../../base/ring.ts'
import type { ChannelCounts, ObjectCommand } from '../control/messages.ts'
import type { Scope } from '../vocabulary.ts'
import { ROUNDING_ERROR, type TokenBucket, usableRate, usableRefill } from './token-bucket.ts'

/** Additional sink for wait times. */
export interface WaitCounts {
  /** Operations released after a wait, sum and maximum of their waits. */
  waited: number
  waitNs: number
  longestNs: number
}

/** Operations that wait together. */
export interface Lot {
  readonly ticket: number
  readonly flow: WaitCounts
  readonly cost: number
  readonly arrivedNs: number
  /** Operations that are still waiting. */
  count: number
  /** Tokens that its first operation has taken so far. */
  paid: number
}

export type LotHandler = (lot: Lot, count: number, atNs: number) => void

export class EnforcementObject {
  readonly channel: number
  readonly object: number
  readonly scope: Scope
  readonly bucket: TokenBucket | null
  readonly #onRelease: LotHandler
  readonly #behind = new Ring<Lot>()
  #first: Lot | undefined
  /** Time up to which the queue has been processed. */
  #cursorNs = 0
  #draining = false
  /** Time at which the first in the queue can go; Infinity if the queue is empty. */
  wakeAtNs = Infinity
  #arrived = 0
  #served = 0
  #waited = 0
  #queued = 0
  #throttledNs = 0

  constructor(
    of: { readonly channel: number; readonly object: number; readonly scope: Scope },
    bucket: TokenBucket | null,
    onRelease: LotHandler,
  ) {
    this.channel = of.channel
    this.object = of.object
    this.scope = of.scope
    this.bucket = bucket
    this.#onRelease = onRelease
  }

  get isIdle(): boolean {
    return this.#first === undefined
  }

  /**
   * Handles arriving operations; returns how many pass at once. The others must be queued with `wait`.
   *
   * @param count, cost  >= 1.
   */
  arrive(nowNs: number, count: number, cost: number): number {
    const total = count * cost
    this.#arrived += total
    if (this.bucket === null) {
      this.#served += total
      return count
    }
    if (this.#first !== undefined) return 0
    // If the host's time goes back, tokens are those of the cursor's time, so that no operation is released before its
    // ticket is known.
    const atNs = nowNs > this.#cursorNs ? nowNs : this.#cursorNs
    if (count === 1) {
      if (!this.bucket.takeOne(atNs, cost)) return 0
      this.#served += cost
      return 1
    }
    const n = this.bucket.takeMany(atNs, count, cost)
    this.#served += n * cost
    return n
  }

  wait(lot: Lot): void {
    this.#queued += lot.count * lot.cost
    if (this.#first === undefined) this.#first = lot
    else {
      this.#behind.push(lot)
      return
    }
    if (this.#draining) return
    // Available tokens go towards its cost now.
    this.#cursorNs = Math.max(this.#cursorNs, lot.arrivedNs)
    this.#drain(this.#cursorNs)
  }

  /** Releases the operations that can go by `nowNs`. */
  advance(nowNs: number): void {
    if (nowNs >= this.wakeAtNs && !this.#draining) this.#drain(nowNs)
  }

  /** @returns E_RATE, E_REFILL; then nothing has changed. */
  command(command: ObjectCommand, nowNs: number): Result<void> {
    const rate = command.rate === undefined ? undefined : usableRate(command.rate)
    if (rate?.ok === false) return rate
    const refill = command.refillNs === undefined ? undefined : usableRefill(command.refillNs)
    if (refill?.ok === false) return refill
    if (this.bucket === null) return ok(undefined)
    const wasDraining = this.#draining
    if (!wasDraining) this.#drain(nowNs)
    if (refill !== undefined) this.bucket.setRefill(nowNs, refill.value)
    if (rate !== undefined) this.bucket.setRate(nowNs, rate.value)
    this.#cursorNs = Math.max(this.#cursorNs, nowNs)
    if (!wasDraining && this.#first !== undefined) this.#drain(nowNs)
    return ok(undefined)
  }

  /** Returns counts since the last collection. */
  collect(): ChannelCounts {
    const counts: ChannelCounts = {
      channel: this.channel,
      object: this.object,
      scope: this.scope,
      arrived: this.#arrived,
      served: this.#served,
      waited: this.#waited,
      queued: this.#queued,
      throttledNs: this.#throttledNs,
    }
    this.#arrived = 0
    this.#served = 0
    this.#waited = 0
    this.#throttledNs = 0
    return counts
  }

  /** Drops the queue; returns the number of operations. */
  drop(): number {
    let n = 0
    for (let lot = this.#first; lot !== undefined; lot = this.#behind.shift()) n += lot.count
    this.#first = undefined
    this.#queued = 0
    this.wakeAtNs = Infinity
    return n
  }

  #drain(nowNs: number): void {
    const bucket = this.bucket as TokenBucket
    this.#draining = true
    let lot = this.#first
    while (lot !== undefined) {
      const at = Math.max(this.#cursorNs, lot.arrivedNs)
      if (!this.#serve(lot, at)) {
        const refills = bucket.refillsFor(lot.cost - lot.paid)
        const next = bucket.refillAt(refills, at)
        const skipped = next <= nowNs ? refills - 1 : bucket.refillsBy(nowNs)
        if (skipped > 0) lot.paid += bucket.skipRefills(skipped)
        this.wakeAtNs = next
        if (next > nowNs) break
        this.#cursorNs = next
      } else if (lot.count === 0 && this.#first === lot) this.#first = this.#behind.shift()
      lot = this.#first
    }
    if (lot === undefined) this.wakeAtNs = Infinity
    this.#draining = false
  }

  /** Releases the operations of a lot that can go at `atNs`; false if its first operation must wait for a refill. */
  #serve(lot: Lot, atNs: number): boolean {
    const bucket = this.bucket as TokenBucket
    let n = 0
    if (lot.paid === 0) n = bucket.takeMany(atNs, lot.count, lot.cost)
    if (n === 0) {
      // A drifting bucket refills only when it is short, which this payment may have caused.
      for (let paid = 1; paid > 0 && lot.paid < lot.cost * (1 - ROUNDING_ERROR); lot.paid += paid) {
        paid = bucket.pay(atNs, lot.cost - lot.paid)
      }
      if (lot.paid < lot.cost * (1 - ROUNDING_ERROR)) return false
      lot.paid = 0
      n = 1
    }
    lot.count -= n
    this.#cursorNs = atNs
    const tokens = n * lot.cost
    const waitNs = atNs - lot.arrivedNs
    this.#served += tokens
    this.#waited += tokens
    this.#queued -= tokens
    this.#throttledNs += n * waitNs
    const { flow } = lot
    flow.waited += n
    flow.waitNs += n * waitNs
    flow.longestNs = Math.max(flow.longestNs, waitNs)
    this.#onRelease(lot, n, atNs)
    return true
  }
}
