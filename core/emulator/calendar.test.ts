import fc from 'fast-check'
import { expect, it } from 'vitest'
import { utc } from './calendar.ts'

it('is the calendar of every other clock', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 32_503_680_000 }), (seconds) => {
      const real = new Date(seconds * 1000)
      const [weekday, , monthName] = real.toUTCString().replace(',', '').split(' ')
      expect(utc(seconds)).toEqual({
        weekday,
        monthName,
        day: real.getUTCDate(),
        date: real.toISOString().slice(0, 10),
        time: real.toISOString().slice(11, 19),
      })
    }),
    { numRuns: 2000 },
  )
})
