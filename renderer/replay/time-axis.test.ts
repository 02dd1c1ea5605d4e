import { expect, it } from 'vitest'
import { timeAxis } from './time-axis.ts'

const from = Date.UTC(2026, 10, 19, 14, 27)
const texts = (spanMs: number, plotPx: number): string[] =>
  timeAxis({ min: from, max: from + spanMs }, plotPx).flatMap(({ text }) => (text === '' ? [] : [text]))

it('the clock within a day, dates beyond, and no more of them than fit', () => {
  expect(texts(120_000, 900)).toEqual(['14:27:30', '14:28:00', '14:28:30'])
  expect(texts(6 * 3_600_000, 900)).toEqual(['15:00', '16:00', '17:00', '18:00', '19:00', '20:00'])
  expect(texts(4 * 86_400_000, 900)).toEqual(['Fri 20 Nov', 'Sat 21 Nov', 'Sun 22 Nov', 'Mon 23 Nov'])
  for (const days of [9, 30, 365]) {
    const dates = texts(days * 86_400_000, 900)
    expect(dates.length).toBeGreaterThan(2)
    expect(dates.length).toBeLessThanOrEqual(8)
  }
  expect(texts(30 * 86_400_000, 150).length).toBeLessThanOrEqual(3)
})
