import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JobRate, ruleChanges, withDeadband } from './rule-changes.ts'

const rate = (jobId: string, ratePerSec: number): JobRate => ({ jobId, ratePerSec })

describe('ruleChanges', () => {
  it('stops, lowers, raises, then starts, lowest priority first', () => {
    const inForce = new Map([
      ['gone', 10],
      ['less', 50],
      ['same', 30],
      ['more', 10],
    ])
    const wanted = [rate('first', 5), rate('more', 20), rate('same', 30), rate('less', 40), rate('last', 5)]
    expect(ruleChanges(inForce, wanted)).toEqual({
      stop: ['gone'],
      lower: [rate('less', 40)],
      raise: [rate('more', 20)],
      start: [rate('last', 5), rate('first', 5)],
    })
  })

  it('sends nothing when nothing changed', () => {
    const changes = ruleChanges(new Map([['a', 10]]), [rate('a', 10)])
    expect(Object.values(changes).flat()).toEqual([])
  })

  it.each([
    [{ percent: 10, ratePerSec: 0 }, 109, true],
    [{ percent: 10, ratePerSec: 0 }, 110, true],
    [{ percent: 10, ratePerSec: 0 }, 111, false],
    [{ percent: 10, ratePerSec: 20 }, 120, true],
    [{ percent: 10, ratePerSec: 20 }, 79, false],
    [{ percent: 0, ratePerSec: 0 }, 101, false],
  ])('keeps 100 RPC/s within %o of %d: %s', (deadband, wanted, isKept) => {
    const inForce = new Map([['a', 100]])
    const { lower, raise } = ruleChanges(inForce, [rate('a', wanted)], deadband)
    expect(lower.length + raise.length).toBe(isKept ? 0 : 1)
    expect(withDeadband(inForce, [rate('a', wanted)], deadband)).toEqual([rate('a', isKept ? 100 : wanted)])
  })

  it('never lets the live rates exceed the larger of both sums on the way', () => {
    const rates = fc.uniqueArray(fc.tuple(fc.constantFrom(...'abcdefgh'), fc.integer({ min: 1, max: 500 })), {
      selector: ([id]) => id,
    })
    fc.assert(
      fc.property(rates, rates, (before, after) => {
        const live = new Map(before)
        const total = (): number => [...live.values()].reduce((sum, value) => sum + value, 0)
        const most = Math.max(
          total(),
          after.reduce((sum, [, value]) => sum + value, 0),
        )
        const { stop, lower, raise, start } = ruleChanges(
          live,
          after.map(([id, value]) => rate(id, value)),
        )
        for (const jobId of stop) live.delete(jobId)
        for (const { jobId, ratePerSec } of [...lower, ...raise, ...start]) {
          live.set(jobId, ratePerSec)
          expect(total()).toBeLessThanOrEqual(most)
        }
        expect(Object.fromEntries(live)).toEqual(Object.fromEntries(after))
      }),
    )
  })
})
