import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gapSpans, plotOf, spread, thin, ticksWithin } from './plot.ts'

const box = { width: 120, height: 60, margins: { left: 10, right: 10, top: 10, bottom: 10 } }
const plot = plotOf(box, { min: 0, max: 10 }, { min: -2, max: 2 })

describe('the scales', () => {
  it('rise upwards, inside the margins', () => {
    expect([plot.x(0), plot.x(10), plot.y(-2), plot.y(2), plot.y(0)]).toEqual([10, 110, 50, 10, 30])
  })
  it('map an axis without extent to its start', () => {
    expect(plotOf(box, { min: 4, max: 4 }, { min: 0, max: 1 }).x(4)).toBe(10)
  })
})

it('reports gaps before and between values, not after the last one', () => {
  const t = [0, 1, 2, 3, 4, 5, 6]
  expect(gapSpans(t, [1, null, null, 2, 3, null, null])).toEqual([[0, 3]])
  expect(gapSpans(t, [null, null, 5, 5, null, 5, 5])).toEqual([
    [0, 2],
    [3, 5],
  ])
  expect(gapSpans(t, [1, 1, 1, 1, 1, 1, 1])).toEqual([])
})

describe('thinning', () => {
  it('keeps the lowest and the highest value, the order and the gaps', () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.integer({ min: -1000, max: 1000 }), { freq: 5 }), { minLength: 1, maxLength: 600 }),
        fc.integer({ min: 4, max: 60 }),
        (values, most) => {
          const t = values.map((_, i) => i)
          const kept = thin(t, values, most)
          const known = values.filter((v) => v !== null)
          const left = kept.values.filter((v) => v !== null)
          expect(kept.t).toEqual([...kept.t].sort((a, b) => a - b))
          expect(kept.t.every((at, i) => values[at] === kept.values[i])).toBe(true)
          expect([Math.min(...left), Math.max(...left)]).toEqual([Math.min(...known), Math.max(...known)])
          expect(kept.values.includes(null)).toBe(values.includes(null))
          expect(kept.t.length).toBeLessThanOrEqual(Math.max(most, Math.ceil(most / 2) * 3 + 3))
        },
      ),
    )
  })
})

it('ticks are multiples within the ends', () => {
  expect(ticksWithin({ min: -60, max: 340 }, 100)).toEqual([0, 100, 200, 300])
  expect(ticksWithin({ min: 1200, max: 1600 }, 100)).toEqual([1200, 1300, 1400, 1500, 1600])
  expect(ticksWithin({ min: 0, max: 10 }, 0)).toEqual([])
  expect(ticksWithin({ min: 0, max: 1e9 }, 1).length).toBe(50)
})

describe('labels', () => {
  it('keep their distance and stay inside', () => {
    expect(spread([100, 102, 20], 12, { min: 0, max: 200 })).toEqual([100, 112, 20])
    expect(spread([199, 200], 12, { min: 0, max: 200 })).toEqual([188, 200])
  })
  it('never leave the ends nor change their order, however many', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -50, max: 250 }), { minLength: 1, maxLength: 30 }), (wanted) => {
        const places = spread(wanted, 12, { min: 0, max: 200 })
        expect(places.every((p) => p >= -1e-6 && p <= 200 + 1e-6)).toBe(true)
        for (let i = 0; i < wanted.length; i++)
          for (let j = 0; j < wanted.length; j++)
            if ((wanted[i] ?? 0) < (wanted[j] ?? 0)) expect(places[i]).toBeLessThan((places[j] ?? 0) + 1e-6)
      }),
    )
  })
})
