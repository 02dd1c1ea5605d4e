import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '#tests/any-character.ts'
import { CONTEXT_TYPES, isScope, OPERATION_CONTEXTS, OPERATION_TYPES, type OperationContext } from '../vocabulary.ts'
import { type HousekeepingRule, parseHousekeeping, printHousekeeping } from './housekeeping.ts'
import { parsePolicies, PolicySchedule } from './policy-schedule.ts'
import { parsePolicyText, printPolicyText } from './policy-text.ts'
import { looksLikeYaml, printPolicyYaml } from './policy-yaml.ts'
import type { Policy } from './policy.ts'

const type = fc.constantFrom(...(Object.keys(OPERATION_TYPES) as (keyof typeof OPERATION_TYPES)[]))
const context = fc.constantFrom(...(Object.keys(OPERATION_CONTEXTS) as OperationContext[]))
const contextType = fc.constantFrom(...(Object.keys(CONTEXT_TYPES) as (keyof typeof CONTEXT_TYPES)[]))
const scope = fc.constantFrom(...[...Object.keys(OPERATION_TYPES), ...Object.keys(OPERATION_CONTEXTS)].filter(isScope))
const number = fc.nat(0xffff_ffff)
const channelRule: fc.Arbitrary<HousekeepingRule> = fc.record({
  kind: fc.constant('create_channel' as const),
  rule: number,
  channel: number,
  contextType,
  workflow: number,
  type,
  context,
})
const jobName = fc.stringMatching(/^[!-~\u00a1-\u00ff]{1,40}$/)
const policy = fc.record({
  rule: fc.nat(),
  atS: fc.nat(100_000),
  kind: fc.constantFrom('limit' as const, 'demand' as const),
  job: jobName,
  scope,
  value: fc.oneof(fc.integer({ min: 1, max: 1e9 }), fc.double({ min: 1, max: 1e6, noNaN: true })),
})
const numbered = (policies: readonly Omit<Policy, 'line'>[], first: number): Policy[] =>
  policies.map((p, i) => ({ ...p, line: i + first }))

