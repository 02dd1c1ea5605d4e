import { describe, expect, it } from 'vitest'
import { highlightTree } from '@lezer/highlight'
import { HighlightStyle } from '@codemirror/language'
import { tags } from '@lezer/highlight'
import { completeRule, ruleLanguage } from './rule-language.ts'

const style = HighlightStyle.define([
  { tag: tags.keyword, class: 'verb' },
  { tag: tags.labelName, class: 'name' },
  { tag: tags.propertyName, class: 'field' },
  { tag: tags.string, class: 'item' },
  { tag: tags.number, class: 'number' },
])
function words(text: string): (readonly [string, string])[] {
  const out: (readonly [string, string])[] = []
  highlightTree(ruleLanguage.parser.parse(text), style, (from, to, name) => out.push([text.slice(from, to), name]))
  return out
}

it('highlights verb, name, fields, items and numbers', () => {
  expect(words('reg start hog jobid={4690.* b}&uid={500} rate=25')).toEqual([
    ['reg', 'verb'],
    ['start', 'verb'],
    ['hog', 'name'],
    ['jobid', 'field'],
    ['4690.*', 'item'],
    ['b', 'item'],
    ['uid', 'field'],
    ['500', 'item'],
    ['rate', 'field'],
    ['25', 'number'],
  ])
  expect(words('anything {goes')).toEqual([
    ['anything', 'item'],
    ['goes', 'item'],
  ])
})

describe('completion', () => {
  /** Labels offered at `|`. */
  const offered = (marked: string, isExplicit = false): string[] | null =>
    completeRule(marked.replace('|', ''), marked.indexOf('|'), isExplicit)?.options.map(({ label }) => label) ?? null

  it('offers the verbs, then the fields, then rate and position', () => {
    expect(offered('st|')).toEqual(['start', 'stop'])
    expect(offered('reg c|')).toEqual(['change'])
    expect(offered('reg start hog j|')).toEqual(['jobid'])
    expect(offered('start hog jobid={a}&|', true)).toContain('opcode')
    expect(offered('start hog jobid={a} ra|')).toEqual(['rate', 'rank'])
    expect(offered('change hog r|')).toEqual(['rate', 'rank', 'realtime'])
  })

  it('offers RPCs only for opcode', () => {
    expect(offered('start hog opcode={ost_w|} rate=1')).toEqual(['ost_write'])
    expect(offered('start hog jobid={ost_w|} rate=1')).toBeNull()
  })

  it('offers nothing for a whole word, a name, or without a word unless asked', () => {
    expect(offered('start|')).toBeNull()
    expect(offered('start h|')).toBeNull()
    expect(offered('|')).toBeNull()
    expect(offered('|', true)).toEqual(['start', 'change', 'stop', 'reg', 'hp'])
  })

  it('begins where the word does', () => {
    expect(completeRule('reg sta', 7, false)).toMatchObject({ from: 4 })
  })
})
