import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatClock, formatDate, formatInstant } from './clock-text.ts'

it('an instant is the same as the one that a calendar of the platform has, from year 1 to 9999', () => {
  const instant = fc.integer({ min: Date.UTC(2000, 0) - 63_000_000_000_000, max: Date.UTC(9999, 11, 31) })
  fc.assert(
    fc.property(instant, (ms) => {
      const at = new Date(ms)
      expect(formatInstant(ms)).toBe(at.toISOString().slice(0, 19).replace('T', ' '))
      const [day, , month] = at.toUTCString().split(/,? /)
      expect(formatDate(ms)).toBe(`${day ?? ''} ${at.getUTCDate()} ${at.toUTCString().split(' ')[2] ?? month ?? ''}`)
    }),
  )
  expect(formatClock(Date.UTC(2026, 1, 28, 23, 59, 59, 987), true, 2)).toBe('23:59:59.98')
  expect(formatDate(Date.UTC(2028, 1, 29))).toBe('Tue 29 Feb')
})
