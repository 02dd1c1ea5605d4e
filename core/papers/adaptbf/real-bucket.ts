/**
 * Token bucket in real numbers, for experiments with the paper's TBF rather than with Lustre's integers.
 *
 * The bucket is one time: `emptyAt`, when it held, holds or will hold 0 tokens. At t it holds (t - emptyAt) * rate of
 * them, at most `depth`; taking one advances the time by 1 / rate. So fractions are neither lost nor rounded.
 */
import { NS_PER_S } from '../../base/units.ts'

/**
 * Handling of the tokens in a bucket.
 *
 * - `carried`: kept over a change of the rate, and fractions count. The only model in the papers.
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

  /** @param depth  maximum number of tokens. */
  constructor(depth: number, model: BucketModel) {
    this.#depth = depth
    this.#model = model
  }

  /** Time at which it holds one token, ns. */
  get dueAt(): number {
    return this.#emptyAt + this.#nsPerToken
  }

  /** Tokens at `now`, not capped; below 0 after `take` without a token. */
  tokensAt(now: number): number {
    return (now - this.#emptyAt) / this.#nsPerToken
  }

  /** Starts full, at a rate > 0 in RPC/s, as for a new rule. */
  start(now: number, ratePerSec: number): void {
    this.#nsPerToken = NS_PER_S / ratePerSec
    this.#emptyAt = now - this.#depth * this.#nsPerToken
    this.#isToRefill = false
  }

  /** Changes the rate, > 0, RPC/s, of a started bucket. */
  change(now: number, ratePerSec: number): void {
    const tokens = Math.min(this.#depth, this.tokensAt(now))
    this.#nsPerToken = NS_PER_S / ratePerSec
    this.#emptyAt = now - tokens * this.#nsPerToken
    this.#isToRefill = this.#model === 'reset'
  }

  /** Handles the arrival of an RPC of the job. */
  arrive(now: number): void {
    if (this.#isToRefill || this.tokensAt(now) > this.#depth) this.#emptyAt = now - this.#depth * this.#nsPerToken
    this.#isToRefill = false
  }

  /**
   * Takes a token, even a missing one.
   *
   * @param debt  largest number of missing tokens.
   */
  take(now: number, debt = Infinity): void {
    const tokens = Math.min(this.#depth, this.tokensAt(now))
    const counted = this.#model === 'lossy' ? Math.floor(tokens + 1e-9) : tokens
    this.#emptyAt = now - Math.max(-debt, counted - 1) * this.#nsPerToken
  }
}
