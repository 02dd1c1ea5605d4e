import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clockStep } from './clock-ticks.ts'
import { boxOf, stacked, timePlot, wholeSums } from './time-draw.ts'

const value = fc.option(fc.integer({ min: 0, max: 1e6 }), { nil: null })

describe('a stack', () => {
  it('stacks each series on the sum of those below; a gap adds nothing', () => {
    const { under, top } = stacked([
      [1, null, 3],
      [10, 20, null],
    ])
    expect(under.map((u) => [...u])).toEqual([
      [0, 0, 0],
      [1, 0, 3],
    ])
    expect([...top]).toEqual([11, 20, 3])
  })
  it('has an unknown sum if a part is missing, but not before a job starts or after it ends', () => {
    const top = [5, 5, 5, 5, 5]
    expect(wholeSums([top, [null, 1, null, 1, null]])).toEqual([5, 6, null, 6, 5])
    expect(
      wholeSums([
        [null, 2],
        [null, 3],
      ]),
    ).toEqual([null, 5])
    expect(wholeSums([[1, NaN, 2]])).toEqual([1, null, 2])
  })
  it('ends at the sum of all of them at every instant', () => {
    fc.assert(
      fc.property(fc.array(fc.array(value, { minLength: 5, maxLength: 5 }), { maxLength: 9 }), (series) => {
        const { top } = stacked(series)
        top.forEach((sum, i) => expect(sum).toBe(series.reduce((s, values) => s + (values[i] ?? 0), 0)))
        expect(top.length).toBe(series.length === 0 ? 0 : 5)
      }),
    )
  })
})

describe('the plot', () => {
  it('runs from the first instant to the last between its margins', () => {
    const picture = { from: 1000, to: 5000, ends: { min: 0, max: 10, step: 5 }, margins: { left: 40, right: 10 } }
    const plot = timePlot(picture, boxOf(picture, 200, 100))
    expect([plot.x(1000), plot.x(5000)]).toEqual([40, 190])
    expect([plot.y(10), plot.y(0)]).toEqual([8, 80])
  })
  it('has no more clock ticks than fit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 86_400_000 }), fc.integer({ min: 1, max: 9 }), (span, most) => {
        const step = clockStep({ min: 0, max: span }, most)
        expect(Math.floor(span / step)).toBeLessThanOrEqual(most)
      }),
    )
  })
})
