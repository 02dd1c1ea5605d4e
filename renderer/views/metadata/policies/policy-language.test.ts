import { HighlightStyle } from '@codemirror/language'
import { highlightTree, tags } from '@lezer/highlight'
import { expect, it } from 'vitest'
import { completePolicy, policyLanguage } from './policy-language.ts'

const style = HighlightStyle.define([
  { tag: tags.comment, class: 'comment' },
  { tag: tags.keyword, class: 'kind' },
  { tag: tags.string, class: 'job' },
  { tag: tags.propertyName, class: 'scope' },
])

it('highlights the fields of each line by their order', () => {
  const text = '# day\n1 0 job bwa meta_op 500\n2 60 demand train.py open 7'
  const found: string[] = []
  highlightTree(policyLanguage.parser.parse(text), style, (from, to, name) =>
    found.push(`${name} ${text.slice(from, to)}`),
  )
  expect(found).toEqual([
    'comment # day',
    'kind job',
    'job bwa',
    'scope meta_op',
    'kind demand',
    'job train.py',
    'scope open',
  ])
})

it('completes kinds, jobs of the frame and scopes, and nothing in numbers and comments', () => {
  const names = { jobs: ['train.py', 'two words', 'trace\u202E'], scopes: ['meta_op', 'open'] }
  const offered = (marked: string, isExplicit = false) =>
    completePolicy(marked.replace('|', ''), marked.indexOf('|'), isExplicit, names)?.options ?? null
  const labels = (marked: string, isExplicit = false) => offered(marked, isExplicit)?.map(({ label }) => label) ?? null
  expect(labels('1 0 j|')).toEqual(['job'])
  expect(labels('# a\n  1 0 |', true)).toEqual(['job', 'demand'])
  expect(offered('1 0 job tr|')).toEqual([
    { label: 'train.py', apply: 'train.py' },
    { label: 'trace\uFFFD', apply: 'trace\u202E' },
  ])
  expect(labels('1 0 job a m|')).toEqual(['meta_op'])
  for (const none of ['1|', '1 0 job a meta_op 5|', '# job|', '1 0 job|', '1 0 job a |'])
    expect(labels(none)).toBeNull()
})
