import { expect, it } from 'vitest'
import { rangeText } from './incident-format.ts'

const at = (h: number, m: number): number => Date.UTC(2026, 0, 1, h, m)

it('names the end of a range that is still in the future', () => {
  const range = [at(14, 0), at(14, 10)] as const
  expect(rangeText(...range)).toBe('14:00\u201314:10')
  expect(rangeText(...range, at(14, 5))).toBe('14:00\u2013now, grows until 14:10')
  expect(rangeText(...range, at(14, 10))).toBe('14:00\u201314:10')
  expect(rangeText(...range, at(13, 50))).toBe('14:00\u201314:10')
})
