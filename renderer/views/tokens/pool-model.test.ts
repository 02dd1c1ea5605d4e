import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  describePoolChart,
  describeGauge,
  lowestText,
  phaseText,
  poolEnds,
  poolExtent,
  timeTicks,
  type PoolEnds,
} from './pool-model.ts'
import { allZero, tokensFrame } from '#tests/kits/renderer/views/tokens-host.ts'

const base = tokensFrame()

describe('the scale of the pool', () => {
  it('holds the start, the dip and the line without conversion', () => {
    expect(poolExtent(base)).toMatchObject({ debt: 12_600 })
    const ends = poolEnds(null, poolExtent(base))
    expect(ends.max).toBeGreaterThanOrEqual(314_000)
    expect(ends.min).toBeLessThan(-12_600)
    expect(ends.step).toBe(100_000)
  })
  it('keeps its zero line from sample to sample while everything fits', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 200_000, max: 310_000 }), { maxLength: 20 }), (highs) => {
        const first = poolEnds(null, { high: 314_000, debt: 9000 })
        const last = highs.reduce<PoolEnds>((ends, high) => poolEnds(ends, { high, debt: high % 12_000 }), first)
        expect(last).toEqual(first)
      }),
    )
  })
  it('cuts unbounded debt at half, so that free tokens stay visible', () => {
    const ends = poolEnds(null, { high: 314_000, debt: 3_000_000 })
    expect(ends.min).toBe(-0.5 * ends.max)
  })
  it('changes when it would be half empty', () => {
    const first = poolEnds(null, { high: 314_000, debt: 0 })
    expect(poolEnds(first, { high: 20_000, debt: 0 }).max).toBeLessThan(30_000)
    expect(poolEnds(first, { high: 400_000, debt: 0 }).max).toBeGreaterThan(400_000)
  })
  it('of an empty pool is one batch', () => {
    expect(poolExtent(allZero())).toEqual({ high: 1000, debt: 0 })
  })
})

describe('texts', () => {
  it('show time and empty fetches of the lowest mark, and are empty without debt', () => {
    expect(lowestText(base)).toBe('lowest \u221212.6 k at 0.929 s, 13 empty fetches')
    expect(lowestText({ ...base, pool: { ...base.pool, lowest: 40 } })).toBe('')
    expect(lowestText({ ...base, pool: { ...base.pool, lowest: -1, emptyFetches: 1, lowestAtMs: null } })).toBe(
      'lowest \u22121, 1 empty fetch',
    )
  })
  it('describe gauge and chart', () => {
    expect(describeGauge(base)).toContain('8\u202F400 tokens, 314\u202F000 at the start')
    expect(describeGauge({ ...base, pool: { ...base.pool, now: -5 } })).toContain('no client has to return')
    expect(describeGauge({ ...base, pool: { ...base.pool, now: null } })).toContain('No pool')
    expect(describePoolChart(base)).toContain('Pool over period 417')
    expect(describePoolChart({ ...base, series: { ...base.series, pool: [null] } })).toContain('no data')
  })
  it('describe the phases of the variant', () => {
    expect(phaseText('report', base)).toContain('convert')
    expect(phaseText('report', { ...base, variant: 'basic' })).toContain('nothing is converted')
  })
  it('label quarters of the period', () => {
    expect(timeTicks(1000).map((t) => t.text)).toEqual(['0 s', '0.25', '0.5', '0.75', '1 s'])
    expect(timeTicks(60_000).map((t) => t.text)).toEqual(['0 s', '15', '30', '45', '60 s'])
    expect(timeTicks(10).map((t) => t.text)).toEqual(['0 ms', '2.5', '5', '7.5', '10 ms'])
  })
})
