import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Tally, TimeWeighted } from './statistics.ts'

describe('TimeWeighted', () => {
  it('is the mean of the level at every nanosecond', () => {
    const changes = fc.array(fc.tuple(fc.nat(20), fc.integer({ min: 0, max: 9 })), { maxLength: 30 })
    fc.assert(
      fc.property(fc.nat(9), changes, fc.nat(20), (start, list, tail) => {
        const weighted = new TimeWeighted(100, start)
        const levels: number[] = []
        let level = start
        let at = 100
        for (const [passed, next] of list) {
          for (let i = 0; i < passed; i++) levels.push(level)
          at += passed
          weighted.set(at, next)
          level = next
        }
        for (let i = 0; i < tail; i++) levels.push(level)
        const sum = levels.reduce((a, b) => a + b, 0)
        expect(weighted.areaAt(at + tail)).toBe(sum)
        expect(weighted.meanAt(at + tail)).toBeCloseTo(levels.length === 0 ? level : sum / levels.length, 10)
        expect(weighted.level).toBe(level)
        expect(weighted.max).toBe(Math.max(start, ...list.map(([, l]) => l)))
      }),
    )
  })
})

describe('Tally', () => {
  it('knows every quantile to 4.4 percent, the count, the mean and the largest value', () => {
    const values = fc.array(fc.double({ min: 1, max: 1e12, noNaN: true }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(values, fc.double({ min: 0.01, max: 1, noNaN: true }), (list, q) => {
        const tally = new Tally()
        for (const v of list) tally.add(v)
        const sorted = [...list].sort((a, b) => a - b)
        const exact = sorted[Math.min(list.length, Math.max(1, Math.ceil(q * list.length))) - 1]!
        const estimate = tally.quantile(q)
        expect(estimate / exact).toBeGreaterThanOrEqual(1 - 1e-9)
        expect(estimate / exact).toBeLessThanOrEqual(2 ** (1 / 16) + 1e-9)
        expect(tally.count).toBe(list.length)
        expect(tally.max).toBe(sorted.at(-1))
        expect(tally.mean / (list.reduce((a, b) => a + b, 0) / list.length)).toBeCloseTo(1, 9)
      }),
      { numRuns: 300 },
    )
  })

  it('counts values below 1 together and never names more than the largest value', () => {
    const tally = new Tally()
    for (const v of [0, 0.2, 0.4]) tally.add(v)
    expect(tally.quantile(0.5)).toBe(0.4)
    tally.add(100)
    expect(tally.quantile(0.5)).toBe(1)
    expect(tally.quantile(1)).toBe(100)
  })

  it('has no waits before the first', () => {
    const tally = new Tally()
    expect([tally.quantile(0.99), tally.mean, tally.max, tally.count]).toEqual([0, 0, 0, 0])
  })
})
