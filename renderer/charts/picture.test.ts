import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clockStep } from './clock-ticks.ts'
import { clockAxis, wholeSums } from './picture.ts'

const value = fc.option(fc.integer({ min: 0, max: 1e6 }), { nil: null })

describe('a stack', () => {
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
  it('is the sum of all series wherever all of them are measured', () => {
    fc.assert(
      fc.property(fc.array(fc.array(value, { minLength: 5, maxLength: 5 }), { maxLength: 9 }), (series) => {
        wholeSums(series).forEach((sum, i) => {
          if (sum !== null) expect(sum).toBe(series.reduce((total, values) => total + (values[i] ?? 0), 0))
        })
      }),
    )
  })
})

describe('the clock axis', () => {
  it('has no more clock ticks than fit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 86_400_000 }), fc.integer({ min: 1, max: 9 }), (span, most) => {
        const step = clockStep({ min: 0, max: span }, most)
        expect(Math.floor(span / step)).toBeLessThanOrEqual(most)
      }),
    )
  })
  it('labels no tick at an edge, where the text would be clipped', () => {
    const ticks = clockAxis({ min: 0, max: 300_000 }, 600)
    expect(ticks.map(({ at }) => at)).toEqual([0, 60_000, 120_000, 180_000, 240_000, 300_000])
    expect(ticks.map(({ text }) => text === '')).toEqual([true, false, false, false, false, true])
  })
})
