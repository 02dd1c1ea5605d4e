import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DAY_MS, defaultZoom, HOUR_MS, lengthText, MINUTE_MS, panned, rangeText, zoomed } from './span-format.ts'
import { at, TODAY } from '#tests/kits/renderer/views/history-host.ts'

const day = { fromMs: TODAY, toMs: TODAY + DAY_MS }

describe('texts of spans', () => {
  it('include the day if it is not the one shown, and seconds if they are not 0', () => {
    expect(rangeText({ fromMs: at(2, 30), toMs: at(2, 50) }, TODAY)).toBe('02:30\u201302:50')
    expect(rangeText({ fromMs: at(2, 30) - DAY_MS, toMs: at(2, 50) - DAY_MS }, TODAY)).toBe('Wed 18 02:30\u201302:50')
    expect(rangeText({ fromMs: at(2, 30) + 5000, toMs: at(2, 50) }, TODAY)).toBe('02:30:05\u201302:50:00')
    expect(rangeText({ fromMs: at(23), toMs: at(24) }, TODAY)).toBe('23:00\u201324:00')
    expect(rangeText({ fromMs: at(23), toMs: at(25) }, TODAY)).toBe('23:00\u2013Fri 20 01:00')
  })
  it('format retentions', () => {
    expect([HOUR_MS, DAY_MS, 30 * DAY_MS, 730 * DAY_MS, 10 * MINUTE_MS].map(lengthText)).toEqual([
      '1 h',
      '1 d',
      '30 d',
      '2 years',
      '10 min',
    ])
    expect(lengthText(6 * DAY_MS + 9 * HOUR_MS)).toBe('6 d 9 h')
  })
})

describe('the zoom of a day', () => {
  it('does not lose a young store in a whole day, and does not move while it grows', () => {
    const from = at(9, 3) + 12_345
    const young = defaultZoom(day, { fromMs: from, toMs: from + 90_000 })
    expect(young).toEqual({ fromMs: at(9, 3) + 10_000, toMs: at(9, 5) + 10_000 })
    expect(defaultZoom(day, { fromMs: from, toMs: from + 110_000 })).toEqual(young)
    expect(defaultZoom(day, { fromMs: from - 3 * DAY_MS, toMs: from })).toEqual(day)
    expect(defaultZoom(day, null)).toEqual(day)
  })
  it('stays within the day however it is moved and zoomed', () => {
    const part = fc.tuple(fc.integer({ min: 0, max: 86_000 }), fc.integer({ min: 60, max: 86_400 })).map(([s, l]) => {
      const fromMs = Math.min(TODAY + s * 1000, day.toMs - l * 1000)
      return { fromMs: Math.max(TODAY, fromMs), toMs: Math.max(TODAY, fromMs) + l * 1000 }
    })
    fc.assert(
      fc.property(
        part,
        fc.double({ min: -3, max: 3, noNaN: true }),
        fc.double({ min: 0.1, max: 10, noNaN: true }),
        (p, share, factor) => {
          const moved = panned(day, p, share)
          expect(moved.toMs - moved.fromMs).toBe(p.toMs - p.fromMs)
          for (const s of [moved, zoomed(day, p, factor) ?? day]) {
            expect(s.fromMs).toBeGreaterThanOrEqual(day.fromMs)
            expect(s.toMs).toBeLessThanOrEqual(day.toMs)
            expect(s.toMs).toBeGreaterThan(s.fromMs)
          }
        },
      ),
    )
  })
})
