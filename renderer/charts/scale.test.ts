import { expect, it } from 'vitest'
import { growingMax, nearest, niceMax, stackedMax, tickStep } from './scale.ts'

it('ends axes at 1, 2 or 5 times a power of ten', () => {
  expect([0, 0.3, 1, 1.1, 2, 42, 100, 101, 7_000].map(niceMax)).toEqual([1, 0.5, 1, 2, 2, 50, 100, 200, 10_000])
  expect([100, 200, 500].map((max) => max / tickStep(max))).toEqual([5, 4, 5])
})

it('only grows', () => {
  const grow = growingMax()
  expect([10, 3, 60, 0].map(grow)).toEqual([10, 10, 100, 100])
  expect(growingMax()(0)).toBe(1)
})

it('sums a stack over gaps and finds the instant under the pointer', () => {
  expect(stackedMax([{ values: [1, null, 3] }, { values: [4, 9, null] }])).toBe(9)
  expect([5, 14, 16, 99].map((at) => nearest([0, 10, 20], at))).toEqual([0, 1, 2, 2])
  expect(nearest([], 1)).toBe(-1)
})
