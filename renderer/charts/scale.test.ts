import { expect, it } from 'vitest'
import { growingMax, largest, nearest, niceMax, stackedMax, tickStep } from './scale.ts'

it('ends axes at round values that leave less than half of a chart empty', () => {
  expect([0, 0.3, 1, 1.1, 2, 2.1, 42, 100, 101, 7_000].map(niceMax)).toEqual([
    1, 0.3, 1, 1.5, 2, 2.5, 50, 100, 150, 8_000,
  ])
  expect([100, 150, 200, 250, 8_000].map((max) => max / tickStep(max))).toEqual([5, 3, 4, 5, 4])
  for (let v = 0.001; v < 1e7; v *= 1.07) {
    expect(niceMax(v)).toBeGreaterThanOrEqual(v * 0.999)
    expect(niceMax(v)).toBeLessThanOrEqual(v * 1.51)
  }
})

it('only grows', () => {
  const grow = growingMax()
  expect([10, 3, 61, 0].map(grow)).toEqual([10, 10, 80, 80])
  expect(growingMax()(0)).toBe(1)
})

it('ignores gaps in the maximum of a scale', () => {
  expect(largest([null, 3, NaN, undefined, Infinity, 2])).toBe(3)
  expect(largest([null, NaN], 7)).toBe(7)
  expect(stackedMax([{ values: [1, NaN, 3] }, { values: [4, 9, null] }])).toBe(9)
})

it('sums a stack over gaps and finds the instant under the pointer', () => {
  expect(stackedMax([{ values: [1, null, 3] }, { values: [4, 9, null] }])).toBe(9)
  expect([5, 14, 16, 99].map((at) => nearest([0, 10, 20], at))).toEqual([0, 1, 2, 2])
  expect(nearest([], 1)).toBe(-1)
})
