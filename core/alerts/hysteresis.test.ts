import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Judgement, AlertCondition } from './figures.ts'
import { AlertHysteresis } from './hysteresis.ts'

const judged = (condition: AlertCondition, subject = 'a'): Judgement => ({
  subject,
  condition,
  measure: 1,
  where: subject,
  level: 'watch',
  text: () => subject,
})

/** Begins and ends of a sequence of one observation a second. */
function course(conditions: string, forS: number, holdS: number): string[] {
  const of: Record<string, AlertCondition> = { h: 'high', m: 'held', l: 'low', '?': 'unknown' }
  const lasting = new AlertHysteresis(holdS * 1000)
  return [...conditions].flatMap((c, i) => {
    const { began, ended } = lasting.look(i * 1000, [judged(of[c] ?? 'unknown')], forS * 1000)
    return [
      ...began.map((b) => `${i}: began at ${b.fromMs / 1000}`),
      ...ended.map((e) => `${i}: ended at ${e.endMs / 1000}`),
    ]
  })
}

describe('alert hysteresis', () => {
  it('begins after an uninterrupted time above the level, with its start', () => {
    expect(course('llhhhhl', 3, 2)).toEqual(['5: began at 2'])
    expect(course('llhhhlhhh', 3, 2)).toEqual([])
    expect(course('hhhmhhh', 3, 2)).toEqual([])
  })

  it('ends after a time below half, dated back to the fall', () => {
    expect(course('hhhhllll', 3, 2)).toEqual(['3: began at 0', '6: ended at 4'])
    expect(course('hhhhlmllhhlll', 3, 2)).toEqual(['3: began at 0', '12: ended at 10'])
  })

  it('neither begins nor ends in a gap, whose time does not count', () => {
    expect(course('hh????????', 3, 2)).toEqual([])
    expect(course('hhh???hh', 3, 2)).toEqual(['7: began at 0'])
    expect(course('hhhh????????', 3, 2)).toEqual(['3: began at 0'])
    expect(course('hhhhl????l', 3, 2)).toEqual(['3: began at 0'])
    expect(course('hhhhl????lll', 3, 2)).toEqual(['3: began at 0', '11: ended at 4'])
  })

  it('resets a pending subject after a gap of a minute', () => {
    expect(course(`hhh${'?'.repeat(62)}h`, 3, 2)).toEqual([])
  })

  it('treats an absent subject as low, or as unknown', () => {
    for (const [absent, ends] of [
      ['low', 1],
      ['unknown', 0],
    ] as const) {
      const lasting = new AlertHysteresis(1000, absent)
      lasting.look(0, [judged('high')], 0)
      const ended = [1, 2, 3].flatMap((s) => lasting.look(s * 1000, [], 0).ended)
      expect(ended).toHaveLength(ends)
      expect(lasting.on).toHaveLength(1 - ends)
    }
  })

  const looks = fc.array(
    fc.record({
      dt: fc.integer({ min: 1, max: 20_000 }),
      values: fc.array(fc.option(fc.integer({ min: 0, max: 40 }), { nil: NaN, freq: 6 }), {
        minLength: 3,
        maxLength: 3,
      }),
    }),
    { minLength: 1, maxLength: 80 },
  )
  const conditionOf = (v: number, level: number): AlertCondition =>
    Number.isNaN(v) ? 'unknown' : v >= level ? 'high' : v >= level / 2 ? 'held' : 'low'

  it('is active under a stricter threshold only while it is under the laxer one', () => {
    fc.assert(
      fc.property(looks, fc.integer({ min: 2, max: 30 }), fc.integer({ min: 1, max: 10 }), (given, t, more) => {
        const lax = new AlertHysteresis(3_000)
        const strict = new AlertHysteresis(3_000)
        let atMs = 0
        for (const { dt, values } of given) {
          atMs += dt
          const at = (level: number): Judgement[] => values.map((v, i) => judged(conditionOf(v, level), String(i)))
          lax.look(atMs, at(t), 5_000)
          strict.look(atMs, at(t + more), 5_000)
          for (const subject of strict.on) expect(lax.on).toContain(subject)
        }
      }),
    )
  })

  it('alternates begins and ends', () => {
    fc.assert(
      fc.property(looks, (given) => {
        const lasting = new AlertHysteresis(3_000)
        const from = new Map<string, number>()
        let atMs = 0
        for (const { dt, values } of given) {
          atMs += dt
          const changes = lasting.look(
            atMs,
            values.map((v, i) => judged(conditionOf(v, 20), String(i))),
            5_000,
          )
          for (const { judged: j, fromMs } of changes.began) {
            expect(from.has(j.subject)).toBe(false)
            expect(fromMs).toBeLessThanOrEqual(atMs)
            from.set(j.subject, fromMs)
          }
          for (const { subject, endMs } of changes.ended) {
            expect(endMs).toBeGreaterThanOrEqual(from.get(subject) ?? Infinity)
            from.delete(subject)
          }
          expect(new Set(lasting.on)).toEqual(new Set(from.keys()))
        }
      }),
    )
  })
})
