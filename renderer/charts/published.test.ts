import { expect, it } from 'vitest'
import { placeOf, valueAt } from './published.ts'

const points = [
  [1, 10],
  [100, 30],
] as const

it('reads a published line between its points as it is drawn, and nothing beyond its ends', () => {
  expect([1, 50.5, 100].map((x) => valueAt(points, x))).toEqual([10, 20, 30])
  expect(valueAt(points, 10, true)).toBeCloseTo(20, 9)
  expect([valueAt(points, 0.5), valueAt(points, 101), valueAt([], 1)]).toEqual([null, null, null])
})

it('places values on a linear and on a logarithmic axis', () => {
  expect([placeOf(1000, false), placeOf(1000, true)]).toEqual([1000, 3])
  expect(placeOf(0, true)).toBeLessThan(-9)
})
