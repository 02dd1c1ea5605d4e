import { describe, expect, it } from 'vitest'
import { commit, ruleService, stage } from '../../../tests/node/rule-service.ts'
import type { RuleService } from './rule-service.ts'

const names = (d: RuleService): string[] => d.staged.of('ost_io').map((s) => `${s.edit.name} ${s.form.rate}`.trim())
const ids = (d: RuleService): string[] => d.staged.of('ost_io').map((s) => s.id)
const code = (r: ReturnType<RuleService['restore']>): string => (r.ok ? 'ok' : r.error.code)

describe('what was taken back', () => {
  it('is staged again where it was, as it was, under its own id', async () => {
    const { service: d } = await ruleService()
    for (const text of ['start a jobid={1.*} rate=5', 'start b jobid={2.*} rate=6', 'start c jobid={3.*} rate=7'])
      stage(d, text)
    const before = d.staged.of('ost_io')
    d.unstage('ost_io', ids(d)[1] ?? '')
    expect(names(d)).toEqual(['a 5', 'c 7'])
    expect(code(d.restore('ost_io', [before[1]?.id ?? '']))).toBe('ok')
    expect(d.staged.of('ost_io')).toEqual(before)

    d.unstage('ost_io', null)
    expect(
      code(
        d.restore(
          'ost_io',
          before.map((s) => s.id),
        ),
      ),
    ).toBe('ok')
    expect(d.staged.of('ost_io')).toEqual(before)
  })

  it('or replaced takes the place of what replaced it, to and fro', async () => {
    const { service: d } = await ruleService()
    stage(d, 'start a jobid={1.*} rate=5')
    const [first = ''] = ids(d)
    stage(d, 'start a jobid={1.*} rate=9')
    const [second = ''] = ids(d)
    expect(second).not.toBe(first)
    expect(code(d.restore('ost_io', [first], second))).toBe('ok')
    expect([names(d), ids(d)]).toEqual([['a 5'], [first]])
    expect(code(d.restore('ost_io', [second], first))).toBe('ok')
    expect([names(d), ids(d)]).toEqual([['a 9'], [second]])
  })

  it('is refused whole where one of it is staged, was sent, or is of another service', async () => {
    const { service: d } = await ruleService()
    stage(d, 'start a jobid={1.*} rate=5')
    const [first = ''] = ids(d)
    expect(code(d.restore('ost_io', [first]))).toBe('NOT_STAGED_ANY_MORE')
    d.unstage('ost_io', first)
    expect(code(d.restore('mdt', [first]))).toBe('NOT_STAGED_ANY_MORE')
    expect(code(d.restore('ost_io', [first, 'nothing']))).toBe('NOT_STAGED_ANY_MORE')
    expect(d.staged.count).toBe(0)
    const sent = stage(d, 'start b jobid={2.*} rate=6')
    await commit(d)
    expect(code(d.restore('ost_io', [sent]))).toBe('NOT_STAGED_ANY_MORE')
    expect(d.staged.count).toBe(0)
  })
})
