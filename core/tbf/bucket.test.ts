import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BucketTerms, nsPerToken, TokenBucket, tokensGrown, type BucketSetting } from './bucket.ts'

/** Independent implementation of the dequeue arithmetic of spec/lustre, in unbounded integers. */
class Oracle {
  n: bigint
  c: bigint
  t: bigint
  z = 0n
  readonly #s: BucketSetting

  constructor(now: number, s: BucketSetting) {
    this.#s = s
    this.n = 1_000_000_000n / BigInt(s.rate)
    this.c = BigInt(now)
    this.t = BigInt(s.depth)
  }

  take(at: number, force: boolean): boolean {
    const now = BigInt(at)
    const passed = now - this.c
    let t = (passed * BigInt(this.#s.rate)) / 1_000_000_000n + this.t
    let z = this.z
    if (this.#s.realtime) {
      z += passed % this.n
      if (z > this.n) {
        t++
        z -= this.n
      }
    } else if (t > BigInt(this.#s.depth)) t = BigInt(this.#s.depth)
    if (force && t === 0n) t = 1n
    if (t <= 0n) return false
    this.t = t - 1n
    this.c = now
    this.z = z
    return true
  }
}

const rate = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 999_999 }))

describe('TokenBucket', () => {
  it('grants exactly as unbounded integer arithmetic does', () => {
    const waits = fc.oneof(fc.nat(2000), fc.nat(2e9), fc.nat(1e14), fc.constant(0))
    fc.assert(
      fc.property(
        fc.record({ rate, depth: fc.integer({ min: 1, max: 20 }), realtime: fc.boolean() }),
        fc.nat(1e12),
        fc.array(fc.tuple(waits, fc.boolean()), { maxLength: 60 }),
        (setting, start, steps) => {
          const bucket = new TokenBucket(start, new BucketTerms(setting))
          const oracle = new Oracle(start, setting)
          let now = start
          for (const [wait, force] of steps) {
            now += wait
            expect(bucket.take(now, force)).toBe(oracle.take(now, force))
            expect([BigInt(bucket.tokens), BigInt(bucket.checkTime)]).toEqual([oracle.t, oracle.c])
            expect(bucket.due).toBe(Number(oracle.c + oracle.n))
          }
        },
      ),
      { numRuns: 400 },
    )
  })

  it('grows whole tokens without rounding, up to 104 days', () => {
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), rate, (passed, r) => {
        const exact = (BigInt(passed) * BigInt(r)) / 1_000_000_000n
        if (exact <= BigInt(Number.MAX_SAFE_INTEGER)) expect(BigInt(tokensGrown(passed, r))).toBe(exact)
      }),
      { numRuns: 1000 },
    )
  })

  it('passes bursts of exactly its depth when new, after idling and after a reset', () => {
    for (const depth of [1, 3, 20]) {
      const setting = new BucketTerms({ rate: 10, depth, realtime: false })
      const burst = (bucket: TokenBucket, now: number): number => {
        let n = 0
        while (bucket.take(now)) n++
        return n
      }
      const bucket = new TokenBucket(0, setting)
      expect(burst(bucket, 0)).toBe(depth)
      expect(burst(bucket, 99_999_999)).toBe(0)
      expect(burst(bucket, 3600e9)).toBe(depth)
      bucket.reset(3600e9, setting)
      expect(burst(bucket, 3600e9)).toBe(depth)
    }
  })

  it('under realtime pays idle time back in full', () => {
    const bucket = new TokenBucket(0, new BucketTerms({ rate: 20, depth: 3, realtime: true }))
    let n = 0
    while (bucket.take(5e9)) n++
    expect(n).toBe(103)
  })

  it('has one token a ns at most for any rate that a rule may have', () => {
    expect([nsPerToken(1), nsPerToken(3), nsPerToken(999_999)]).toEqual([1_000_000_000, 333_333_333, 1000])
  })
})
