import { describe, expect, it } from 'vitest'
import { rulesFrame as schema } from '#core/api/rules-frame.ts'
import { ruleName } from '#core/control/desired-rule.ts'
import { asOtherUser, commit, ends, review, ruleService, stage } from '../../../../tests/node/rule-service.ts'
import type { RuleService } from '../../rules/rule-service.ts'
import { mergeRules } from './rule-rows.ts'
import { filteredRules } from './rules-filter.ts'
import { rulesFrame, type RulesQuery } from './rules.ts'

const QUERY: RulesQuery = { at: null, service: 'ost_io', node: '', queue: 'reg', offset: 0, limit: 100 }
const frame = (d: RuleService, filter: string, more: Partial<RulesQuery> = {}) =>
  rulesFrame(d, { ...QUERY, filter, ...more }, 1)
const ranked = (d: RuleService, filter: string, more: Partial<RulesQuery> = {}): string[] =>
  frame(d, filter, more).rows.map((r) => `${r.rank} ${r.name}`)

/** Rules of other owners, first to last: one for several jobs, and one on one server only. */
async function service() {
  const { c, service: d } = await ruleService()
  const lines = ['ana_1 jobid={11.ana} rate=7', 'bob jobid={12.bob} rate=900', 'ops jobid={20.ops 21.*} rate=50']
  // A new rule is inserted before the others.
  for (const line of lines.toReversed()) for (const host of ['oss01', 'oss02']) asOtherUser(c, host, `start ${line}`)
  asOtherUser(c, 'oss01', 'start odd jobid={500.x} rate=20')
  await c.run(4)
  return { c, d }
}

it('makes no row of a rule of a controller that it hides: there is one a job', () => {
  const rules = mergeRules(
    ['oss01', 'oss02'].map((host) => ({
      host,
      rules: Array.from({ length: 50 }, (_, i) => ({
        queue: 'reg',
        cpt: 0,
        name: ruleName('adaptbf', host, `${i}.x`),
        ref: 1,
        rate: 100 + i,
        conditions: `jobid={${i}.x}`,
      })),
    })),
    'reg',
  )
  const rowOf = (): never => expect.fail('a row was made')
  const of = {
    rowOf,
    stagedOf: () => '' as const,
    inOrder: (all: readonly (typeof rules)[number][]) => all,
    lints: [],
    atMs: 0,
  } as const
  for (const filter of ['owner:operator', 'rate<100', 'is:drifting', 'is:idle', 'servers>2', 'ceiling<200'])
    expect(filteredRules(rules, { filter, offset: 0, limit: 9 }, of).filtered).toMatchObject({ passing: 0, of: 50 })
})

describe('the filter of rules', () => {
  it('finds by name, matcher, rate, maker, state and server, and keeps the true rank', async () => {
    const { d } = await service()
    const all = frame(d, '')
    expect(all.rows.map((r) => r.name)).toEqual(['odd', 'ana_1', 'bob', 'ops', 'default'])
    expect([all.filtered, all.rows[0]?.rank]).toEqual([undefined, undefined])
    expect(ranked(d, 'ana')).toEqual(['2 ana_1'])
    expect(ranked(d, '12.bob')).toEqual(['3 bob'])
    expect(ranked(d, 'job:1*.*')).toEqual(['2 ana_1', '3 bob'])
    expect(ranked(d, 'job:21')).toEqual(['4 ops'])
    expect(ranked(d, 'match:500.x server:oss01')).toEqual(['1 odd'])
    expect(ranked(d, 'server:oss02 -owner:lustre')).toEqual(['2 ana_1', '3 bob', '4 ops'])
    expect(ranked(d, 'rate<51')).toEqual(['1 odd', '2 ana_1', '4 ops'])
    expect(ranked(d, 'owner:lustre')).toEqual(['5 default'])
    expect(ranked(d, 'is:drifting')).toEqual(['1 odd'])
    expect(ranked(d, '-is:bound owner:elsewhere')).toEqual(['1 odd', '2 ana_1', '3 bob', '4 ops'])
    expect(frame(d, 'job:1*.*')).toMatchObject({ known: 5, filtered: { passing: 2, of: 5, filter: 'job:1*.*' } })
  })

  it('filters before it slices, and a frame of it is one of the contract', async () => {
    const { d } = await service()
    const f = frame(d, '-owner:lustre', { offset: 2, limit: 1 })
    expect(schema.parse(f)).toEqual(f)
    expect(f.rows.map((r) => `${r.rank} ${r.name}`)).toEqual(['3 bob'])
    expect([f.offset, f.filtered?.passing]).toEqual([2, 4])
    expect(ranked(d, 'ana', { offset: 90 })).toEqual(['2 ana_1'])
    expect(frame(d, 'no such rule')).toMatchObject({ rows: [], offset: 0, known: 5, filtered: { passing: 0, of: 5 } })
  })

  it('tells a fault with its column, and hides nothing', async () => {
    const { d } = await service()
    const f = frame(d, 'ana is:wet')
    expect(f.filterError).toMatchObject({ column: 5 })
    expect(f.filterError?.message).toContain('is: must be one of staged, bound, idle')
    expect([f.rows.length, f.filtered]).toEqual([5, undefined])
  })

  it('counts what is staged for rules that it hides; review and commit are of all of it', async () => {
    const { d } = await service()
    stage(d, 'change bob rate=5')
    stage(d, 'stop ops')
    stage(d, 'start new jobid={13.new} rate=3')
    const before = review(d)
    expect(frame(d, 'ana').filtered?.staged).toBe(3)
    expect(frame(d, 'is:staged')).toMatchObject({ filtered: { staged: 0, passing: 3 } })
    expect(frame(d, 'bob').filtered?.staged).toBe(2)
    expect(frame(d, 'ana').filtered?.ranks).toEqual(['odd', 'ana_1', 'bob', 'default'])
    expect(review(d)).toEqual(before)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
  })

  it('counts ranks by the staged places, as the whole list does', async () => {
    const { d } = await service()
    stage(d, 'change ops rank=ana_1')
    expect(ranked(d, '-owner:lustre')).toEqual(['1 odd', '2 ops', '3 ana_1', '4 bob'])
    expect(ranked(d, 'bob')).toEqual(['4 bob'])
  })
})