describe('housekeeping files', () => {
  it('are read as published, channels before objects whatever their order', () => {
    const { rules, faults } = parseHousekeeping(
      '2 create_object 1000 1 posix_meta no_op meta_op drl 10000 500000\n1 create_channel 1000 posix_meta 1000 no_op meta_op\n',
    )
    expect(faults).toEqual([])
    expect(rules).toEqual([
      {
        kind: 'create_channel',
        rule: 1,
        channel: 1000,
        contextType: 'posix_meta',
        workflow: 1000,
        type: 'no_op',
        context: 'meta_op',
      },
      {
        kind: 'create_object',
        rule: 2,
        channel: 1000,
        object: 1,
        contextType: 'posix_meta',
        type: 'no_op',
        context: 'meta_op',
        bucket: { refillUs: 10_000, rate: 500_000 },
      },
    ])
    expect(parseHousekeeping('1 create_channel 1000 posix 1000 open no_op').rules).toHaveLength(1)
  })

  it('print as the text they were parsed from', () => {
    fc.assert(
      fc.property(fc.uniqueArray(channelRule, { selector: (r) => r.channel, maxLength: 20 }), number, (channels, n) => {
        const objects = channels.map((c, i): HousekeepingRule => ({
          kind: 'create_object',
          rule: n,
          channel: c.channel,
          object: i,
          contextType: c.contextType,
          type: c.type,
          context: c.context,
          bucket: i % 2 === 0 ? null : { refillUs: 100 + i, rate: 1 + i },
        }))
        const rules = [...channels, ...objects]
        const read = parseHousekeeping(rules.map(printHousekeeping).join('\n'))
        expect(read).toEqual({ rules, faults: [] })
      }),
    )
  })

  it.each([
    ['1 create_chanel 1 posix 0 open no_op', 3, '"create_chanel" is not a rule of a stage'],
    ['1 create_channel 1 posix 0 opn no_op', 28, '"opn" is not a valid operation'],
    ['1 create_channel 1 posix 0 open metaop', 33, '"metaop" is not a valid class'],
    ['1 create_channel 1 posixx 0 open no_op', 20, '"posixx" is not a valid context type'],
    ['1 create_channel 1 posix 0 open', 32, 'class is missing'],
    ['1 create_channel 1 posix 0 open no_op drl', 39, 'one word too many'],
    ['1 create_channel -1 posix 0 open no_op', 18, 'not a valid channel number'],
    ['1', 2, 'create_channel is missing'],
    ['1 create_object 1 1 posix no_op no_op drl 10000 0', 49, 'not a valid rate in op/s'],
    ['1 create_object 1 1 posix no_op no_op drl 10000 NaN', 49, 'not a valid rate in op/s'],
    ['1 create_object 1 1 posix no_op no_op drl 0 5', 43, 'not a valid refill period'],
    ['1 create_object 1 1 posix no_op no_op bucket 10000 5', 39, 'expected drl or noop'],
  ])('says where %s is wrong', (line, column, message) => {
    const { rules, faults } = parseHousekeeping(`# layout\n1 create_channel 7 posix 0 close no_op\n${line}\n`)
    expect(rules).toHaveLength(1)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatchObject({ line: 3, column, severity: 'error' })
    expect(faults[0]?.message).toContain(message)
  })

  it('refuses a second channel or object of one number, and an object without a channel', () => {
    const channel = '1 create_channel 5 posix 0 open no_op\n'
    const object = '2 create_object 5 1 posix open no_op noop 0 0\n'
    const { rules, faults } = parseHousekeeping(
      `${channel}${object}${channel}${object}3 create_object 6 1 posix open no_op noop 0 0`,
    )
    expect(rules).toHaveLength(2)
    expect(faults.map((f) => [f.line, f.column])).toEqual([
      [3, 18],
      [4, 19],
      [5, 17],
    ])
  })
})

