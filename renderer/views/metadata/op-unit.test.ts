import { describe, expect, it } from 'vitest'
import { inUnit, opRate, opUnit, readRate } from './op-unit.ts'

const NB = '\u202F'
const plain = opUnit(9_999, 'open')
const kilo = opUnit(10_000, 'meta_op')
const mega = opUnit(2e9, 'data_op')

describe('operations per second', () => {
  it('share one unit by the largest, and a value above 0 never reads as 0', () => {
    expect([plain.word, kilo.word]).toEqual(['op/s', 'k op/s'])
    expect([inUnit(kilo, 108_240), inUnit(kilo, 12), inUnit(kilo, 0), inUnit(kilo, null)]).toEqual([
      '108.2',
      '<0.1',
      '0.0',
      '\u2013',
    ])
    expect([inUnit(plain, 9_400), inUnit(plain, 0.2)]).toEqual([`9${NB}400`, '<1'])
    expect([opRate(110_000), opRate(940)]).toEqual(['110.0 k op/s', '940 op/s'])
  })
})

describe('bytes per second', () => {
  it('are the unit of data scopes, in rates and in limits', () => {
    expect([mega.word, opUnit(900, 'read').word, opUnit(900, 'mmap').word]).toEqual(['MB/s', 'B/s', 'op/s'])
    expect(inUnit(mega, 1_234_567_890)).toBe(`1${NB}234.6`)
    expect(['500', '500 MB/s', '2G', '750 B/s'].map((text) => readRate(text, mega))).toEqual([
      { rate: 5e8 },
      { rate: 5e8 },
      { rate: 2e9 },
      { rate: 750 },
    ])
    expect(readRate('5 op/s', mega)).toMatchObject({ fault: expect.stringContaining('B/s') as string })
  })
})

describe('a limit as it is typed', () => {
  it.each([
    ['110', 110_000],
    ['110.5', 110_500],
    ['110k', 110_000],
    ['1.2 M', 1_200_000],
    ['940 op/s', 940],
    [`110${NB}000 op/s`, 110_000],
    ['12 k op/s', 12_000],
    ['', null],
    ['none', null],
  ])('%s', (text, rate) => {
    expect(readRate(text, kilo)).toEqual({ rate })
  })
  it.each(['-5', '0', '1e9', 'NaN', 'abc', '5 GB/s', '1.2.3'])('%s is refused with what was expected', (text) => {
    expect(readRate(text, kilo)).toHaveProperty('fault')
  })
  it('counts a bare number in the unit that is shown', () => {
    expect(readRate('940', plain)).toEqual({ rate: 940 })
  })
})
