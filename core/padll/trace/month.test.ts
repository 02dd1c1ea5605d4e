import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { generateBandwidth, generateMonth, MONTH_MINUTES } from './month.ts'
import { apportioned, MDT_WEIGHTS, OP_MIX } from './op-mix.ts'
import { mean } from '../../base/statistics.ts'
import { jumps, shareOf, rangesAbove } from './series-statistics.ts'
import { generateTrace, TRACE_A } from './trace.ts'

const DAY = 1440

describe.each([2023, 2024, 7, 123_456_789])('the month of seed %d', (seed) => {
  const rates = generateMonth(seed)
  const { read, write } = generateBandwidth(seed, rates)

  it('has the published statistics', () => {
    expect(rates).toHaveLength(MONTH_MINUTES)
    expect(Math.abs(mean(rates) / 202_000 - 1)).toBeLessThan(1e-6)
    expect(Math.max(...rates)).toBe(1_000_000)
    expect(rates.every((rate) => rate > 0)).toBe(true)
    const long = rangesAbove(rates, 400_000).filter((minutes) => minutes >= 180)
    expect(long.length).toBeGreaterThanOrEqual(5)
    expect(Math.max(...long)).toBeGreaterThanOrEqual(DAY)
    const low = shareOf(rates, (rate) => rate <= 50_000)
    expect(low).toBeGreaterThan(0.1)
    expect(low).toBeLessThan(0.2)
    expect(jumps(rates, 50_000, 450_000, 10)).toBeGreaterThan(20)
  })

  it('holds the trace of the evaluation at twice its rate', () => {
    const trace = generateTrace(TRACE_A)
    const embedded = rates.subarray(18_000, 18_000 + trace.length)
    // The largest of them may be the month's maximum.
    expect(embedded.every((rate, i) => rate === Math.min(1_000_000, 2 * trace[i]!) || rate === 1_000_000)).toBe(true)
  })

  it('has the published bandwidth, and too little of it on days 13 to 20', () => {
    expect(mean(read)).toBeCloseTo(48, 9)
    expect(mean(write)).toBeCloseTo(0.6, 9)
    const ratio = rates.map((rate, t) => rate / (read[t]! + write[t]!))
    expect(Math.min(...ratio.subarray(13 * DAY, 20 * DAY))).toBeGreaterThan(120_000)
    expect(mean(ratio.subarray(0, 13 * DAY))).toBeLessThan(20_000)
  })
})

it('is the same month for the same seed', () => {
  expect(generateMonth(5)).toEqual(generateMonth(5))
  expect(generateMonth(6)).not.toEqual(generateMonth(5))
})

it('counts stretches and rises as they are', () => {
  expect(rangesAbove([5, 5, 1, 5, 4, 5], 4)).toEqual([2, 1, 1])
  expect(jumps([1, 9, 9, 1, 5, 9, 1, 5, 5, 9], 1, 9, 2)).toBe(2)
})

describe('parts of a whole number of operations', () => {
  it.each([
    ['operations', Object.values(OP_MIX)],
    ['metadata targets', MDT_WEIGHTS],
  ])('the weights of the %s sum to 1', (_, weights) => {
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12)
  })

  it('are whole, lose none, and each is within one of its share', () => {
    fc.assert(
      fc.property(fc.nat(100_000_000), (operations) => {
        const weights = Object.values(OP_MIX)
        const parts = apportioned(operations, weights)
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(operations)
        for (const [i, part] of parts.entries()) expect(Math.abs(part - operations * weights[i]!)).toBeLessThan(1)
      }),
    )
  })
})
