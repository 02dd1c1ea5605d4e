import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '../../base/units.ts'
import { type BucketModel, RealBucket } from './real-bucket.ts'

const bucket = (model: BucketModel, ratePerSec: number, depth = 3): RealBucket => {
  const made = new RealBucket(depth, model)
  made.start(0, ratePerSec)
  return made
}

describe('RealBucket', () => {
  it('starts full, and is due again one token later', () => {
    const b = bucket('carried', 10)
    for (let i = 0; i < 3; i++) b.take(0)
    expect(b.dueAt).toBe(NS_PER_S / 10)
    expect(b.tokensAt(NS_PER_S / 4)).toBeCloseTo(2.5, 12)
  })

  it('carries tokens over a change of the rate', () => {
    const b = bucket('carried', 10)
    for (let i = 0; i < 3; i++) b.take(0)
    b.change(NS_PER_S / 20, 100)
    expect(b.dueAt).toBeCloseTo(NS_PER_S / 20 + NS_PER_S / 200, 3)
  })

  it('is filled by a change under reset, at the next RPC', () => {
    const b = bucket('reset', 10)
    for (let i = 0; i < 3; i++) b.take(0)
    b.change(1000, 10)
    expect(b.tokensAt(1000)).toBeLessThan(1)
    b.arrive(2000)
    expect(b.tokensAt(2000)).toBeCloseTo(3, 9)
  })

  it('serves a rate that does not divide a second to the last token, unless it is lossy', () => {
    const serve = (model: BucketModel): number => {
      const b = bucket(model, 7)
      let served = 0
      // A server that polls every 40 ms and takes what is due.
      for (let now = 0; now <= 10 * NS_PER_S; now += 4e7) {
        if (b.dueAt > now) continue
        b.take(now)
        served++
      }
      return served
    }
    // 3 initial tokens and 7 a second; the last one may be due shortly after the end.
    expect(serve('carried')).toBeGreaterThanOrEqual(72)
    expect(serve('lossy')).toBeLessThan(72)
  })

  it('never gathers more than its depth while no RPC waits', () => {
    const b = bucket('carried', 1000)
    b.arrive(NS_PER_S)
    expect(b.tokensAt(NS_PER_S)).toBeCloseTo(3, 9)
  })

  it('owes no more than the debt it is taken for', () => {
    const b = bucket('carried', 10)
    for (let i = 0; i < 20; i++) b.take(0, 3)
    expect(b.tokensAt(0)).toBeCloseTo(-3, 9)
  })
})
