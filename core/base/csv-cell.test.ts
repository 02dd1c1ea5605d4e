import { expect, it } from 'vitest'
import { csvCell, guardedText } from './csv-cell.ts'

it('quotes only what must be', () => {
  const texts = ['a', 'a b', 'a,b', 'a"b', ' a', '', '=a', 'a=b', 'two\nlines']
  expect(texts.map(csvCell)).toEqual(['a', 'a b', '"a,b"', '"a""b"', '" a"', '', "'=a", 'a=b', '"two\nlines"'])
})

it.each(['=1+1', '+1', '-2', '@SUM(A1)', '\t=1', ' \r=1', '\u0000=1', '\u00a0@x', '|calc', '%1', '＝1'])(
  'a text like %j is not executed by a spreadsheet',
  (text) => {
    expect(guardedText(text)).toBe(`'${text}`)
  },
)
