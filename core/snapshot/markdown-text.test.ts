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

it('a file that nothing renders can be read: ids, times and sentences have no entities', () => {
  const text = 'job-1dsr79.app-sx6x.user-7agt on fs-OST0001, meta_op: 2026-11-21 20:50:38.697 to 20:54:59.200 UTC'
  expect(mdText(text)).toBe(text)
  expect(mdText('--- _x_ -y :+1: a:b http://x 12:345 :12:34')).toBe(
    '&#45;&#45;&#45; &#95;x&#95; &#45;y &#58;&#43;1: a&#58;b http&#58;//x 12&#58;345 &#58;12:34',
  )
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
