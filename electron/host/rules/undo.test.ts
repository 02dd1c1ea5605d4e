import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planEdits } from '#core/control/edit-plan.ts'
import type { QueueChoice, RuleEdit } from '#core/control/rule-edit.ts'
import { asOtherUser, commit, ends, ruleService, send, stage, activeRules } from '../../../tests/node/rule-service.ts'
import { readServer, rulesText, serviceWith, write } from '../../../tests/rule-oracle.ts'
import type { RuleService } from './rule-service.ts'
import { wayBack } from './undo.ts'

const last = (d: RuleService) => d.changesOf('ost_io')[0]
const undo = async (d: RuleService): Promise<string[]> => {
  const staged = d.undo(last(d)?.id ?? '')
  return staged.ok ? ends(await commit(d)) : [staged.error.code]
}

describe('undoing', () => {
  it('gives every server back its own, where they were not alike', async () => {
    const { c, service: d } = await ruleService()
    asOtherUser(c, 'oss01', 'start x jobid={9.*} rate=5')
    asOtherUser(c, 'oss02', 'start x jobid={9.*} rate=77')
    asOtherUser(c, 'oss02', 'start lone jobid={8.*} rate=7')
    await c.run(4)
    const was = [activeRules(c), activeRules(c, 'oss02')]
    await send(d, 'change x rate=20', 'stop lone')
    await c.run(5)
    expect(await undo(d)).toEqual(['oss01 done', 'oss02 done'])
    expect([activeRules(c), activeRules(c, 'oss02')]).toEqual(was)
  })

  it('of an undoing brings the change back', async () => {
    const { c, service: d } = await ruleService()
    await send(d, 'start a jobid={1.*} rate=5', 'reg start b jobid={2.*} rate=6', 'change default rate=900')
    await c.run(4)
    const reg = activeRules(c)
    const hp = activeRules(c, 'oss01', 'hp')
    expect(await undo(d)).toEqual(['oss01 done', 'oss02 done'])
    await c.run(5)
    expect(activeRules(c)).toEqual(['default * 10000'])
    expect(await undo(d)).toEqual(['oss01 done', 'oss02 done'])
    expect([activeRules(c), activeRules(c, 'oss01', 'hp')]).toEqual([reg, hp])
  })

  it('is done when it is committed, not when it is staged', async () => {
    const { c, service: d } = await ruleService()
    await send(d, 'start a jobid={1.*} rate=5')
    await c.run(4)
    const past = last(d)
    d.undo(past?.id ?? '')
    d.undo(past?.id ?? '')
    expect(d.staged.count).toBe(1)
    expect(past?.undone).toBe(false)
    d.unstage('ost_io', null)
    expect(await undo(d)).toEqual(['oss01 done', 'oss02 done'])
    expect(past?.undone).toBe(true)
  })

  it('of a rule that expired is not offered, nor staged', async () => {
    const { c, service: d } = await ruleService()
    await send(d, ['start a jobid={1.*} rate=5', 30])
    const id = last(d)?.id ?? ''
    await c.run(6)
    expect([...d.revertible('ost_io')]).toEqual([id])
    await c.run(40)
    expect([...d.revertible('ost_io')]).toEqual([])
    expect(d.undo(id)).toMatchObject({ ok: false, error: { code: 'NOTHING_LEFT' } })
    expect(d.staged.count).toBe(0)
  })

  it('starts a rule for the time that it had left, and not once that is over', async () => {
    const { c, service: d } = await ruleService()
    await send(d, ['start a jobid={1.*} rate=5', 100])
    await c.run(13)
    await send(d, 'stop a')
    await c.run(23)
    const stopped = last(d)?.id ?? ''
    d.undo(stopped)
    expect(d.staged.of('ost_io').map((s) => s.terms.expiresS)).toEqual([80])
    d.unstage('ost_io', null)
    await c.run(110)
    expect(d.undo(stopped)).toMatchObject({ ok: false, error: { code: 'NOTHING_LEFT' } })
  })
})

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const
const one = {
  name: fc.constantFrom<string>(...NAMES),
  conditions: fc.constantFrom('jobid={x.1}', 'jobid={x.2}', 'jobid={x.*}', 'jobid={*}'),
  rate: fc.constantFrom(1, 5, 20, 100),
  rank: fc.option(fc.constantFrom<string>(...NAMES, 'default'), { nil: undefined }),
  queue: fc.constantFrom<QueueChoice>('reg', 'hp', 'both'),
}
const edit: fc.Arbitrary<RuleEdit> = fc.oneof(
  fc.record({ verb: fc.constant('start' as const), ...one, realtime: fc.constant(false) }),
  fc.record({
    verb: fc.constant('change' as const),
    name: fc.oneof(one.name, fc.constant('default')),
    rate: fc.option(one.rate, { nil: undefined }),
    rank: one.rank,
    queue: one.queue,
  }),
  fc.record({ verb: fc.constant('stop' as const), name: one.name, queue: one.queue }),
)
const present = fc
  .uniqueArray(fc.record(one), { selector: (r) => `${r.name} ${r.queue}`, maxLength: 8 })
  .map((rules) =>
    rules.flatMap((r) => (r.queue === 'both' ? [] : [`${r.queue} start ${r.name} ${r.conditions} rate=5`])),
  )

describe('the way back', () => {
  it('of any edits restores the list of both queues to the byte', () => {
    let undone = 0
    fc.assert(
      fc.property(present, fc.array(edit, { maxLength: 5 }), (values, edits) => {
        const service = serviceWith('tbf jobid', values)
        const realtime = new Map(NAMES.map((n) => [n, false]))
        const was = rulesText(service)
        const plan = planEdits({ ...readServer(service), realtime }, edits)
        for (const c of plan.commands) write(service, c.value)
        const back = planEdits({ ...readServer(service), realtime }, wayBack({ ...plan, realtime }))
        expect(back.refused).toEqual([])
        for (const c of back.commands) write(service, c.value)
        expect(rulesText(service)).toBe(was)
        undone += back.commands.length
      }),
      { numRuns: 400 },
    )
    expect(undone).toBeGreaterThan(200)
  })
})

describe('staging', () => {
  it('takes edits of one rule in the order in which they were staged', async () => {
    const { c, service: d } = await ruleService()
    const start = 'start a jobid={1.*} rate=5'
    for (const value of [start, 'stop a', start]) stage(d, value)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    await c.run(4)
    expect(activeRules(c)).toContain('a jobid={1.*} 5')
    for (const value of ['stop a', start, 'stop a']) stage(d, value)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    expect(activeRules(c)).toEqual(['default * 10000'])
  })
})
