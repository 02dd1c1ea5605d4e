import { describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatClock,
  formatCount,
  formatCountdown,
  formatDate,
  formatNumber,
  formatPercent,
  formatRate,
  formatSigned,
  formatSpan,
  formatTick,
  plural,
} from './units.ts'

const NB = '\u202F'

describe('numbers', () => {
  it('groups thousands with a thin space and uses the minus sign', () => {
    expect(formatNumber(1234567)).toBe(`1${NB}234${NB}567`)
    expect(formatNumber(-18420)).toBe(`\u221218${NB}420`)
    expect(formatNumber(9999.96, 1)).toBe(`10${NB}000.0`)
  })
  it('shows a dash for what was not measured, and no sign on zero', () => {
    expect([formatNumber(null), formatNumber(undefined), formatNumber(NaN)]).toEqual(['\u2013', '\u2013', '\u2013'])
    expect([formatNumber(-0.04, 1), formatSigned(0.04, 1), formatSigned(0)]).toEqual(['0.0', '0.0', '0'])
    expect([formatSigned(420), formatSigned(-1), formatSigned(null)]).toEqual(['+420', '\u22121', '\u2013'])
  })
  it('never shows what is no number as one', () => {
    for (const bad of [NaN, Infinity, -Infinity]) {
      expect([formatNumber(bad), formatSigned(bad), formatPercent(bad), formatBytes(bad)]).toEqual(
        Array(4).fill('\u2013'),
      )
      expect([formatRate(bad).text, formatCount(bad, '', 'k').text, formatTick(bad)]).toEqual(Array(3).fill('\u2013'))
      expect([formatCountdown(bad), formatSpan(bad)]).toEqual(['\u2013', '\u2013'])
    }
    expect([formatRate(null).text, formatCount(null, '', 'k').text, plural(null, 'job')]).toEqual([
      '\u2013',
      '\u2013',
      '\u2013 jobs',
    ])
  })
  it('keeps decimals fixed', () => {
    expect([0.1, 2, 30.04].map((v) => formatNumber(v, 1))).toEqual(['0.1', '2.0', '30.0'])
    expect(formatPercent(0.419, 1)).toBe(`41.9${NB}%`)
  })
})

describe('measures', () => {
  it('uses decimal units for rates and binary ones for sizes', () => {
    expect(formatRate(841_700_000)).toMatchObject({ text: '841.7', unit: 'MB/s' })
    expect(formatRate(18_400_000_000)).toMatchObject({ text: '18.4', unit: 'GB/s' })
    expect(formatRate(null).text).toBe('\u2013')
    expect([262_144, 1_572_864, 512, 4_194_304].map(formatBytes)).toEqual(['256 KiB', '1.5 MiB', '512 B', '4 MiB'])
  })
  it('shortens counts and ticks', () => {
    expect(formatCount(9999, 'RPC/s', 'k/s')).toMatchObject({ text: `9${NB}999`, unit: 'RPC/s' })
    expect(formatCount(148_200, 'RPC/s', 'k/s')).toMatchObject({ text: '148.2', unit: 'k/s' })
    expect([0, 500, 20_000, -20_000, 2_500_000, 0.25].map(formatTick)).toEqual([
      '0',
      '500',
      '20 k',
      '\u221220 k',
      '2.5 M',
      '0.25',
    ])
  })
})

describe('times', () => {
  const at = Date.UTC(2026, 10, 19, 14, 32, 7, 480)
  it('reads the clock of the source, in UTC', () => {
    expect([formatClock(at), formatClock(at, false), formatClock(at, true, 1)]).toEqual([
      '14:32:07',
      '14:32',
      '14:32:07.4',
    ])
    expect([formatClock(null), formatDate(at)]).toEqual(['--:--:--', 'Thu 19 Nov'])
  })
  it('counts down and says how long', () => {
    expect([199_000, 3_850_000, -5].map(formatCountdown)).toEqual(['03:19', '1:04:10', '00:00'])
    expect([12_000, 263_000, 300_000, 7_500_000].map(formatSpan)).toEqual(['12 s', '4 min 23 s', '5 min', '2 h 5 min'])
    expect([plural(1, 'job'), plural(10, 'job')]).toEqual(['1 job', '10 jobs'])
  })
})
