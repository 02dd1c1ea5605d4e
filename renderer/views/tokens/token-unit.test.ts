import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  gaugeTokens,
  inMicros,
  inTokens,
  readTokens,
  roundTokens,
  shortTokens,
  tokenUnit,
  typedTokens,
} from './token-unit.ts'

const NB = '\u202F'

describe('a formatted count', () => {
  it('is in thousands from 10 000 on, and small thousands keep a decimal', () => {
    const k = tokenUnit(220_000)
    expect(k.word).toBe('k tokens')
    expect([220_000, 8000, 840, 0, 9949, 9950].map((v) => inTokens(k, v))).toEqual([
      '220',
      '8.0',
      '0.8',
      '0',
      '9.9',
      '10',
    ])
    expect([0, 220_000].map((v) => inTokens(k, v, true))).toEqual(['0.0', '220.0'])
    expect(inTokens(tokenUnit(9999), 2400)).toBe(`2${NB}400`)
    expect(inTokens(k, null)).toBe('\u2013')
  })
  it('has its own unit if it is shown alone', () => {
    expect([8400, -12_600, 314_000, 1_568_000, 12_000_000, 437, 0].map(shortTokens)).toEqual([
      '8.4 k',
      '\u221212.6 k',
      '314 k',
      `1${NB}568 k`,
      '12.0 M',
      '437',
      '0',
    ])
    expect([-2_400_000, 314_000].map(gaugeTokens)).toEqual(['\u22122.4 M', '314 k'])
    expect([1000, 50_000, 1_500_000].map(roundTokens)).toEqual(['1 k', '50 k', '1.5 M'])
    expect([410, 4200, 1_300_000, null].map(inMicros)).toEqual(['410 \u00B5s', '4.2 ms', '1.30 s', '\u2013'])
  })
})

describe('a typed count', () => {
  const tokensOf = (text: string): number | null | undefined => {
    const read = readTokens(text)
    return 'fault' in read ? undefined : read.tokens
  }
  it('may have spaces and suffixes, and is exact', () => {
    expect(['220000', `220${NB}000`, ' 220 k ', '1.5M', '0', '', '0.0', '-0', '2.000'].map(tokensOf)).toEqual([
      220_000,
      220_000,
      220_000,
      1_500_000,
      0,
      null,
      0,
      0,
      2,
    ])
  })
  it('is refused with a reason if it is not valid', () => {
    const faultOf = (text: string): string => {
      const read = readTokens(text)
      return 'fault' in read ? read.fault : ''
    }
    expect(faultOf('-5')).toContain('cannot be negative')
    expect(faultOf('\u22125k')).toContain('cannot be negative')
    expect(faultOf('12.5')).toContain('must be a whole number')
    expect(faultOf('1.0005k')).toContain('must be a whole number')
    expect(faultOf('1,500')).toContain('a comma is ambiguous')
    expect(faultOf('9007199254740992')).toContain('counted exactly')
    expect(faultOf('9'.repeat(60))).toContain('counted exactly')
    for (const text of ['1e9', 'NaN', 'Infinity', '0x10', '<img>', '1 2 3 k k', '.5', '--1'])
      expect(faultOf(text)).not.toBe('')
  })
  it('reads back every count as it is shown', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (n) => {
        expect(readTokens(typedTokens(n))).toEqual({ tokens: n })
      }),
    )
    expect(readTokens(typedTokens(null))).toEqual({ tokens: null })
  })
})