describe('policy files', () => {
  it('are read as published', () => {
    const { policies, faults } = parsePolicyText('1 20 job app1 meta_op 5000\n1 0 demand app1 meta_op 30000\n')
    expect(faults).toEqual([])
    expect(policies).toEqual([
      { line: 1, rule: 1, atS: 20, kind: 'limit', job: 'app1', scope: 'meta_op', value: 5000 },
      { line: 2, rule: 1, atS: 0, kind: 'demand', job: 'app1', scope: 'meta_op', value: 30_000 },
    ])
  })

  it('say the same as text and as YAML', () => {
    fc.assert(
      fc.property(fc.array(policy, { maxLength: 20 }), (drawn) => {
        const isFault = (f: { severity: string }): boolean => f.severity === 'error'
        const text = parsePolicies(printPolicyText(numbered(drawn, 1)))
        expect(text.format).toBe('text')
        expect(text.faults.filter(isFault)).toEqual([])
        expect(text.policies).toEqual(numbered(drawn, 1))
        const yaml = parsePolicies(printPolicyYaml(numbered(drawn, 1)))
        expect(yaml.format).toBe('yaml')
        expect(yaml.faults.filter(isFault)).toEqual([])
        expect(yaml.policies).toEqual(numbered(drawn, 2))
      }),
    )
  })

  it.each([
    ['1 0 job app1 meta_opp 5', 14, '"meta_opp" is neither an operation nor a class'],
    ['1 0 jobs app1 meta_op 5', 5, '"jobs" is not a kind of policy'],
    ['1 0 job app1 meta_op 0', 22, 'a rate of 0 would stop the job permanently'],
    ['1 0 job app1 meta_op -5', 22, 'a rate is above 0'],
    ['1 0 job app1 meta_op NaN', 22, '"NaN" is not a rate'],
    ['1 0 job app1 meta_op 1e99', 22, 'expected a rate of 1 to'],
    ['1 0 job app1 meta_op 0x10', 22, '"0x10" is not a rate'],
    ['1 -1 job app1 meta_op 5', 3, '"-1" is not a time in seconds'],
    ['x 0 job app1 meta_op 5', 1, '"x" is not a rule number'],
    ['1 0 job app1 meta_op', 21, 'value is missing'],
    ['1 0 job my app meta_op 5', 24, 'one word too many'],
    ['1 0 job app1 no_op 5', 14, '"no_op" is neither an operation'],
    ['1 1 1000 flow fg true rate 10000', 1, '"rate" is one word'],
    [`1 0 job ${'x'.repeat(201)} open 5`, 9, 'at most 200 characters'],
    ['1 0 job a\u0007b open 5', 9, 'no control characters'],
  ])('say where %j is wrong, and keep the rest', (line, column, message) => {
    const isOld = line.includes('flow')
    const { policies, faults } = parsePolicyText(`1 0 job good open 5\n${line}\n2 0 job also open 6`)
    expect(policies.map((p) => p.job)).toEqual(['good', 'also'])
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatchObject({ line: 2, column, severity: 'error' })
    expect(faults[0]?.message).toContain(isOld ? 'enforcement_rules_with_time_file' : message)
  })

  it('read user and mds lines, and say that nothing enforces them', () => {
    const { policies, faults } = parsePolicyText('1 0 user ana open 5\n2 0 mds mds01 open 5')
    expect(policies.map((p) => p.kind)).toEqual(['user', 'mds'])
    expect(faults.map((f) => [f.line, f.severity])).toEqual([
      [1, 'warning'],
      [2, 'warning'],
    ])
  })

  it('never show a control character of a hostile name', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        for (const { faults } of [parsePolicyText(text), parsePolicies(`- ${text}`), parsePolicies(text)]) {
          for (const f of faults) expect(f.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
        }
      }),
    )
  })

  it.each([
    ['policies:\n  - { at: 0, limit: 0, job: a, scope: open }\n', 2, 21, 'limit: expected op/s from 1'],
    ['policies:\n  - { at: 0, limit: 5, demand: 6, job: a, scope: open }\n', 2, 5, 'either limit or demand'],
    ['policies:\n  - { limit: 5, job: a, scope: opn }\n', 2, 32, 'scope: expected'],
    ['policies:\n  - { limit: 5, job: a b, scope: open }\n', 2, 22, 'no blanks'],
    ['policies:\n  - { limit: 5, jobb: a, scope: open }\n', 2, 17, '"jobb" is unknown'],
    ['policies:\n  - { limit: 5, scope: open }\n', 2, 5, 'job: expected'],
    ['policies:\n  - text\n', 2, 5, 'expected a policy'],
    ['policies: 5\n', 1, 1, 'with a list'],
    ['policies:\n  - { limit: [\n', 3, 1, ''],
  ])('say where YAML %j is wrong', (text, line, column, message) => {
    const { policies, faults } = parsePolicies(text)
    expect(policies).toEqual([])
    expect(faults[0]).toMatchObject({ line, column, severity: 'error' })
    expect(faults[0]?.message).toContain(message)
  })

  it('of several in one line have a position each, and the one in force', () => {
    const text =
      'policies: [{ limit: 5, job: a, scope: open },\n  { limit: 6, job: a, scope: open }, { limit: 7, job: a, scope: open }]'
    const file = parsePolicies(text)
    expect(file.faults.map((f) => [f.line, f.column, f.severity])).toEqual([
      [2, 3, 'warning'],
      [2, 38, 'warning'],
    ])
    const schedule = new PolicySchedule(file)
    schedule.advance(0)
    expect(schedule.steps(() => true).map((s) => s.state)).toEqual(['replaced', 'replaced', 'active'])
  })

  it('take a job name literally, even if it looks like a number', () => {
    for (const job of ['4690.0', '007', '1e3', '0x10', '12345678901234567890']) {
      const { policies, faults } = parsePolicies(`- { limit: 5, job: ${job}, scope: open }`)
      expect(faults).toEqual([])
      expect(policies.map((p) => p.job)).toEqual([job])
    }
  })

  it('with a name twice are refused', () => {
    const twice = parsePolicies('- { limit: 5, limit: 6, job: a, scope: open }')
    expect(twice.policies).toEqual([])
    expect(twice.faults).toMatchObject([{ line: 1, column: 15, message: '"limit" occurs twice' }])
    const lists = parsePolicies('policies: []\npolicies:\n  - { limit: 6, job: a, scope: open }\n')
    expect(lists.faults).toMatchObject([{ line: 2, column: 1, severity: 'error' }])
  })

  it('with many comments and CRLF line ends are recognized at once', () => {
    const remarks = '# remark\r\n'.repeat(5000)
    expect(parsePolicies(`${remarks}1 0 job a open 5\r\n`).policies).toHaveLength(1)
    expect(parsePolicies(`${remarks}\r\npolicies:\r\n  - { limit: 5, job: a, scope: open }\r\n`).policies).toHaveLength(
      1,
    )
  })

  it('know their format by its first words', () => {
    expect(['policies:\n', '# x\n\npolicies: []', '- { limit: 5 }', '{}'].map(looksLikeYaml)).toEqual(
      Array(4).fill(true),
    )
    expect(['', '# policies:\n', '1 0 job policies: open 5'].map(looksLikeYaml)).toEqual(Array(3).fill(false))
  })
})

