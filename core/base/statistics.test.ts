import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mean, median, quantile, sum } from './statistics.ts'

describe('figures over a few values', () => {
  it('are NaN for an empty sample, except the sum', () => {
    expect([sum([]), mean([]), median([]), quantile([], 0.9)]).toEqual([0, NaN, NaN, NaN])
  })

  it('are those of a list that is counted by hand', () => {
    expect([sum([4, 1, 3, 2]), mean([4, 1, 3, 2]), median([4, 1, 3, 2]), median([5, 1, 9])]).toEqual([10, 2.5, 2.5, 5])
    expect([quantile([1, 2, 3, 4, 5], 0.25), quantile([10, 20], 0.95)]).toEqual([2, 19.5])
  })

  it('lie between the least and the largest value, in any order', () => {
    const values = fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { minLength: 1 })
    fc.assert(
      fc.property(values, fc.double({ noNaN: true, min: 0, max: 1 }), (list, q) => {
        const sorted = list.toSorted((a, b) => a - b)
        for (const v of [mean(list), median(list), quantile(sorted, q)]) {
          expect(v).toBeGreaterThanOrEqual((sorted[0] as number) - 1e-6)
          expect(v).toBeLessThanOrEqual((sorted.at(-1) as number) + 1e-6)
        }
        expect(median(list.toReversed())).toBe(median(list))
      }),
    )
  })
})
