/**
 * A token bucket in real numbers, for experiments with the paper's TBF rather than with Lustre's integers.
 *
 * The bucket is one instant: `emptyAt`, when it held, holds or will hold 0 tokens. At t it holds (t - emptyAt) * rate of
 * them, at most `depth`; taking one moves the instant by 1 / rate. So fractions are neither lost nor rounded.
 */
import { NS_PER_S } from '../../base/units.ts'

/**
 * What becomes of the tokens in a bucket.
 *
 * - `carried`: they stay over a change of the rate, and fractions count. The papers describe nothing else.
 * - `reset`: a change fills the bucket, at the next RPC of the job; measured on running servers.
 * - `lossy`: as carried, but only whole tokens count: the fraction is lost whenever one is taken (spec/lustre 2.3).
 */
export const BUCKET_MODELS = ['carried', 'reset', 'lossy'] as const
export type BucketModel = (typeof BUCKET_MODELS)[number]

export class RealBucket {
  readonly #depth: number
  readonly #model: BucketModel
  #nsPerToken = Infinity
  #emptyAt = 0
  #isToRefill = false

  /**
   * @param depth  most tokens it gathers.
   */
  constructor(depth: number, model: BucketModel) {
    this.#depth = depth
    this.#model = model
  }

  /** When it holds one token, ns. */
  get dueAt(): number {
    return this.#emptyAt + this.#nsPerToken
  }

  /** Tokens at `now`, not capped; below 0 after `take` without one. */
  tokensAt(now: number): number {
    return (now - this.#emptyAt) / this.#nsPerToken
  }

  /** Full, at a rate > 0 in RPC/s: what a new rule starts with. */
  start(now: number, ratePerSec: number): void {
    this.#nsPerToken = NS_PER_S / ratePerSec
    this.#emptyAt = now - this.#depth * this.#nsPerToken
    this.#isToRefill = false
  }

  /** Another rate > 0, RPC/s, for a bucket that was started. */
  change(now: number, ratePerSec: number): void {
    const tokens = Math.min(this.#depth, this.tokensAt(now))
    this.#nsPerToken = NS_PER_S / ratePerSec
    this.#emptyAt = now - tokens * this.#nsPerToken
    this.#isToRefill = this.#model === 'reset'
  }

  /** An RPC of the job arrives. */
  arrive(now: number): void {
    if (this.#isToRefill || this.tokensAt(now) > this.#depth) this.#emptyAt = now - this.#depth * this.#nsPerToken
    this.#isToRefill = false
  }

  /**
   * Takes a token, whether there is one or not.
   *
   * @param debt  most tokens that are then missing.
   */
  take(now: number, debt = Infinity): void {
    const tokens = Math.min(this.#depth, this.tokensAt(now))
    const counted = this.#model === 'lossy' ? Math.floor(tokens + 1e-9) : tokens
    this.#emptyAt = now - Math.max(-debt, counted - 1) * this.#nsPerToken
  }
}
