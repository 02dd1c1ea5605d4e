import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatNrsPolicies, parseNrsPolicies, primaryPolicy, type PolicyStatus } from './nrs-policies.ts'
import { formatCptTitle, formatQueueTitle, formatRuleLine, parseNrsTbfRule, type RuleLine } from './nrs-tbf-rule.ts'
import { parseVersion } from './version.ts'

const policy = (name: string, more: Partial<PolicyStatus> = {}): PolicyStatus => ({
  queue: 'reg',
  name,
  arg: '',
  state: 'stopped',
  fallback: false,
  queued: 0,
  active: 0,
  ...more,
})

describe('nrs_policies', () => {
  const policies = [
    policy('fifo', { state: 'started', fallback: true }),
    policy('tbf', { arg: 'jobid+opcode', state: 'started', queued: 2015, active: 384 }),
    policy('delay'),
    policy('fifo', { queue: 'hp', state: 'started', fallback: true, active: 2 }),
  ]

  it('has the blank lines and padding of a server', () => {
    const blanks = (n: number): string => ' '.repeat(n)
    expect(formatNrsPolicies(policies)).toBe(
      [
        '',
        'regular_requests:',
        '  - name: fifo',
        '    state: started',
        '    fallback: yes',
        `    queued: 0${blanks(19)}`,
        `    active: 0${blanks(19)}`,
        '',
        '  - name: tbf jobid+opcode',
        '    state: started',
        '    fallback: no',
        `    queued: 2015${blanks(16)}`,
        `    active: 384${blanks(17)}`,
        '',
        '  - name: delay',
        '    state: stopped',
        '    fallback: no',
        `    queued: 0${blanks(19)}`,
        `    active: 0${blanks(19)}`,
        '',
        'high_priority_requests:',
        '  - name: fifo',
        '    state: started',
        '    fallback: yes',
        `    queued: 0${blanks(19)}`,
        `    active: 2${blanks(19)}`,
        '',
        '',
      ].join('\n'),
    )
  })

  it('is read back as printed', () => {
    const one = fc.record({
      queue: fc.constant('reg' as const),
      name: fc.constantFrom('fifo', 'crrn', 'orr', 'trr', 'tbf', 'delay'),
      arg: fc.constantFrom('', 'jobid', 'nid', 'jobid+nid'),
      state: fc.constantFrom('invalid', 'stopped', 'stopping', 'starting', 'started'),
      fallback: fc.boolean(),
      queued: fc.nat(),
      active: fc.nat(),
    })
    fc.assert(
      fc.property(fc.array(one, { maxLength: 6 }), fc.array(one, { maxLength: 6 }), (reg, hp) => {
        const all: PolicyStatus[] = [...reg, ...hp.map((p) => ({ ...p, queue: 'hp' as const }))]
        expect(parseNrsPolicies(formatNrsPolicies(all))).toEqual({ policies: all, skipped: [] })
      }),
    )
  })

  it('reports foreign lines and keeps the rest', () => {
    const text =
      'regular_requests:\n  state: started\n  - name: fifo\n    state: started\n    queued: many\n    fallback: yes\n'
    expect(parseNrsPolicies(text)).toEqual({
      policies: [policy('fifo', { state: 'started', fallback: true })],
      skipped: [
        { line: 2, reason: 'not a policy nor a field of one' },
        { line: 5, reason: 'queued is not a number' },
      ],
    })
  })

  it('returns the policy that schedules a queue: the started one, else the fallback', () => {
    expect(primaryPolicy(policies, 'reg')?.name).toBe('tbf')
    expect(primaryPolicy(policies, 'hp')?.name).toBe('fifo')
    expect(primaryPolicy([policy('tbf', { state: 'stopping' })], 'reg')).toBeUndefined()
  })
})

describe('nrs_tbf_rule', () => {
  const sheet = [
    'regular_requests:',
    'CPT 0:',
    'b nid={*@tcp} 1, ref 4',
    'loginnode nid={192.168.1.1@tcp} 10000, ref 1',
    'default * 10000, ref 0',
    'CPT 1:',
    'b nid={*@tcp} 1, ref 3',
    'default * 10000, ref 0',
    'high_priority_requests:',
    'CPT 0:',
    'odd  jobid = { a  b } & nid={*@tcp} 7, ref -1',
    '',
  ].join('\n')
  const rule = (
    queue: 'reg' | 'hp',
    cpt: number,
    name: string,
    conditions: string,
    rate: number,
    ref: number,
  ): RuleLine => ({
    queue,
    cpt,
    name,
    conditions,
    rate,
    ref,
  })
  const rules = [
    rule('reg', 0, 'b', 'nid={*@tcp}', 1, 4),
    rule('reg', 0, 'loginnode', 'nid={192.168.1.1@tcp}', 10_000, 1),
    rule('reg', 0, 'default', '*', 10_000, 0),
    rule('reg', 1, 'b', 'nid={*@tcp}', 1, 3),
    rule('reg', 1, 'default', '*', 10_000, 0),
    rule('hp', 0, 'odd', ' jobid = { a  b } & nid={*@tcp}', 7, -1),
  ]

  it('is read per queue and CPT in match order, conditions to the byte', () => {
    expect(parseNrsTbfRule(sheet)).toEqual({ rules, skipped: [] })
  })

  it('is printed to the byte', () => {
    const printed =
      formatQueueTitle('reg') +
      formatCptTitle(0) +
      rules.slice(0, 3).map(formatRuleLine).join('') +
      formatCptTitle(1) +
      rules.slice(3, 5).map(formatRuleLine).join('') +
      formatQueueTitle('hp') +
      formatCptTitle(0) +
      rules.slice(5).map(formatRuleLine).join('')
    expect(printed).toBe(sheet)
  })

  it('of releases up to 2.17.0 has no field name under a single type', () => {
    const { rules: read } = parseNrsTbfRule(
      'regular_requests:\nCPT 0:\ndd {dd.* x} 50, ref 2\ndefault {*} 10000, ref 0\n',
    )
    expect(read.map((r) => [r.name, r.conditions, r.rate])).toEqual([
      ['dd', '{dd.* x}', 50],
      ['default', '{*}', 10_000],
    ])
  })

  it('names lines that are no rules', () => {
    expect(parseNrsTbfRule('CPT 0:\na b\nx * 1, ref 0\n')).toEqual({
      rules: [rule('reg', 0, 'x', '*', 1, 0)],
      skipped: [{ line: 2, reason: 'not a rule' }],
    })
  })
})

describe('versions', () => {
  it('are three numbers and whatever git adds', () => {
    expect(parseVersion('2.17.57_62_gc881f8e_dirty\n')).toMatchObject({ major: 2, minor: 17, patch: 57 })
    expect(parseVersion('lustre: 2.12.9')).toEqual({ major: 2, minor: 12, patch: 9, text: '2.12.9' })
    for (const text of ['', '2.15', 'v2.15.8', 'unknown']) expect(parseVersion(text)).toBeUndefined()
  })
})
