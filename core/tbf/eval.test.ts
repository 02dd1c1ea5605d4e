import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LustreEval } from './eval.ts'

interface GoldenCase {
  id: string
  expect: string
  get_rule_errno: string
  after?: Record<string, string[]>
}

const evaluate = (line: object): Record<string, unknown> =>
  JSON.parse(new LustreEval().answer(JSON.stringify(line))) as Record<string, unknown>

/** One file abbreviates a long line to its first 60 characters and three dots. */
const abbreviated = (
  got: Record<string, string[]> | undefined,
  want: Record<string, string[]> | undefined,
): typeof got =>
  got &&
  Object.fromEntries(
    Object.entries(got).map(([head, lines]) => [
      head,
      lines.map((l, i) =>
        want?.[head]?.[i]?.endsWith('...') && l.startsWith(want[head][i].slice(0, -3)) ? want[head][i] : l,
      ),
    ]),
  )

describe('sluice eval lustre', () => {
  // lustre.jsonl was executed from the development line's code, the others are answers of running servers.
  it.each(['lustre.jsonl', 'lustre-2.15.jsonl', 'lustre-2.17.jsonl'])('answers every case of %s', (file) => {
    const lines = readFileSync(new URL(`../../tests/cases/${file}`, import.meta.url), 'utf8')
      .trim()
      .split('\n')
    expect(lines.length).toBeGreaterThan(150)
    const evaluator = new LustreEval()
    const wrong = lines.flatMap((line) => {
      const c = JSON.parse(line) as GoldenCase
      const want = { expect: c.expect, get_rule_errno: c.get_rule_errno, after: c.after }
      const answer = JSON.parse(evaluator.answer(line)) as typeof want
      const got = { ...want, ...answer, after: abbreviated(answer.after, c.after) }
      return JSON.stringify(got) === JSON.stringify(want) ? [] : [{ id: c.id, got, want }]
    })
    expect(wrong).toEqual([])
  })

  it('plays the release, the CPTs and the queues that are asked for', () => {
    const pre = ['nrs_policies=tbf jobid']
    const cmd = { param: 'nrs_tbf_rule', cmd: 'start a jobid={x} rate=5', pre, service: { cpts: 1, hp: false } }
    expect(evaluate(cmd)).toEqual({
      expect: 'ok',
      get_rule_errno: 'ok',
      after: { 'reg.0': ['a jobid={x} 5, ref 0', 'default * 10000, ref 0'] },
    })
    expect(evaluate({ ...cmd, version: '2.12' })).toMatchObject({
      after: { 'reg.0': ['a {x} 5, ref 0', 'default {*} 10000, ref 0'] },
    })
    expect(
      evaluate({ param: 'ost.OSS.ost.nrs_policies', cmd: 'orr', pre: [], service: { ost_io: false } }),
    ).toMatchObject({
      expect: 'ENOENT',
    })
    expect(evaluate({ param: 'nrs_crrn_quantum', cmd: '64', pre: ['nrs_policies=crrn'] })).toEqual({
      expect: 'ok',
      get_rule_errno: 'ENODEV',
    })
  })

  it('carries on after a pre that fails', () => {
    const pre = ['nrs_policies=abc', 'nrs_policies=tbf jobid', 'nrs_tbf_rule=start a nid={x}']
    expect(evaluate({ param: 'nrs_tbf_rule', cmd: 'change default rate=7', pre })).toMatchObject({
      expect: 'ok',
      after: { 'reg.0': ['default * 7, ref 0'] },
    })
  })

  it('writes bytes and answers text', () => {
    const pre = ['nrs_policies=tbf jobid']
    const lines = (cmd: string): unknown => evaluate({ param: 'nrs_tbf_rule', cmd, pre }).after
    expect(lines('start a jobid={été €😀}')).toMatchObject({
      'reg.0': ['a jobid={été €😀} 10000, ref 0', 'default * 10000, ref 0'],
    })
    // A job id of 4095 bytes in total, each character three bytes.
    const items = (4095 - 'start a jobid={}'.length) / 3
    expect(
      evaluate({ param: 'nrs_tbf_rule', cmd: `start a jobid={${'€'.repeat(Math.floor(items))}}`, pre }).expect,
    ).toBe('ok')
    expect(
      evaluate({ param: 'nrs_tbf_rule', cmd: `start a jobid={${'€'.repeat(Math.floor(items) + 1)}}`, pre }).expect,
    ).toBe('EINVAL')
  })

  it.each([
    ['', 'NOT_JSON'],
    ['{"param"', 'NOT_JSON'],
    ['[]', 'NOT_AN_OBJECT'],
    ['null', 'NOT_AN_OBJECT'],
    ['{}', 'MISSING_FIELD'],
    ['{"param":"nrs_tbf_rule"}', 'MISSING_FIELD'],
    ['{"param":"nrs_tbf_rule","cmd":5}', 'WRONG_TYPE'],
    ['{"param":"nrs_tbf_rule","cmd":"x","pre":"y"}', 'WRONG_TYPE'],
    ['{"param":"nrs_tbf_rule","cmd":"x","pre":["y"]}', 'WRONG_TYPE'],
    ['{"param":"nrs_tbf_rule","cmd":"x","pre":["jobid_var=y"]}', 'UNKNOWN_PARAMETER'],
    ['{"param":"toString","cmd":"x"}', 'UNKNOWN_PARAMETER'],
    ['{"param":"nrs_tbf_rule","cmd":"x","version":"2.5"}', 'UNKNOWN_VERSION'],
    ['{"param":"nrs_tbf_rule","cmd":"x","service":[]}', 'WRONG_TYPE'],
    ['{"param":"nrs_tbf_rule","cmd":"x","service":{"cpts":"2"}}', 'WRONG_TYPE'],
    ['{"param":"nrs_tbf_rule","cmd":"x","service":{"cpts":0}}', 'OUT_OF_RANGE'],
    ['{"param":"nrs_tbf_rule","cmd":"x","service":{"cpts":1e9}}', 'OUT_OF_RANGE'],
    ['{"param":"nrs_tbf_rule","cmd":"x","service":{"hp":1}}', 'WRONG_TYPE'],
  ])('answers %s with %s', (line, code) => {
    expect(JSON.parse(new LustreEval().answer(line))).toEqual({
      error: { code, message: expect.any(String) as string },
    })
  })
})
