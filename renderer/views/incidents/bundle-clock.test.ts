import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatInstant, parseInstant, partAt, unitAt } from './bundle-clock.ts'

const DAY = Date.UTC(2026, 10, 19)
const NEAR = DAY + 14 * 3_600_000

describe('a typed time', () => {
  it('is on the day shown, unless it has a date', () => {
    expect(parseInstant('14:27:00', NEAR)).toBe(DAY + (14 * 60 + 27) * 60_000)
    expect(parseInstant(' 4:07 ', NEAR)).toBe(DAY + (4 * 60 + 7) * 60_000)
    expect(parseInstant('2026-11-20 00:01:02', NEAR)).toBe(DAY + 86_400_000 + 62_000)
    expect(parseInstant('2024-02-29 00:00', NEAR)).toBe(Date.UTC(2024, 1, 29))
  })

  it('is refused if invalid', () => {
    for (const text of ['', '14', '24:00:00', '14:60', '14:27:60', '2026-02-31 10:00', '2026-13-01 10:00', '14:27:0x'])
      expect(parseInstant(text, NEAR), text).toBeNull()
  })

  it('round-trips, on the same day and another', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e9 }), fc.integer({ min: 0, max: 4e9 }), (s, near) => {
        expect(parseInstant(formatInstant(s * 1000, near * 1000), near * 1000)).toBe(s * 1000)
      }),
    )
  })

  it('is moved by the part at the caret', () => {
    expect([0, 2, 3, 5, 6, 8].map((caret) => unitAt('14:27:00', caret))).toEqual([
      3_600_000, 3_600_000, 60_000, 60_000, 1000, 1000,
    ])
    expect(partAt('14:27:00', 4)).toEqual({ from: 3, to: 5 })
    expect(partAt('2026-11-20 00:01:02', 12)).toEqual({ from: 11, to: 13 })
    expect(partAt('14:27:00', 8)).toEqual({ from: 6, to: 8 })
  })
})
