import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines } from './line-diff.ts'

const opsOf = (before: string, after: string): string[] =>
  diffLines(before, after).map(({ op, text }) => `${op === 'keep' ? ' ' : op === 'add' ? '+' : '-'}${text}`)

test('changed lines keep their position', () => {
  expect(opsOf('a\nb\nc\n', 'a\nx\nc\nd\n')).toEqual([' a', '-b', '+x', ' c', '+d'])
  expect(opsOf('', 'a\n')).toEqual(['+a'])
  expect(opsOf('a\n', '')).toEqual(['-a'])
  expect(opsOf('a', 'a\n')).toEqual([' a'])
})

test('the lines kept and added are the new text, those kept and taken out the old one', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const text = (l: string[]): string => l.map((x) => `${x}\n`).join('')
      const diff = diffLines(text(a), text(b))
      expect(diff.filter((d) => d.op !== 'del').map((d) => d.text)).toEqual(b)
      expect(diff.filter((d) => d.op !== 'add').map((d) => d.text)).toEqual(a)
    }),
  )
})

test('texts too long to compare are taken out and put in whole', () => {
  const text = (word: string): string => Array.from({ length: 2_000 }, (_, i) => `${word}${i}`).join('\n')
  const diff = diffLines(text('a'), text('b'))
  expect(diff.slice(0, 2_000).every((d) => d.op === 'del')).toBe(true)
  expect(diff.slice(2_000).every((d) => d.op === 'add')).toBe(true)
})
