import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LockSeries } from './watch.ts'

const EPOCH_MS = 1_767_225_600_000
/** A sample every 100 ms; `held` is the sample's number. */
function filled(samples: number): LockSeries {
  const series = new LockSeries()
  for (let s = 1; s <= samples; s++) {
    series.add(EPOCH_MS + s * 100, { held: s, grants: 2 * s, cancels: s % 2, waiting: s === 5 ? 9 : 0 })
  }
  return series
}

describe('totals of locks', () => {
  it('are those of the sample, and means over samples', () => {
    const series = filled(20)
    expect(series.value('held', 12)).toBe(12)
    expect(series.mean('grants', 12, 10)).toBe(15)
    expect(series.mean('cancels', 12, 10)).toBe(0.5)
    expect(series.value('held', 0)).toBeNull()
    expect(series.value('held', 21)).toBeNull()
  })

  it('over a window never hold what came after its sample, and at most the points asked for', () => {
    const series = filled(5_000)
    fc.assert(
      fc.property(
        fc.integer({ min: 3_201, max: 5_000 }),
        fc.integer({ min: 10_000, max: 3_600_000 }),
        (at, windowMs) => {
          const { t, held, grants, cancels, waiting } = series.window(at, windowMs, 300)
          expect(new Set([t, held, grants, cancels, waiting].map((x) => x.length)).size).toBe(1)
          expect(t.length).toBeLessThanOrEqual(300)
          expect(t.at(-1)).toBeLessThanOrEqual(EPOCH_MS + at * 100)
          expect(Math.max(...held.map((v) => v ?? 0))).toBeLessThanOrEqual(at)
          expect([...t].sort((a, b) => a - b)).toEqual(t)
        },
      ),
    )
  })

  it('reach back over the samples by seconds, for as long as they continue', () => {
    const { t, held } = filled(5_000).window(5_000, 480_000, 300)
    expect((t.at(-1) ?? NaN) - (t[0] ?? NaN)).toBeGreaterThan(470_000)
    expect(held[0]).toBeLessThan(250)
  })

  it('tell the mean of the window before, and nothing where that is not known in whole', () => {
    const series = filled(400)
    expect(series.meanBefore('held', 400, 10_000)).toBeCloseTo(250.5, 6)
    expect(series.meanBefore('held', 400, 30_000)).toBeNull()
    expect(series.meanBefore('held', 150, 10_000)).toBeNull()
  })

  it('of no sample are empty', () => {
    expect(new LockSeries().window(0, 10_000, 300)).toEqual({ t: [], held: [], grants: [], cancels: [], waiting: [] })
    expect(new LockSeries().meanBefore('held', 0, 10_000)).toBeNull()
  })
})
