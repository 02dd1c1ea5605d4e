import { describe, expect, it } from 'vitest'
import { RELEASES } from '../lustre/release.ts'
import { RULE_DIALECTS } from '../lustre/rule-dialect.ts'
import { OST_IO_POLICIES, OTHER_POLICIES, parsePolicyCommand } from './policy-command.ts'
import { isSameType, parseTbfType, typeOf } from './tbf-type.ts'

describe('the type of TBF', () => {
  it('is read as each release reads it', () => {
    const read = (arg: string | undefined): string[] =>
      RELEASES.map((r) => {
        const t = parseTbfType(arg, RULE_DIALECTS[r])
        return t.ok ? `${t.value.fields.join('+')}${t.value.isList ? ' list' : ''}` : t.error.errno
      })
    const five = 'jobid+nid+opcode+uid+gid'
    expect(read(undefined)).toEqual([five, five, five, `${five}+projid`, `${five}+projid+nodemap`])
    expect(read('generic')).toEqual([five, five, five, `${five}+projid`, 'EINVAL'])
    expect(read('nid')).toEqual(['nid list', 'nid list', 'nid list', 'nid list', 'nid'])
    expect(read('projid')).toEqual(['ENOTSUPP', 'ENOTSUPP', 'ENOTSUPP', 'projid', 'projid'])
    expect(read('opcode+jobid')).toEqual(['ENOTSUPP', 'ENOTSUPP', 'ENOTSUPP', 'jobid+opcode', 'jobid+opcode'])
    expect(read('nid++nonsense')).toEqual(['ENOTSUPP', 'ENOTSUPP', 'ENOTSUPP', 'nid list', 'nid'])
    expect(read('x'.repeat(16))).toEqual(['ENOTSUPP', 'ENOTSUPP', 'EINVAL', 'EINVAL', 'EINVAL'])
    expect(read('x'.repeat(20))).toEqual(['EINVAL', 'EINVAL', 'EINVAL', 'EINVAL', 'EINVAL'])
    for (const arg of ['', ' nid', '+nid', 'nid ', 'nid\n', 'NID', 'toString']) {
      expect(new Set(read(arg)), arg).toEqual(new Set(['ENOTSUPP', 'EINVAL']))
    }
  })

  it('is the same in whatever order it was spelt', () => {
    expect(isSameType(typeOf(['nid', 'jobid']), typeOf(['jobid', 'nid', 'nid']))).toBe(true)
    expect(isSameType(typeOf(['nid']), typeOf(['jobid', 'nid']))).toBe(false)
  })

  it('names the closest field', () => {
    expect(parseTbfType('jobid+opcod')).toMatchObject({
      error: { at: 6, length: 5, why: 'unknown type opcod, nearest is opcode' },
    })
  })
})

describe('a command of nrs_policies', () => {
  const read = (value: string, hp = true, policies = OST_IO_POLICIES): string => {
    const r = parsePolicyCommand(value, { hp, policies })
    return r.ok ? `${r.value.policy} ${r.value.queue ?? '-'} ${JSON.stringify(r.value.argument)}` : r.error.errno
  }

  it('is a name, a selector and the rest', () => {
    expect(read('tbf')).toBe('tbf - undefined')
    expect(read('tbf reg')).toBe('tbf reg undefined')
    expect(read('tbf reg ')).toBe('tbf reg ""')
    expect(read('tbf hp nid reg')).toBe('tbf hp "nid reg"')
    expect(read('tbf nid reg')).toBe('tbf - "nid reg"')
    expect(read('tbf  nid')).toBe('tbf - " nid"')
    expect(read('fifo foo\0bar')).toBe('fifo - "foo"')
  })

  it('is refused for what is too long, unknown or not there, in this order', () => {
    expect(read('x'.repeat(16))).toBe('EINVAL')
    expect([read(`fifo ${'x'.repeat(1038)}`), read(`fifo ${'x'.repeat(1039)}`)]).toEqual([
      `fifo - "${'x'.repeat(1038)}"`,
      'EINVAL',
    ])
    for (const value of ['', ' tbf', 'abc', 'FIFO', 'fifo\n']) expect(read(value), value).toBe('ENOENT')
    expect([read('tbf hp', false), read('abc hp', false)]).toEqual(['ENODEV', 'ENODEV'])
    expect(read('orr', true, OTHER_POLICIES)).toBe('ENOENT')
    expect(parsePolicyCommand('tfb', { hp: true, policies: OST_IO_POLICIES })).toMatchObject({
      error: { why: 'unknown policy tfb, nearest is tbf' },
    })
  })
})
