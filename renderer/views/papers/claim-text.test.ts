import { expect, it } from 'vitest'
import {
  boundText,
  figure,
  measuredText,
  publishedText,
  remarks,
  shortId,
  systemName,
  tally,
  verdict,
} from './claim-text.ts'
import { claimResult, paperClaim, papersResult } from '#tests/kits/renderer/views/papers-host.ts'

it.each([
  [0.99891, '0.9989'],
  [-0.00138, '\u22120.0014'],
  [1040, '1\u202F040'],
  [0, '0'],
  [1e-9, '0'],
  [0.0000123, '0.000012'],
  [null, '\u2013'],
])('%d is written %s', (value, text) => {
  expect(figure(value)).toBe(text)
})

it.each([
  [{ comparator: '>=', bound: 0.98 }, '\u2265 0.98'],
  [{ comparator: 'between', bound: [-0.55, -0.3] }, '\u22120.55 to \u22120.3'],
  [{ comparator: 'info', bound: null }, '\u2013'],
] as const)('%j is the bound %s', (bound, text) => {
  expect(boundText(paperClaim(bound as Partial<ReturnType<typeof paperClaim>>))).toBe(text)
})

it('formats published values as in the paper, and a table by its entries in order', () => {
  expect(publishedText(paperClaim({ published: 'minimal loss' }))).toBe('minimal loss')
  expect(publishedText(paperClaim({ published: 0.1 }))).toBe('0.1')
  expect(publishedText(paperClaim({ published: null }))).toBe('\u2013')
  expect(measuredText({ '2': 5, '0.1': 230.81, '1': null })).toBe('0.1: 230.8, 1: \u2013, 2: 5')
})

it('shows the result as glyph and word, and the reason if a claim is not reached', () => {
  expect(verdict(paperClaim())).toEqual({ level: 'idle', word: 'not run' })
  expect(verdict(claimResult())).toEqual({ level: 'ok', word: 'holds' })
  expect(verdict(claimResult({ comparator: 'info', bound: null }))).toEqual({ level: 'idle', word: 'not asserted' })
  const missed = claimResult({ ok: false, measured: 0.5, failed_seeds: [1, 3] })
  expect(verdict(missed)).toEqual({ level: 'bad', word: 'not reached' })
  expect(remarks(missed)).toEqual([
    'Not reached: 0.5 measured, \u2265 0.98 required. No reason is recorded.',
    'Not reached on seed 1, 3 alone.',
  ])
  expect(remarks({ ...missed, note: 'Cannot be reached.' })[0]).toBe('Cannot be reached.')
  expect(remarks(claimResult())).toEqual([])
})

it('counts what was asserted, and names systems and experiments', () => {
  const claims = [claimResult(), claimResult({ ok: false }), claimResult({ comparator: 'info' })]
  expect(tally(papersResult({ claims }))).toEqual({ held: 1, asserted: 2 })
  expect([systemName('adaptbf'), systemName('other')]).toEqual(['AdapTBF', 'other'])
  expect(shortId({ id: 'adaptbf.IV-F-endless', system: 'adaptbf' })).toBe('IV-F-endless')
})
