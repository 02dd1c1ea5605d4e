import fc from 'fast-check'
import { expect, test } from 'vitest'
import { equalPart, splitRate, roundRates } from './split.ts'

test('whole rates stay as they are, also the largest', () => {
  for (const rates of [[1e9], [1e12], [3e11, 7e11], [1, 1e12, 2]]) expect(roundRates(rates)).toEqual(rates)
})

test('parts that add up to a whole rate lose nothing of it', () => {
  for (const total of [10, 1000, 1e9, 1e12]) {
    const parts = Array.from({ length: 7 }, () => total / 7)
    expect(roundRates(parts).reduce((a, b) => a + b, 0)).toBe(total)
  }
})

const sumOf = (parts: readonly number[]): number => parts.reduce((a, b) => a + b, 0)

test('jobs get whole rates, nothing lost, none moved by more than 1 op/s', () => {
  const rate = fc.oneof(fc.integer({ min: 0, max: 1e6 }), fc.double({ min: 0, max: 1e6, noNaN: true }))
  fc.assert(
    fc.property(fc.array(rate, { maxLength: 50 }), (rates) => {
      const rounded = roundRates(rates)
      expect(Math.abs(sumOf(rounded) - sumOf(rates))).toBeLessThan(1 + 1e-6)
      for (const [i, one] of rates.entries()) expect(Math.abs(rounded[i]! - one)).toBeLessThan(1.06)
    }),
  )
  expect(roundRates([110_000 / 3, 110_000 / 3, 110_000 / 3])).toEqual([36_666, 36_667, 36_667])
})

test('equal: floor, with the remainder on the first ones', () => {
  expect(splitRate(10, [1, 1, 1])).toEqual([4, 3, 3])
  expect(splitRate(2, [1, 1, 1])).toEqual([1, 1, 1])
  expect([0, 1, 2].map((i) => equalPart(11, 3, i))).toEqual([4, 4, 3])
})

test('by usage: in proportion to max(1, usage)', () => {
  expect(splitRate(1000, [1, 1], [900, 100])).toEqual([900, 100])
  expect(splitRate(1000, [1, 1, 1], [0, 0, 998])).toEqual([1, 1, 998])
  expect(splitRate(100, [5, 1], [0, 1e6])).toEqual([5, 95])
})

test('a job’s rates sum to exactly what it was given, none below its floor', () => {
  const stage = fc.record({
    floor: fc.integer({ min: 1, max: 4 }),
    usage: fc.double({ min: 0, max: 1e6, noNaN: true }),
  })
  fc.assert(
    fc.property(
      fc.nat(1e7),
      fc.array(stage, { minLength: 1, maxLength: 40 }),
      fc.boolean(),
      (total, stages, isEqual) => {
        const floors = stages.map((s) => s.floor)
        const parts = splitRate(total, floors, isEqual ? undefined : stages.map((s) => s.usage))
        expect(sumOf(parts)).toBe(Math.max(total, sumOf(floors)))
        for (const [i, part] of parts.entries()) {
          expect(Number.isInteger(part)).toBe(true)
          expect(part).toBeGreaterThanOrEqual(floors[i]!)
        }
      },
    ),
  )
})

test('over channels: all parts move one way when the rate does', () => {
  fc.assert(
    fc.property(fc.nat(1e6), fc.nat(1e6), fc.integer({ min: 1, max: 20 }), (a, b, n) => {
      const low = Math.min(a, b)
      const high = Math.max(a, b)
      for (let i = 0; i < n; i++) expect(equalPart(low, n, i)).toBeLessThanOrEqual(equalPart(high, n, i))
    }),
  )
})
