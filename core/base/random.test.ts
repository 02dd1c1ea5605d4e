import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomStream } from './random.ts'

const draw = (seed: number, name: string, n: number): number[] => {
  const stream = randomStream(seed, name)
  return Array.from({ length: n }, () => stream.uniform())
}

/** Pearson's r of two samples of equal length. */
function correlation(x: readonly number[], y: readonly number[]): number {
  const mean = (v: readonly number[]): number => v.reduce((a, b) => a + b, 0) / v.length
  const mx = mean(x)
  const my = mean(y)
  const cov = mean(x.map((v, i) => (v - mx) * (y[i]! - my)))
  const variance = (v: readonly number[], m: number): number => mean(v.map((w) => (w - m) ** 2))
  return cov / Math.sqrt(variance(x, mx) * variance(y, my))
}

describe('randomStream', () => {
  it('repeats itself for the same seed and name, however many others draw in between', () => {
    fc.assert(
      fc.property(fc.nat(), fc.string(), (seed, name) => {
        const interrupted = randomStream(seed, name)
        const values = Array.from({ length: 20 }, () => {
          randomStream(seed, `${name}/other`).uniform()
          return interrupted.uniform()
        })
        expect(values).toEqual(draw(seed, name, 20))
      }),
    )
  })

  it('gives another stream for another seed and for another name, also where their texts run together', () => {
    expect(draw(1, 'a', 8)).not.toEqual(draw(2, 'a', 8))
    expect(draw(1, 'a', 8)).not.toEqual(draw(1, 'b', 8))
    expect(draw(1, '1a', 8)).not.toEqual(draw(11, 'a', 8))
  })

  it('has uncorrelated streams under neighboring names and seeds', () => {
    const n = 20_000
    // 4.5 standard errors of r under independence; the seeds are fixed.
    const bound = 4.5 / Math.sqrt(n)
    const streams = [1, 2].flatMap((seed) =>
      ['job/a/process/0', 'job/a/process/1', 'job/b'].map((m) => draw(seed, m, n)),
    )
    streams.forEach((x, i) =>
      streams.slice(i + 1).forEach((y) => expect(Math.abs(correlation(x, y))).toBeLessThan(bound)),
    )
    expect(Math.abs(correlation(streams[0]!.slice(1), streams[0]!.slice(0, -1)))).toBeLessThan(bound)
  })

  it('is uniform: chi-square of 100 bins', () => {
    const bins = new Array<number>(100).fill(0)
    const values = draw(7, 'uniform', 100_000)
    expect(values.every((u) => u >= 0 && u < 1)).toBe(true)
    for (const u of values) bins[Math.floor(u * 100)]!++
    const chi2 = bins.reduce((sum, b) => sum + (b - 1000) ** 2 / 1000, 0)
    // 99 degrees of freedom: 0.01 % and 99.99 % points.
    expect(chi2).toBeGreaterThan(54)
    expect(chi2).toBeLessThan(161)
  })

  it('draws whole numbers below n, all of them', () => {
    const stream = randomStream(3, 'below')
    const seen = new Set(Array.from({ length: 500 }, () => stream.below(7)))
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(Array.from({ length: 50 }, () => stream.below(1)).every((v) => v === 0)).toBe(true)
  })

  it('draws exponential waits of the given mean', () => {
    const stream = randomStream(5, 'arrivals')
    const waits = Array.from({ length: 100_000 }, () => stream.exponential(250))
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0)
    // 4 standard errors: the deviation of an exponential is its mean.
    expect(Math.abs(waits.reduce((a, b) => a + b, 0) / waits.length - 250)).toBeLessThan((4 * 250) / Math.sqrt(100_000))
    const longer = waits.filter((w) => w > 500).length / waits.length
    expect(Math.abs(longer - Math.exp(-2))).toBeLessThan(0.005)
  })
})
