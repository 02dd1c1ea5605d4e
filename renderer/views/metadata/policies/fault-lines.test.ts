import { expect, it } from 'vitest'
import { carryLines, faultRanges, placeIndex } from './fault-lines.ts'

const fault = (line: number, column: number, length = 1) => ({
  line,
  column,
  length,
  severity: 'error' as const,
  message: 'x',
})

it('carries faults of untouched lines along and drops those of the edited one', () => {
  const faults = [fault(1, 1), fault(2, 3), fault(4, 2)]
  expect(carryLines(faults, 'a\nb\nc\nd', 'a\nB\nc\nd')).toEqual([fault(1, 1), fault(4, 2)])
  expect(carryLines(faults, 'a\nb\nc\nd', 'a\nb\nnew\nc\nd')).toEqual([fault(1, 1), fault(2, 3), fault(5, 2)])
  expect(carryLines(faults, 'a\nb\nc\nd', '')).toEqual([])
})

it('places each fault in the text, within its line', () => {
  const text = 'ab\ncdef\n\ng'
  const places = (list: readonly [line: number, column: number, length: number][]) =>
    faultRanges(
      text,
      list.map(([line, column, length]) => fault(line, column, length)),
    ).map(({ from, length }) => [from, text.slice(from, from + length)])
  expect(
    places([
      [1, 2, 1],
      [2, 2, 2],
      [2, 3, 99],
      [2, 1, 0],
    ]),
  ).toEqual([
    [1, 'b'],
    [4, 'de'],
    [5, 'ef'],
    [3, 'c'],
  ])
  expect(
    places([
      [2, 99, 1],
      [3, 1, 1],
      [4, 1, 1],
      [9, 1, 1],
    ]),
  ).toEqual([
    [7, ''],
    [8, ''],
    [9, 'g'],
    [10, ''],
  ])
})

it('finds a place in the text, and its end where the line is shorter', () => {
  expect([placeIndex('ab\ncd\n', 2, 2), placeIndex('ab\ncd\n', 1, 9), placeIndex('ab', 5, 1)]).toEqual([4, 2, 2])
})
