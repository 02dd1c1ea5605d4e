import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldAt, formatLine, looksLikeYaml, nextRule, readLines, withLine, withPolicy } from './policy-lines.ts'

const TEXT = '# day\n\n1 20 job app1 meta_op 5000\n2  0\tdemand app2 open 30000\n'

describe('policy lines', () => {
  it('are parsed with their places; comments and blank lines are skipped', () => {
    const [first, second] = readLines(TEXT)
    expect(first).toMatchObject({ line: 3, fields: { rule: '1', at: '20', kind: 'job', job: 'app1', value: '5000' } })
    expect(second).toMatchObject({ line: 4, fields: { kind: 'demand', scope: 'open' }, columns: { rule: 1, at: 4 } })
  })
  it('are rewritten one by one, and the rest of the text stays as it is', () => {
    const [first] = readLines(TEXT)
    const edited = withLine(TEXT, 3, { ...first!.fields, value: '70' })
    expect(edited).toBe('# day\n\n1 20 job app1 meta_op 70\n2  0\tdemand app2 open 30000\n')
    expect(withLine(TEXT, 3, null)).toBe('# day\n\n2  0\tdemand app2 open 30000\n')
    expect(withPolicy('', first!.fields)).toBe('1 20 job app1 meta_op 5000\n')
    expect(nextRule(readLines(TEXT))).toBe('3')
  })
  it('hold what is typed in every field, filled in or not', () => {
    const field = fc.string({ maxLength: 12 }).map((s) => s.replace(/[\s?]/g, ''))
    const fields = fc.record({ rule: field, at: field, kind: field, job: field, scope: field, value: field })
    fc.assert(
      fc.property(fields, (f) => {
        fc.pre(!f.rule.startsWith('#'))
        expect(readLines(formatLine(f))[0]?.fields).toEqual(f)
      }),
    )
  })
  it('name the field that a column points at', () => {
    const [, second] = readLines(TEXT)
    expect([1, 4, 6, 13, 18, 23].map((c) => fieldAt(second!, c))).toEqual([
      'rule',
      'at',
      'kind',
      'job',
      'scope',
      'value',
    ])
    expect(fieldAt(readLines('1 20 job')[0]!, 9)).toBe('job')
  })
  it('are distinguished from YAML', () => {
    expect(['policies:\n  - job: a', '- job: a', '{"a":1}', '---', '# c\njob: a'].map(looksLikeYaml)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ])
    expect([TEXT, '', '# only', 'x 1 job a b 2'].map(looksLikeYaml)).toEqual([false, false, false, false])
  })
})
