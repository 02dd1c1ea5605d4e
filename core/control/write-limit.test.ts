import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '../base/units.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { parseNrsTbfRule } from '../lustre/nrs-tbf-rule.ts'
import type { DesiredRule } from './desired-rule.ts'
import { planRules } from './plan.ts'
import { WriteLimit } from './write-limit.ts'

const nameOf = (i: number): string => `ab_${String(i).padStart(10, '0')}`
const want = (i: number, rate: number): DesiredRule => ({ name: nameOf(i), conditions: `jobid={${i}.x}`, rate })

/** Rules in force, as a server prints them. */
function printed(rates: ReadonlyMap<string, number>): readonly RuleLine[] {
  const lines = [...rates].map(([name, rate]) => `${name} jobid={${Number(name.slice(3))}.x} ${rate}, ref 0`)
  return parseNrsTbfRule(`regular_requests:\nCPT 0:\n${[...lines, 'default * 10000, ref 0'].join('\n')}\n`).rules
}
const ratesOf = (desired: readonly DesiredRule[]): Map<string, number> => new Map(desired.map((r) => [r.name, r.rate]))

describe('the write limit of a server', () => {
  it('makes the largest changes first, and those put off next', () => {
    const limit = new WriteLimit()
    const before = new Map([10, 20, 30, 40].map((rate, i) => [nameOf(i), rate]))
    const desired = [want(0, 9), want(1, 10), want(2, 31), want(3, 50)]
    const first = limit.take('a', printed(before), desired, 2, 0)
    expect(first.rules.map((r) => r.rate)).toEqual([10, 10, 30, 50])
    expect(first.putOff).toBe(2)
    // A larger change that is new waits for those put off.
    const next = limit.take(
      'a',
      printed(ratesOf(first.rules)),
      [want(0, 9), want(1, 5), want(2, 31), want(3, 50)],
      2,
      NS_PER_S,
    )
    expect(next.rules.map((r) => r.rate)).toEqual([9, 10, 31, 50])
    expect(next.putOff).toBe(1)
  })

  it('holds one second of changes, and none without a limit', () => {
    const limit = new WriteLimit()
    const many = Array.from({ length: 30 }, (_, i) => want(i, 5))
    expect(limit.take('a', printed(new Map()), many, 20, 0).rules).toHaveLength(20)
    expect(limit.take('a', printed(new Map()), many, 20, 0).rules).toHaveLength(0)
    expect(limit.take('a', printed(new Map()), many, 20, NS_PER_S / 10).rules).toHaveLength(2)
    expect(limit.take('a', printed(new Map()), many, 20, 100 * NS_PER_S).rules).toHaveLength(20)
    expect(limit.take('b', printed(new Map()), many, 20, 100 * NS_PER_S).rules).toHaveLength(20)
    expect(limit.take('a', printed(new Map()), many, Infinity, 100 * NS_PER_S)).toEqual({ rules: many, putOff: 0 })
  })

  it('never puts off a removal', () => {
    const limit = new WriteLimit()
    const before = new Map(Array.from({ length: 9 }, (_, i) => [nameOf(i), 10]))
    const { rules } = limit.take('a', printed(before), [want(9, 5), want(10, 5)], 1, 0)
    expect(planRules('a', printed(before), rules).commands.filter((c) => c.verb === 'stop')).toHaveLength(9)
  })

  const rates = fc.dictionary(fc.integer({ min: 0, max: 15 }).map(nameOf), fc.integer({ min: 1, max: 999 }))
  const toDesired = (of: Record<string, number>): DesiredRule[] =>
    Object.entries(of).map(([name, rate]) => want(Number(name.slice(3)), rate))

  it('keeps the sum of live rates within those in force and wanted, at every command', () => {
    fc.assert(
      fc.property(rates, rates, fc.integer({ min: 1, max: 12 }), (before, wanted, perSec) => {
        const desired = toDesired(wanted)
        const present = printed(new Map(Object.entries(before)))
        const { rules, putOff } = new WriteLimit().take('a', present, desired, perSec, 0)
        const plan = planRules('a', present, rules)
        const live = new Map(Object.entries(before))
        const sum = (): number => [...live.values()].reduce((a, b) => a + b, 0)
        const most = Math.max(
          sum(),
          desired.reduce((a, r) => a + r.rate, 0),
        )
        for (const c of plan.commands) {
          if (c.verb === 'stop') live.delete(c.rule)
          else live.set(c.rule, plan.expected.get(c.rule)?.rate ?? NaN)
          expect(sum()).toBeLessThanOrEqual(most)
        }
        const made = plan.commands.filter((c) => c.verb !== 'stop').length
        expect(made).toBeLessThanOrEqual(perSec)
        const whole = planRules('a', present, desired).commands.filter((c) => c.verb !== 'stop').length
        expect(made + putOff).toBe(whole)
      }),
    )
  })

  it('reaches what is wanted in as many seconds as the limit needs', () => {
    fc.assert(
      fc.property(rates, rates, fc.integer({ min: 1, max: 6 }), (before, wanted, perSec) => {
        const limit = new WriteLimit()
        const desired = toDesired(wanted)
        let present = new Map(Object.entries(before))
        for (let s = 0; s < 16; s++)
          present = ratesOf(limit.take('a', printed(present), desired, perSec, s * NS_PER_S).rules)
        expect(present).toEqual(ratesOf(desired))
      }),
    )
  })

  it('starves no rule, although others change in every period', () => {
    const limit = new WriteLimit()
    let present = new Map(Array.from({ length: 20 }, (_, i) => [nameOf(i), 100]))
    const written = new Map<string, number>()
    for (let s = 0; s < 60; s++) {
      const desired = Array.from({ length: 20 }, (_, i) => want(i, 50 + ((s + i) % 3) * (i === 7 ? 300 : 40)))
      const { rules } = limit.take('a', printed(present), desired, 4, s * NS_PER_S)
      for (const r of rules) if (present.get(r.name) !== r.rate) written.set(r.name, s)
      present = ratesOf(rules)
    }
    expect(Math.min(...[...present.keys()].map((n) => written.get(n) ?? -1))).toBeGreaterThan(40)
  })
})
