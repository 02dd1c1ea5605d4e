import { expect, it } from 'vitest'
import { formatRate } from '#core/base/figure-text.ts'
import { scaled, scaleOf } from './measures.ts'

it('bytes have the unit of the product, and one scale for the whole series', () => {
  for (const value of [0, 940_000, 12_300_000, 999_949_999, 1e9, 9.99e9, 1e10, 4.2e11]) {
    const { text, unit } = formatRate(value)
    const scale = scaleOf(value, 'bytes', '')
    expect([scaled(value, scale), scale.unit]).toEqual([text, unit])
  }
  expect(scaled(3_000_000, scaleOf(2e10, 'bytes', ''))).toBe('0.0')
})

it('a large count is shortened; a gap is a dash, never zero', () => {
  const rpcs = scaleOf(148_200, 'count', 'RPC/s')
  expect([scaled(148_200, rpcs), rpcs.unit]).toEqual(['148.2', 'k RPC/s'])
  expect(scaleOf(148_200, 'plain', 'RPCs').unit).toBe('RPCs')
  expect([null, undefined].map((none) => scaled(none, rpcs))).toEqual(['\u2013', '\u2013'])
})
