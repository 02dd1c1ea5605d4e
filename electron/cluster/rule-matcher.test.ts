import { describe, expect, it } from 'vitest'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { ruleFinder, RuleMatcher } from './rule-matcher.ts'

const find = (...lines: string[]): ((id: string) => string | undefined) => {
  const { rules } = parseNrsTbfRule(`regular_requests:\nCPT 0:\n${lines.map((l) => `${l}, ref 0\n`).join('')}`)
  const finder = ruleFinder(rules, new RuleMatcher())
  return (id) => finder(id)?.name
}

describe('the rule of a job', () => {
  it('is the first that matches, and none where only the default does', () => {
    const of = find('two jobid={b} 5', 'one jobid={a} 5', 'again jobid={a} 9', 'default * 10000')
    expect(['a', 'b', 'c', '*'].map(of)).toEqual(['one', 'two', undefined, undefined])
  })

  it.each([
    ['a pattern', 'any jobid={a*} 5'],
    ['a list', 'any jobid={x ab} 5'],
    ['alternatives', 'any jobid={x},jobid={ab} 5'],
  ])('is found behind %s too, in match order', (_, line) => {
    expect(find(line, 'exact jobid={ab} 5', 'default * 10000')('ab')).toBe('any')
    expect(find('exact jobid={ab} 5', line, 'default * 10000')('ab')).toBe('exact')
  })

  it('is not guessed where a rule asks for more than the job id', () => {
    expect(find('more jobid={a}&opcode={ost_write} 5', 'nodes nid={1.2.3.4@tcp} 5', 'exact jobid={a} 5')('a')).toBe(
      'exact',
    )
  })
})
