import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { profile } from './profile.ts'
import { RELEASES } from './release.ts'
import { formatStatsTable, parseStatsTable, type StatsTable } from './stats-table.ts'
import { formatSeconds, showsStart, statsTimes } from './stats-times.ts'

const HEAD = `snapshot_time                       1763676486.123456789 secs.nsecs
start_time                          1763670000.000000000 secs.nsecs
elapsed_time                        6486.123456789 secs.nsecs
`
const TABLE = `${HEAD}req_waittime                        1200 samples [usecs] 5 90123 240000 9876543210
req_qdepth                          1200 samples [reqs] 0 14 900 3100
granted                             388 samples [locks] 1 9 638
slv                                 388 samples [lock.secs] -3 10665000000 1386436068000
ldlm_enqueue                        113 samples [reqs]
`
const times = { snapshot: '1763676486.123456789', start: '1763670000.000000000', elapsed: '6486.123456789' }

const table: fc.Arbitrary<StatsTable> = fc.record({
  times: fc.constantFrom(times, { snapshot: '17.000000001' }),
  rows: fc.array(
    fc
      .record({
        name: fc.constantFrom('read_bytes', 'a_name_longer_than_any_of_the_columns_is_wide', 'ldlm_ibits_enqueue'),
        samples: fc.nat(),
        unit: fc.constantFrom('usecs', 'reqs', 'lock.secs', 'locks/s'),
        range: fc.option(fc.record({ min: fc.integer(), max: fc.integer(), sum: fc.maxSafeInteger() }), {
          nil: undefined,
        }),
        sumsq: fc.constant(undefined),
      })
      .chain((row) =>
        row.range === undefined
          ? fc.constant(row)
          : fc
              .option(fc.bigInt({ min: 0n, max: 2n ** 64n }), { nil: undefined })
              .map((n) => ({ ...row, sumsq: n?.toString() })),
      ),
    { maxLength: 6 },
  ),
})

describe('a table of counters', () => {
  it('has rows of three shapes, distinguished by their columns', () => {
    const { rows, skipped, times: read } = parseStatsTable(TABLE)
    expect(skipped).toEqual([])
    expect(read).toEqual(times)
    expect(rows.map((r) => [r.name, r.samples, r.unit, r.range?.max, r.sumsq])).toEqual([
      ['req_waittime', 1200, 'usecs', 90123, '9876543210'],
      ['req_qdepth', 1200, 'reqs', 14, '3100'],
      ['granted', 388, 'locks', 9, undefined],
      ['slv', 388, 'lock.secs', 10665000000, undefined],
      ['ldlm_enqueue', 113, 'reqs', undefined, undefined],
    ])
    expect(formatStatsTable({ times: read, rows }, profile('dev').text)).toBe(TABLE)
  })

  it('has a narrower column of names before the development line', () => {
    expect(formatStatsTable(parseStatsTable(TABLE), profile('2.17').text)).toContain(
      '\nreq_qdepth                1200 samples [reqs] 0 14 900 3100\n',
    )
  })

  it.each(RELEASES)('of %s comes back as it was printed', (release) => {
    fc.assert(
      fc.property(table, (t) => {
        const { skipped, ...read } = parseStatsTable(formatStatsTable(t, profile(release).text))
        expect(skipped).toEqual([])
        expect(read).toEqual(t)
      }),
    )
  })

  it('that is damaged is parsed as far as possible, and unreadable lines are reported', () => {
    const { rows, skipped } = parseStatsTable(`${HEAD}nonsense\nread 3 samples [usecs] 1 2\nwrite 4 samples [usecs]\n`)
    expect(rows.map((r) => r.name)).toEqual(['write'])
    expect(skipped.map((s) => s.line)).toEqual([4, 5])
    fc.assert(
      fc.property(fc.string(), fc.nat(TABLE.length), (noise, at) => {
        const text = TABLE.slice(0, at) + noise + TABLE.slice(at)
        const read = parseStatsTable(text)
        expect(read.rows.length + read.skipped.length).toBeLessThanOrEqual(text.split('\n').length)
      }),
    )
  })

  it('includes its start, in releases that print it, unless enable_stats_header is 0', () => {
    const shown = (statsHeader: boolean): boolean[] => RELEASES.map((r) => showsStart(profile(r).text, statsHeader))
    expect(shown(true)).toEqual([false, true, true, true, true])
    expect(shown(false)).toEqual([false, true, true, false, false])
    expect(statsTimes(1_763_670_000, 6_486_123_456_789, 0)).toEqual(times)
    expect(statsTimes(1_763_670_000, 5, undefined)).toEqual({
      snapshot: '1763670000.000000005',
      start: undefined,
      elapsed: undefined,
    })
    expect(formatSeconds(999_999_999)).toBe('0.999999999')
  })
})
