import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RULE_FIELDS } from '../lustre/rule-dialect.ts'
import { parseConditions, type RequestKey } from './conditions.ts'
import { RuleList, type Rule } from './rule-list.ts'

const conditionsOf = (text: string): Rule['conditions'] => {
  const parsed = parseConditions(text, RULE_FIELDS)
  if (!parsed.ok) throw new Error(`${text}: ${parsed.error.why}`)
  return parsed.value
}

const list = (...names: readonly string[]): RuleList => {
  const rules = new RuleList({ rate: 10_000, depth: 3 })
  for (const name of names) expect(rules.start(name, conditionsOf(`jobid={${name}}`)).ok).toBe(true)
  return rules
}
const names = (rules: RuleList): string => rules.rules.map((r) => r.name).join(' ')

describe('RuleList', () => {
  it('has the newest first and default last', () => {
    expect(names(list('a', 'b', 'c'))).toBe('c b a default')
  })

  it('places a rule right before its rank, at start and by change', () => {
    const rules = list('a', 'b', 'c')
    rules.start('d', conditionsOf('jobid={d}'), { rank: 'a' })
    expect(names(rules)).toBe('c b d a default')
    rules.change('c', { rank: 'default' })
    expect(names(rules)).toBe('b d a c default')
    rules.change('a', { rank: 'a' })
    expect(names(rules)).toBe('b d a c default')
    // Even `default` can be moved; rules behind it are matched all the same.
    rules.change('default', { rank: 'b' })
    expect(names(rules)).toBe('default b d a c')
    expect(rules.match({ jobId: 'c', nid: '0@lo' }).name).toBe('c')
    expect(rules.match({ jobId: 'x', nid: '0@lo' }).name).toBe('default')
  })

  it('counts starts in its sequence and changes of rate in the generation of a rule', () => {
    const rules = list('a', 'b')
    const [b, a] = rules.rules as [Rule, Rule]
    expect(rules.sequence).toBe(2)
    rules.change('a', { rate: 5 })
    rules.change('a', { rate: 5 })
    rules.change('a', { rank: 'b' })
    expect([rules.sequence, a.generation, b.generation]).toEqual([2, 2, 0])
    rules.stop('a')
    expect([rules.sequence, a.stopped]).toEqual([2, true])
  })

  it('answers with the errno of what it refuses and changes nothing, but for a rate before an unknown rank', () => {
    const rules = list('a')
    expect(rules.start('a', conditionsOf('jobid={z}'))).toMatchObject({ error: 'EEXIST' })
    expect(rules.start('b', conditionsOf('jobid={b}'), { rank: 'z' })).toMatchObject({ error: 'ENOENT' })
    expect(rules.change('z', { rate: 5 })).toMatchObject({ error: 'ENOENT' })
    expect(rules.stop('default')).toMatchObject({ error: 'EPERM' })
    expect(rules.stop('z').ok).toBe(true)
    expect(names(rules)).toBe('a default')
    expect(rules.change('a', { rate: 7, rank: 'z' })).toMatchObject({ error: 'ENOENT' })
    expect(rules.rules[0]?.rate).toBe(7)
  })

  it('gives an RPC the first rule that matches, whatever the list went through', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const conditions = fc.constantFrom(
      'jobid={x}',
      'jobid={x y}',
      'jobid={y},jobid={z}',
      'jobid={x*}',
      'jobid={x}&nid={0@lo}',
      'jobid={y}&jobid={*}',
      'nid={0@lo}',
      'opcode={ost_read}',
      'uid={7},jobid={x}',
    )
    const action = fc.oneof(
      fc.record({
        verb: fc.constant('start' as const),
        name,
        conditions,
        rank: fc.option(name, { nil: undefined, freq: 1 }),
      }),
      fc.record({ verb: fc.constant('change' as const), name, rank: fc.oneof(name, fc.constant('default')) }),
      fc.record({ verb: fc.constant('stop' as const), name }),
    )
    const requests: RequestKey[] = ['x', 'xx', 'y', 'z', ''].flatMap((jobId) =>
      ['0@lo', '10.0.0.1@tcp'].flatMap((nid) => [
        { jobId, nid },
        { jobId, nid, opcode: 'ost_read', uid: 7 },
      ]),
    )
    let named = 0
    fc.assert(
      fc.property(fc.array(action, { maxLength: 25, size: 'max' }), (actions) => {
        const rules = new RuleList({ rate: 10_000, depth: 3 })
        for (const a of actions) {
          if (a.verb === 'start') rules.start(a.name, conditionsOf(a.conditions), { rank: a.rank })
          else if (a.verb === 'change') rules.change(a.name, { rank: a.rank })
          else rules.stop(a.name)
          for (const r of requests) {
            const first = rules.rules.find((x) => x.name !== 'default' && x.conditions.matches(r))
            const found = rules.match(r).name
            expect(found).toBe(first?.name ?? 'default')
            if (found !== 'default') named++
          }
        }
      }),
    )
    expect(named).toBeGreaterThan(1000)
  })
})
