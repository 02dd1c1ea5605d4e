import { isControllerRule } from '../controllers/registry.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCommandLine } from '../emulator/shell/command-line.ts'
import { setParamCommand } from '../lustre/lctl.ts'
import { parseConditions } from '../tbf/conditions.ts'
import { parseRuleCommand, RULE_NAME_MAX } from '../tbf/rule-command.ts'
import type { Decision } from './controller.ts'
import { RULES_MAX, desiredRules, isMatchable, ruleName } from './desired-rule.ts'

const bytes = fc.array(fc.nat(255), { maxLength: 33 }).map((codes) => String.fromCharCode(...codes))
const typical = fc.string({
  unit: fc.constantFrom('a', 'b', '1', '.', '_', '-', ':', '@', '/', '='),
  minLength: 1,
  maxLength: 31,
})
const jobId = fc.oneof(bytes, typical, fc.string({ maxLength: 33 }))

const decision = (target: string, allocations: readonly (readonly [string, number])[]): Decision => ({
  target,
  atNs: 0,
  budget: 100,
  allocations: allocations.map(([id, ratePerSec]) => ({ jobId: id, tokens: 1, ratePerSec, record: 0, recordDelta: 0 })),
  records: new Map(),
})

describe('isMatchable', () => {
  it('takes only ids whose rule matches them and no other id, all the way through a shell and the grammar', () => {
    let taken = 0
    fc.assert(
      fc.property(jobId, fc.array(jobId, { maxLength: 30 }), (id, others) => {
        if (!isMatchable(id)) return
        taken++
        const { rules } = desiredRules('adaptbf', 'oss01', [decision('t', [[id, 5]])])
        const { name, conditions, rate } = rules[0]!
        const value = `reg start ${name} ${conditions} rate=${rate}`
        const line = parseCommandLine(setParamCommand('nrs_tbf_rule', value))
        expect(line).toEqual({
          ok: true,
          value: [{ words: ['lctl', 'set_param', `nrs_tbf_rule=${value}`], after: ';' }],
        })
        const command = parseRuleCommand(value)
        if (!command.ok || command.value.verb !== 'start') throw new Error(value)
        expect(command.value).toMatchObject({ queue: 'reg', name, rate: 5, conditions })
        const parsed = parseConditions(command.value.conditions, ['jobid'])
        if (!parsed.ok) throw new Error(value)
        const near = [id.slice(1), `${id}x`, id.toUpperCase(), id.replace('.', 'x'), '', '*', `${id} `]
        for (const other of [id, ...others, ...near]) {
          expect(parsed.value.matches({ jobId: other, nid: '0@lo' }), JSON.stringify(other)).toBe(other === id)
        }
      }),
      { numRuns: 2000 },
    )
    expect(taken).toBeGreaterThan(200)
  })

  it('refuses ids with a meaning in the grammar or a shell, and ids that no server stores', () => {
    const meaning = [
      ' ',
      ',',
      '&',
      '*',
      '{',
      '}',
      "'",
      '"',
      '\\',
      '$',
      '`',
      ';',
      '|',
      '<',
      '>',
      '(',
      ')',
      '!',
      '?',
      '[',
      ']',
    ]
    const invisible = ['\0', '\t', '\n', '\r', '\x7f', '\u0080', '\u00a0', '\u00e9', '\u20ac']
    for (const c of [...meaning, ...invisible]) {
      for (const id of [c, `a${c}`, `${c}a`, `a${c}a`]) expect(isMatchable(id), JSON.stringify(id)).toBe(false)
    }
    expect(isMatchable('')).toBe(false)
    expect(isMatchable('a'.repeat(31))).toBe(true)
    expect(isMatchable('a'.repeat(32))).toBe(false)
  })

  it('takes the ids that schedulers and Lustre make', () => {
    for (const id of ['4690', 'dd.500', '4690.train.py.u1021', 'cp.0:node-01', 'a/b@c', '12_3', 'procname+x']) {
      expect(isMatchable(id), id).toBe(true)
    }
  })
})

describe('rule names', () => {
  it('are ours, fit a server, and differ by controller, server and job', () => {
    const names = ['adaptbf', 'static'].flatMap((c) =>
      ['oss01', 'oss02'].flatMap((s) => ['a', 'b'].map((j) => ruleName(c as 'adaptbf' | 'static', s, j))),
    )
    expect(new Set(names).size).toBe(8)
    for (const name of names) {
      expect(isControllerRule(name)).toBe(true)
      expect(name).toMatch(/^[A-Za-z0-9_]+$/)
      expect(name.length).toBeLessThanOrEqual(RULE_NAME_MAX)
    }
  })

  it('of everyone else are not ours', () => {
    for (const name of [
      'default',
      'ab_',
      'ab_123',
      'ab_0123456789a',
      'xab_0123456789',
      'AB_0123456789',
      'ab_012345678G',
      'st_',
    ]) {
      expect(isControllerRule(name), name).toBe(false)
    }
  })
})

describe('desiredRules', () => {
  it('sums the allocations of a server’s targets by job, and keeps their order', () => {
    const { rules, skipped } = desiredRules('adaptbf', 'oss01', [
      decision('OST0000', [
        ['b', 30],
        ['a', 10],
      ]),
      decision('OST0001', [
        ['a', 5],
        ['bad id', 7],
        ['c', 1],
      ]),
    ])
    expect(rules.map((r) => [r.conditions, r.rate])).toEqual([
      ['jobid={b}', 30],
      ['jobid={a}', 15],
      ['jobid={c}', 1],
    ])
    expect(skipped.unmatchable).toBe(1)
  })

  it('wants rates that a server takes, also where several targets add up', () => {
    const all = Array.from({ length: 4 }, (_, i) => decision(`OST${i}`, [['a', 600_000]]))
    const { rules } = desiredRules('static', 'oss01', all)
    const command = parseRuleCommand(`reg start ${rules[0]!.name} ${rules[0]!.conditions} rate=${rules[0]!.rate}`)
    expect(command.ok).toBe(true)
  })

  it('wants nothing without a controller', () => {
    expect(desiredRules('none', 'oss01', [decision('t', [['a', 1]])])).toEqual({
      rules: [],
      skipped: { unmatchable: 0, overCap: 0 },
    })
  })
})

describe('the fence on the number of rules', () => {
  it('keeps the first ones, which have the highest priority, and counts the rest', () => {
    const many = Array.from({ length: RULES_MAX + 7 }, (_, i) => [`${i}.job`, 5] as [string, number])
    const { rules, skipped } = desiredRules('adaptbf', 'oss01', [decision('OST0000', many)])
    expect(rules).toHaveLength(RULES_MAX)
    expect(rules[0]?.conditions).toBe('jobid={0.job}')
    expect(skipped).toEqual({ unmatchable: 0, overCap: 7 })
  })
})