describe('policies in time', () => {
  const schedule = (text: string): PolicySchedule => new PolicySchedule(parsePolicies(text))
  const states = (s: PolicySchedule, known: readonly string[]): string[] =>
    s.steps((job) => known.includes(job)).map((p) => p.state)

  it('come into force when due, all at once, and replace earlier ones', () => {
    const s = schedule(
      '1 0 job a open 5\n2 10 job a open 7\n3 10 job b open 8\n4 5 user u open 1\n5 20 demand a open 9\n',
    )
    expect(s.advance(0).map((p) => p.line)).toEqual([1])
    expect(states(s, ['a'])).toEqual(['active', 'waiting', 'waiting', 'ignored', 'waiting'])
    expect(s.nextS).toBe(5)
    expect(s.advance(15).map((p) => p.line)).toEqual([4, 2, 3])
    expect(states(s, ['a'])).toEqual(['replaced', 'active', 'unknown-job', 'ignored', 'waiting'])
    expect(s.now.map((p) => [p.job, p.value])).toEqual([
      ['a', 7],
      ['b', 8],
    ])
    s.advance(20)
    expect(s.now.map((p) => [p.kind, p.job])).toEqual([
      ['limit', 'a'],
      ['limit', 'b'],
      ['demand', 'a'],
    ])
    expect(s.nextS).toBeUndefined()
  })

  it('apply at any second the last due line of a kind, job and scope', () => {
    fc.assert(
      fc.property(
        fc.array(policy, { maxLength: 30 }),
        fc.array(fc.nat(100_000), { maxLength: 6 }),
        (drawn, seconds) => {
          const few = numbered(drawn, 1).map((p) => ({ ...p, job: p.job.length % 2 === 0 ? 'even' : 'odd' }))
          const s = new PolicySchedule({ format: 'text', policies: few, faults: [] })
          for (const at of seconds.sort((a, b) => a - b)) {
            s.advance(at)
            const expected = new Map<string, number>()
            for (const p of few.filter((q) => q.atS <= at).sort((a, b) => a.atS - b.atS || a.line - b.line)) {
              expected.set(`${p.kind} ${p.job} ${p.scope}`, p.value)
            }
            expect(new Map(s.now.map((p) => [`${p.kind} ${p.job} ${p.scope}`, p.value]))).toEqual(expected)
          }
        },
      ),
    )
  })
})
