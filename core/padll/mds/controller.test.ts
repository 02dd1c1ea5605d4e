import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '../../base/units.ts'
import { MODEL_FENCES } from '../../control/fences.ts'
import { profile } from '../../lustre/profile.ts'
import type { Algorithm } from '../algorithms/algorithm.ts'
import type { Scope } from '../vocabulary.ts'
import { IDLE_NS, MetadataController } from './controller.ts'
import type { PolicyInForce } from './shares.ts'
import type { MdsServer } from './spots.ts'

const DEFAULT = { queue: 'reg', cpt: 0, name: 'default', conditions: '*', rate: 10_000, ref: 0 } as const
/** One server under tbf jobid, and the opens of each job in a second. */
const server = (opens: Record<string, number> | undefined, host = 'mds01'): MdsServer => {
  const reading = { tbf: { reg: 'jobid', hp: 'jobid' }, rules: [DEFAULT] }
  const jobs = opens && new Map(Object.entries(opens).map(([job, n]) => [job, new Map([['open', n]])]))
  return { host, profile: profile('dev'), services: { mdt: reading, mdt_readpage: reading }, jobs, spanS: 1 }
}
const policy = (line: number, kind: PolicyInForce['kind'], job: string, value: number): PolicyInForce => ({
  line,
  kind,
  job,
  value,
  scope: 'meta_op',
})
const settings = (algorithm: Algorithm, limit?: number, more: { epsilon?: number; slots?: number } = {}) => ({
  algorithm,
  epsilon: more.epsilon ?? 0.25,
  slots: more.slots ?? null,
  limits: new Map<Scope, number>(limit === undefined ? [] : [['meta_op', limit]]),
})
const controller = (...args: Parameters<typeof settings>): MetadataController =>
  new MetadataController(settings(...args), MODEL_FENCES)
const THREE = [policy(1, 'demand', 'a', 300), policy(2, 'demand', 'b', 400), policy(3, 'demand', 'c', 200)]

function rates(c: MetadataController, atS: number, servers: readonly MdsServer[], policies = THREE) {
  const decision = c.step(atS * NS_PER_S, { servers, policies, clientsOf: () => undefined, isExempt: () => false })
  return { decision, of: Object.fromEntries(decision.shares.map((s) => [s.job, s.allocated])) }
}

describe('what jobs are given', () => {
  it('psfa: demands first, the rest by use; a new job claims its demand', () => {
    const c = controller('psfa', 900)
    expect(rates(c, 1, [server({ a: 300, b: 400, c: 200 })]).of).toEqual({ a: 300, b: 400, c: 200 })
    const { of } = rates(c, 2, [server({ a: 300, b: 400, c: 0 })])
    // c claims usage + (demand - usage) * epsilon of its demand; a and b share the rest by their usage.
    expect(of['c']).toBeGreaterThan(50)
    expect(of['c']).toBeLessThan(52)
    expect(of['a']! + of['b']! + of['c']!).toBeCloseTo(900)
  })

  it('psfa-adaptive: those of psfa, because servers do not report what waits, and the scope is named', () => {
    const c = controller('psfa-adaptive', 900)
    expect(rates(c, 1, [server({ a: 300, b: 400, c: 200 })]).decision.fallbacks).toEqual([])
    const busy = [server({ a: 300, b: 400, c: 0 })]
    const { of, decision } = rates(c, 2, busy)
    expect(decision.fallbacks).toEqual(['meta_op'])
    const original = controller('psfa', 900)
    rates(original, 1, [server({ a: 300, b: 400, c: 200 })])
    const { of: byPsfa, decision: other } = rates(original, 2, busy)
    expect(of).toEqual(byPsfa)
    expect(other.fallbacks).toEqual([])
  })

  it('fixed rates count every job that a policy names, shared ones those that are there', () => {
    const busy = [server({ a: 100 })]
    expect(rates(controller('uniform', 900), 1, busy).of).toEqual({ a: 300, b: 300, c: 300 })
    expect(rates(controller('uniform', 900, { slots: 9 }), 1, busy).of['a']).toBe(100)
    expect(rates(controller('priority', 450), 1, busy).of).toEqual({ a: 150, b: 200, c: 100 })
    expect(rates(controller('psharing', 900), 1, busy).of).toEqual({ a: 900, b: 0, c: 0 })
  })

  it('a limit of a job bounds what it is given; without a system limit it is all there is', () => {
    const both = [...THREE, policy(4, 'limit', 'a', 120)]
    expect(rates(controller('psharing', 900), 1, [server({ a: 9 })], both).of['a']).toBe(120)
    const { of, decision } = rates(controller('psfa'), 1, [server({ a: 9 })], both)
    expect(of).toEqual({ a: 120, b: null, c: null })
    expect(decision.unexpressed).toContainEqual({
      line: 2,
      text: 'b gets no rate for meta_op: its demand is a share of a system limit, and none is set',
    })
  })

  it('a system limit that no policy shares is reported to apply to no job', () => {
    const { decision } = rates(controller('psfa', 900), 1, [server({ a: 9 })], [])
    expect([decision.rules, decision.unexpressed.map((u) => u.line)]).toEqual([[], [0]])
  })

  it('jobs are there while they do operations, and leave after ten idle seconds', () => {
    const c = controller('psharing', 900)
    expect(rates(c, 1, [server({ a: 5, other: 9 })]).decision.joined).toEqual(['a'])
    expect(rates(c, 1 + IDLE_NS / NS_PER_S - 1, [server({ b: 5 })]).decision).toMatchObject({ joined: ['b'], left: [] })
    expect(rates(c, 1 + IDLE_NS / NS_PER_S, [server({ b: 5 })]).decision.left).toEqual(['a'])
    expect(c.isActive('a')).toBe(false)
  })

  it('a server that is not measured counts as it was last, and nothing is said to be measured', () => {
    const c = controller('psfa', 900)
    const m1 = server({ a: 100, b: 400, c: 200 })
    const m2 = server({ a: 200 }, 'mds02')
    rates(c, 1, [m1, m2])
    const full = rates(c, 2, [m1, m2]).of
    const partly = rates(c, 3, [m1, server(undefined, 'mds02')])
    expect(partly.of).toEqual(full)
    expect(partly.decision.shares.map((s) => s.measured)).toEqual([null, null, null])
    // Idle for longer than IDLE_NS, it no longer counts.
    expect(rates(c, 4, [m1]).of['a']).toBeLessThan(full['a']!)
  })

  it('settings that give no rates keep the ones before, and say so', () => {
    const c = controller('psfa', 900)
    const before = rates(c, 1, [server({ a: 9 })]).decision
    c.setSettings(settings('psfa', 900, { epsilon: 7 }))
    const after = rates(c, 2, [server({ a: 9 })]).decision
    expect(after.failures).toMatchObject([{ code: 'NOT_ALLOCATED', why: 'epsilon must be in [0,1]' }])
    expect(after.rules.map((r) => [r.name, r.rate])).toEqual(before.rules.map((r) => [r.name, r.rate]))
  })
})
