/**
 * The token bucket of one class, in the kernel's integer arithmetic.
 *
 * Source: spec/lustre 2.3 (nrs_tbf dequeue). One RPC is one token whatever its size. All times are integer ns; `/` floors. The
 * accrued fraction of a token is lost at every dequeue, because the check time jumps to now: a saturated class runs at 1/(N +
 * wake-up latency), not at its nominal rate. Deviation: u64 products are split so that they stay exact in doubles; they cannot
 * wrap.
 */
import { NS_PER_S } from '../base/units.ts'

/** Parameters of a bucket, from its rule. */
export interface BucketSetting {
  /** R, RPC/s, integer 1..999999. */
  readonly rate: number
  /** D, maximum number of tokens. */
  readonly depth: number
  /** realtime=1: credit accrues without a cap and no fraction is lost. */
  readonly realtime: boolean
}

/** N: ns per token, floor(1e9 / R). */
export const nsPerToken = (rate: number): number => Math.floor(NS_PER_S / rate)

/** floor(passed * rate / 1e9), exact for passed < 2^53 and rate < 10^6. */
export function tokensGrown(passedNs: number, rate: number): number {
  const seconds = Math.floor(passedNs / NS_PER_S)
  const rest = passedNs - seconds * NS_PER_S
  return seconds * rate + Math.floor((rest * rate) / NS_PER_S)
}

/** A setting with derived values; all buckets of a rule share one. */
export class BucketTerms implements BucketSetting {
  readonly rate: number
  readonly depth: number
  readonly realtime: boolean
  /** N, ns. */
  readonly nsPerToken: number

  constructor(setting: BucketSetting) {
    this.rate = setting.rate
    this.depth = setting.depth
    this.realtime = setting.realtime
    this.nsPerToken = nsPerToken(setting.rate)
  }
}

export class TokenBucket<T extends BucketTerms = BucketTerms> {
  #terms: T
  #checkTime: number
  #tokens: number
  #residue = 0

  /** A new bucket is full: a burst of D passes at once. */
  constructor(now: number, terms: T) {
    this.#terms = terms
    this.#checkTime = now
    this.#tokens = terms.depth
  }

  get terms(): T {
    return this.#terms
  }

  /** C: time of the last token count. */
  get checkTime(): number {
    return this.#checkTime
  }

  /** T: whole tokens at the check time. */
  get tokens(): number {
    return this.#tokens
  }

  /** C + N: time at which the next token is due. */
  get due(): number {
    return this.#checkTime + this.#terms.nsPerToken
  }

  /** Takes over new terms and starts full again, as a re-matched or changed class does. */
  reset(now: number, terms: T): void {
    this.#terms = terms
    this.#checkTime = now
    this.#tokens = terms.depth
    this.#residue = 0
  }

  /**
   * Takes one token if there is one.
   *
   * @param now    not before the check time.
   * @param force  draining policy: one token is granted even from an empty bucket.
   * @returns      true if an RPC may go; without a token nothing changes.
   */
  take(now: number, force = false): boolean {
    const terms = this.#terms
    const passed = now - this.#checkTime
    let tokens = tokensGrown(passed, terms.rate) + this.#tokens
    let residue = this.#residue
    if (terms.realtime) {
      residue += passed % terms.nsPerToken
      if (residue > terms.nsPerToken) {
        tokens++
        residue -= terms.nsPerToken
      }
    } else if (tokens > terms.depth) tokens = terms.depth
    if (force && tokens === 0) tokens = 1
    if (tokens <= 0) return false
    this.#tokens = tokens - 1
    this.#checkTime = now
    this.#residue = residue
    return true
  }
}
