import { describe, expect, it } from 'vitest'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { bindingFinder, ruleFinder, RuleMatcher, writtenLines } from './rule-matcher.ts'

const rulesOf = (...lines: string[]) =>
  parseNrsTbfRule(`regular_requests:\nCPT 0:\n${lines.map((l) => `${l}, ref 0\n`).join('')}`).rules

const find = (...lines: string[]): ((id: string) => string | undefined) => {
  const finder = ruleFinder(rulesOf(...lines), new RuleMatcher())
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

  it('is read from the short form of releases up to 2.17.0 under the type that runs', () => {
    const lines = ['two {b*} 5', 'one {a} 5', 'default {*} 10000']
    const of = ruleFinder(rulesOf(...lines), new RuleMatcher(), 'tbf jobid')
    expect(['a', 'b1', 'c'].map((id) => of(id)?.name)).toEqual(['one', 'two', undefined])
    const byUid = ruleFinder(rulesOf('five {500} 5', 'default {*} 10000'), new RuleMatcher(), 'tbf uid')
    expect(byUid('500')).toBeUndefined()
    expect(writtenLines(rulesOf(...lines), 'tbf jobid').map((r) => r.conditions)).toEqual([
      'jobid={b*}',
      'jobid={a}',
      '*',
    ])
  })

  it('takes a comma in a list of an old release for a character', () => {
    const of = ruleFinder(rulesOf('odd {a,b} 5', 'default {*} 10000'), new RuleMatcher(), 'tbf jobid')
    expect(['a', 'a,b'].map((id) => of(id)?.name)).toEqual([undefined, 'odd'])
  })

  it('names the rules that may match before the one that surely does', () => {
    const lines = [
      'w jobid={a}&opcode={ost_write} 5',
      'n nid={1.2.3.4@tcp} 5',
      'b jobid={b}&uid={0} 5',
      'all jobid={*} 5',
    ]
    const of = bindingFinder(rulesOf(...lines), new RuleMatcher(), 'tbf')
    const names = (request: Parameters<typeof of>[0]) => {
      const { sure, may } = of(request)
      return [...may.map((r) => `${r.name}?`), sure?.name]
    }
    expect(names({ jobId: 'a' })).toEqual(['w?', 'n?', 'all'])
    expect(names({ jobId: 'a', opcode: 'ost_write' })).toEqual(['w'])
    expect(names({ jobId: 'a', opcode: 'ost_read', nid: '1.2.3.4@tcp' })).toEqual(['n'])
    expect(names({ jobId: 'b', nid: '1.2.3.5@tcp' })).toEqual(['b?', 'all'])
    expect(names({ jobId: 'b', nid: '1.2.3.5@tcp', uid: 500 })).toEqual(['all'])
  })
})
