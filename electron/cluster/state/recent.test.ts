import { beforeEach, describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { Recent, TOTAL, totalColumn } from './recent.ts'

const START = 1_767_225_600_000
const rpcs = totalColumn('rpcs')

describe('the tiers', () => {
  let recent: Recent

  /** Samples at 10 Hz whose value is their second. */
  const fill = (seconds: number): void => {
    for (let i = 0; i < seconds * 10; i++) {
      recent.push(START + i * 100)
      recent.raw.totals.set(TOTAL, 0, 0, Math.floor(i / 10))
    }
  }
  beforeEach(() => {
    recent = new Recent(NS_PER_S / 10)
  })

  it('a short window is shown from the samples', () => {
    fill(400)
    const { tier, to } = recent.tierFor(recent.raw.totals.newest, 60_000)
    expect(tier).toBe(recent.raw)
    expect(to).toBe(4000)
  })

  it('half an hour is shown from means of a second, and covered', () => {
    fill(2200)
    const at = recent.raw.totals.newest
    const { tier, to } = recent.tierFor(at, 1_800_000)
    expect(tier).toBe(recent.seconds)
    const { from, step } = tier.totals.window(to, 1_800_000, 480)
    const t = tier.totals.times(from, to, step)
    const atMs = recent.raw.totals.atMs(at)
    expect(t.at(-1)).toBeGreaterThan(atMs - 2000)
    expect(t[0]).toBeLessThan(atMs - 1_780_000)
    expect(t.length).toBeLessThanOrEqual(481)
    const values = tier.totals.downsample(TOTAL, rpcs, from, to, step)
    expect(values).not.toContain(null)
    // Every second's mean is the second's value, so every span's mean lies within the span.
    values.forEach((v, i) => expect(Math.abs((v ?? 0) - ((t[i] ?? 0) - START) / 1000)).toBeLessThan(step + 1))
  })

  it('means are of the second they are named after', () => {
    fill(10)
    expect(recent.seconds.totals.newest).toBe(9)
    for (let s = 1; s <= 9; s++) {
      expect(recent.seconds.totals.atMs(s)).toBe(START + (s - 1) * 1000)
      expect(recent.seconds.totals.value(TOTAL, rpcs, s)).toBe(s - 1)
    }
  })

  it('a second without a value stays a gap', () => {
    fill(2)
    for (let i = 20; i < 40; i++) recent.push(START + i * 100)
    expect(recent.seconds.totals.value(TOTAL, rpcs, 3)).toBeNaN()
  })

  it('an hour that is not yet there is shown from all that is', () => {
    fill(100)
    const { tier } = recent.tierFor(1000, 3_600_000)
    expect(tier).toBe(recent.raw)
    expect(tier.totals.window(1000, 3_600_000, 480).from).toBeLessThanOrEqual(1)
  })
})

describe('samples as taken', () => {
  const kept = (periodS: number): number => new Recent(periodS * NS_PER_S).raw.totals.capacity

  it('are those of ten minutes, at least 180 and at most 1,800', () => {
    expect([0.1, 0.2, 1 / 3, 0.7, 1, 2, 5, 60].map(kept)).toEqual([1800, 1800, 1800, 858, 600, 300, 180, 180])
  })

  it('at one a second, a quarter of an hour that ends at any of them is covered from memory', () => {
    const recent = new Recent(NS_PER_S)
    for (let i = 0; i < 4000; i++) {
      recent.push(START + i * 1000)
      recent.raw.totals.set(TOTAL, 0, 0, i)
    }
    const { newest, oldest } = recent.raw.totals
    expect([newest, oldest]).toEqual([4000, 3401])
    for (const at of [oldest, newest]) {
      const { tier, to } = recent.tierFor(at, 900_000)
      expect(tier).toBe(recent.seconds)
      const { from, step } = tier.totals.window(to, 900_000, 480)
      expect(tier.totals.times(from, to, step)[0]).toBeLessThanOrEqual(recent.raw.totals.atMs(at) - 898_000)
      expect(tier.totals.downsample(TOTAL, rpcs, from, to, step)).not.toContain(null)
    }
  })
})

describe('rules of the past', () => {
  it('are those of the newest reading up to a sample', () => {
    const recent = new Recent(NS_PER_S / 10)
    recent.keepRules('oss01', 3, 'a', 'tbf jobid')
    recent.keepRules('oss01', 4, 'a', 'tbf jobid')
    recent.keepRules('oss01', 7, 'b', 'tbf jobid')
    expect([2, 3, 6, 7, 99].map((n) => recent.rulesAt('oss01', n)?.text)).toEqual([undefined, 'a', 'a', 'b', 'b'])
    expect(recent.rulesAt('oss02', 5)).toBeUndefined()
  })

  it('are dropped with their samples, except the one in force at the oldest', () => {
    const recent = new Recent(NS_PER_S, 10_000)
    for (let n = 1; n <= 100; n++) {
      recent.push(START + n * 1000)
      if (n % 4 === 0) recent.keepRules('oss01', n, String(n), '')
    }
    const at = (n: number): string | undefined => recent.rulesAt('oss01', n)?.text
    expect([87, 91, 95, 100].map(at)).toEqual([undefined, '88', '92', '100'])
  })

  it('are forgotten, oldest first, before they fill the memory', () => {
    const recent = new Recent(NS_PER_S / 10)
    const text = (n: number): string => String(n).padEnd(1_000_000, 'x')
    for (let n = 1; n <= 30; n++) recent.keepRules('oss01', n, text(n), '')
    expect(recent.rulesAt('oss01', 30)?.text.slice(0, 2)).toBe('30')
    expect(recent.rulesAt('oss01', 20)?.text.slice(0, 2)).toBe('20')
    expect(recent.rulesAt('oss01', 10)).toBeUndefined()
  })
})
