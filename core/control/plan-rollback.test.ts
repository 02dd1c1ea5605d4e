import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readServer, serviceWith, write } from '../../tests/rule-oracle.ts'
import { planEdits } from './edit-plan.ts'
import { planRollback } from './plan-rollback.ts'
import { compareHeads } from './read-back.ts'
import type { RuleEdit } from './rule-edit.ts'

const NAMES = ['a', 'b', 'c', 'd'] as const
const name = fc.constantFrom(...NAMES)
const rate = fc.constantFrom(1, 5, 20)
const queue = fc.constantFrom('reg', 'both' as const)
const conditions = fc.constantFrom('jobid={x}', 'jobid={y}', 'jobid={*}')
const edit: fc.Arbitrary<RuleEdit> = fc.oneof(
  fc.record({
    verb: fc.constant('start' as const),
    name,
    conditions,
    rate,
    rank: fc.option(name, { nil: undefined }),
    queue,
  }),
  fc.record({ verb: fc.constant('change' as const), name, rate, rank: fc.option(name, { nil: undefined }), queue }),
  fc.record({ verb: fc.constant('stop' as const), name, queue }),
)
const present = fc
  .uniqueArray(fc.tuple(name, conditions, rate), { selector: ([n]) => n })
  .map((rules) => rules.map(([n, c, r]) => `start ${n} ${c} rate=${r}`))

describe('planBack', () => {
  it('restores a server after a plan interrupted anywhere, and keeps changes by others', () => {
    fc.assert(
      fc.property(
        present,
        fc.array(edit, { maxLength: 5 }),
        fc.nat(30),
        fc.boolean(),
        (rules, edits, cut, isForeign) => {
          const service = serviceWith('tbf jobid', rules)
          const plan = planEdits(readServer(service), edits)
          for (const c of plan.commands.slice(0, cut)) write(service, c.value)
          if (isForeign) write(service, 'start foreign jobid={z} rate=7')
          const now = readServer(service)
          const back = planRollback(now, plan.before, plan.touched)
          for (const c of back.commands) write(service, c.value)
          const after = readServer(service)
          expect(after.rules.filter((r) => r.name !== 'foreign')).toEqual(plan.before)
          expect(after.rules.filter((r) => r.name === 'foreign')).toEqual(now.rules.filter((r) => r.name === 'foreign'))
          expect(compareHeads(back.expected, plan.touched, after)).toEqual({ differences: [], foreign: [] })
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('makes CPTs alike again after a command that failed on some', () => {
    const service = serviceWith('tbf jobid', ['start a jobid={a} rate=5', 'hp stop a', 'reg start b jobid={b} rate=5'])
    const before = readServer(service)
    expect(service.writeRule('change a rate=9').ok).toBe(false)
    expect(service.writeRule('start c jobid={c} rate=1 rank=b').ok).toBe(false)
    const back = planRollback(readServer(service), before.rules, ['a', 'c'])
    expect(back.commands.map((c) => c.value)).toEqual(['reg change a rate=5', 'reg stop c'])
    for (const c of back.commands) write(service, c.value)
    expect(readServer(service).rules).toEqual(before.rules)
  })
})
