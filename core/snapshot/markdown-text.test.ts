import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mdFence, mdLines, mdText } from './markdown-text.ts'

it.each([
  ['a link', '[x](javascript:alert(1))'],
  ['an image that phones home', '![x](http://evil/p.png)'],
  ['markup', '<img src=x onerror=alert(1)>'],
  ['a link without brackets', 'see http://evil.example and www.evil.example'],
  ['a heading', '# x'],
  ['a heading by the line under it', 'x\n==='],
  ['a list', '1. x'],
  ['a cell that ends', 'a | b'],
  ['code that ends', 'a `` b ```'],
  ['somebody who is called', '@root #1'],
  ['an entity', '&lt;script&gt;'],
])('%s in a name is its characters', (_, text) => {
  for (const made of [mdText(text), mdLines(text)]) {
    expect(made).not.toMatch(/[<>[\]()|`!*_~=]|(?<!&)#|&(?!#\d+;|amp;|lt;|gt;)|:\/\/|www\.|^\d+\. /i)
  }
})

it('what is written is what is read: every character comes back', () => {
  const read = (text: string): string =>
    text
      .replace(/&#(\d+);/g, (_, n) => String.fromCharCode(Number(n)))
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&amp;/g, '&')
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (text) => {
      expect(read(mdText(text))).toBe(text.replace(/^\s+/, ''))
    }),
  )
})

it('a fence is longer than any run of backticks in it, and nothing ends it', () => {
  const runs = fc
    .array(fc.constantFrom('`', '``', '```', '````\n', 'x', '\n', '~~~'), { maxLength: 20 })
    .map((p) => p.join(''))
  fc.assert(
    fc.property(runs, (text) => {
      const lines = mdFence(text).split('\n')
      const fence = lines[0] ?? ''
      expect(fence).toMatch(/^`{3,}$/)
      expect(lines.slice(1, -1).some((l) => l.trimStart().startsWith(fence))).toBe(false)
      expect(lines.at(-1)).toBe(fence)
    }),
  )
})
