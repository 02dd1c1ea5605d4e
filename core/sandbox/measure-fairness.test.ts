import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxMinShares } from './max-min.ts'
import { FairShares, jainIndex } from './measure-shares.ts'

const wish = fc.oneof(fc.integer({ min: 0, max: 500 }), fc.constant(Infinity))
const claims = fc.array(fc.record({ wish, weight: fc.integer({ min: 1, max: 16 }) }), { minLength: 1, maxLength: 12 })
const capacity = fc.integer({ min: 0, max: 2000 })
const sharesOf = (c: number, list: readonly { wish: number; weight: number }[]): number[] => [
  ...maxMinShares(
    c,
    list.map((x) => x.wish),
    list.map((x) => x.weight),
  ),
]

describe('weighted max-min shares', () => {
  it('give no share above its wish, and use all that can be used', () => {
    fc.assert(
      fc.property(capacity, claims, (c, list) => {
        const shares = sharesOf(c, list)
        shares.forEach((s, i) => expect(s).toBeLessThanOrEqual(list[i]!.wish + 1e-9))
        const wishes = list.reduce((sum, x) => sum + x.wish, 0)
        expect(shares.reduce((sum, s) => sum + s, 0)).toBeCloseTo(Math.min(c, wishes), 6)
      }),
    )
  })

  it('leave no share below another by weight if it could be larger', () => {
    fc.assert(
      fc.property(capacity, claims, (c, list) => {
        const shares = sharesOf(c, list)
        const levels = shares.map((s, i) => s / list[i]!.weight)
        const most = Math.max(...levels)
        // A job below the highest level has all that it wished for: none can get more without reducing one with less by
        // weight.
        levels.forEach((l, i) => {
          if (l < most - 1e-6) expect(shares[i]).toBeCloseTo(list[i]!.wish, 6)
        })
      }),
    )
  })

  it('do not depend on the order', () => {
    fc.assert(
      fc.property(capacity, claims, fc.nat(), (c, list, turn) => {
        const at = turn % list.length
        const turned = [...list.slice(at), ...list.slice(0, at)]
        const a = sharesOf(c, list)
        const b = sharesOf(c, turned)
        list.forEach((_, i) => expect(b[(i - at + list.length) % list.length]).toBeCloseTo(a[i]!, 6))
      }),
    )
  })
})

describe("Jain's index", () => {
  it('is 1 for equals and 1/n for one that has all', () => {
    expect(jainIndex([3, 3, 3])).toBe(1)
    expect(jainIndex([5, 0, 0, 0])).toBe(0.25)
    expect(jainIndex([1])).toBeNaN()
    expect(jainIndex([0, 0])).toBeNaN()
  })

  it('is that of what was served over the fair share', () => {
    const shares = new FairShares([1, 3])
    // 400 RPCs: the fair shares are 100 and 300; the job of one node had 250.
    shares.add([
      { job: 0, served: 250, demand: 500 },
      { job: 1, served: 150, demand: 500 },
    ])
    expect(shares.jain).toBeCloseTo(jainIndex([2.5, 0.5]), 12)
  })

  it('holds nothing against a job that wanted less than its share', () => {
    const shares = new FairShares([4, 1])
    shares.add([
      { job: 0, served: 20, demand: 20 },
      { job: 1, served: 300, demand: 900 },
    ])
    expect(shares.jain).toBeCloseTo(1, 12)
  })
})
