import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brwSections, formatBrwStats, parseBrwStats, type BrwQuantity } from './brw-stats.ts'
import { BIN_LABELS, histogramRows, type Bins, type RowsLayout } from './histogram.ts'
import { profile } from './profile.ts'
import { formatRpcStats, modifyRows, rpcSections, type RpcQuantity } from './rpc-stats.ts'
import { parseRpcStats } from '../../tests/node/corpus/parse-rpc-stats.ts'

const times = { snapshot: '1763676486.123456789', start: '1763670000.000000000', elapsed: '6486.123456789' }
const none: Bins = new Map()
const bins = (...list: [number, number][]): Bins => new Map(list)

const HEAD = `snapshot_time:            1763676486.123456789 secs.nsecs
start_time:               1763670000.000000000 secs.nsecs
elapsed_time:             6486.123456789 secs.nsecs
`

describe('the rows of a histogram', () => {
  const layout: RowsLayout = { labels: BIN_LABELS.zeroAndPowers, from: 0, skipsEmptyStart: false }

  it('end where both sides are complete, and begin where the server begins', () => {
    const labels = (read: Bins, write: Bins, more: Partial<RowsLayout>): string[] =>
      histogramRows(read, write, { ...layout, ...more }).map((r) => r.label)
    expect(labels(bins([2, 5]), bins([4, 1]), {})).toEqual(['0', '1', '2', '4', '8'])
    expect(labels(bins([2, 5]), bins([4, 1]), { skipsEmptyStart: true })).toEqual(['2', '4', '8'])
    expect(labels(none, none, {})).toEqual(['0'])
    expect(labels(none, none, { skipsEmptyStart: true })).toEqual([])
    expect(labels(none, none, { from: 1, labels: BIN_LABELS.number })).toEqual(['1'])
    expect(labels(bins([11, 1]), none, { labels: BIN_LABELS.power, skipsEmptyStart: true })).toEqual(['2048'])
    expect(labels(bins([11, 1]), none, { labels: BIN_LABELS.shortPower, skipsEmptyStart: true })).toEqual(['2K'])
  })

  it('hold every count of bins 0 to 31', () => {
    const any = fc
      .array(fc.tuple(fc.nat(31), fc.integer({ min: 1, max: 1e6 })), { maxLength: 8 })
      .map((l) => new Map(l))
    fc.assert(
      fc.property(any, any, fc.boolean(), (read, write, skipsEmptyStart) => {
        const rows = histogramRows(read, write, { ...layout, skipsEmptyStart })
        const sum = (b: Bins): number => [...b.values()].reduce((x, y) => x + y, 0)
        expect(rows.reduce((n, r) => n + r.read, 0)).toBe(sum(read))
        expect(rows.reduce((n, r) => n + r.write, 0)).toBe(sum(write))
      }),
    )
  })
})

describe('brw_stats', () => {
  const counts = new Map<BrwQuantity, { read: Bins; write: Bins }>([
    ['pages', { read: bins([0, 10], [8, 100]), write: bins([8, 100]) }],
    ['discontiguousPages', { read: bins([0, 110]), write: bins([0, 100]) }],
    ['sizeBytes', { read: bins([12, 10], [20, 100]), write: bins([20, 100]) }],
  ])

  it('of ldiskfs and ZFS as they print them', () => {
    const print = (osd: 'ldiskfs' | 'zfs', release: '2.12' | 'dev'): string => {
      const dialect = profile(release).text.histogram
      return formatBrwStats({ times, sections: brwSections(counts, osd, dialect) }, dialect)
    }
    expect(print('ldiskfs', 'dev').split('\n').slice(0, 32).join('\n')).toBe(`${HEAD}
                           read      |     write
pages per bulk r/w     rpcs  % cum % |  rpcs        % cum %
1:		        10   9   9   |    0   0   0
2:		         0   0   9   |    0   0   0
4:		         0   0   9   |    0   0   0
8:		         0   0   9   |    0   0   0
16:		         0   0   9   |    0   0   0
32:		         0   0   9   |    0   0   0
64:		         0   0   9   |    0   0   0
128:		         0   0   9   |    0   0   0
256:		       100  90 100   |  100 100 100

                           read      |     write
discontiguous pages    rpcs  % cum % |  rpcs        % cum %
0:		       110 100 100   |  100 100 100

                           read      |     write
discontiguous blocks   rpcs  % cum % |  rpcs        % cum %

                           read      |     write
disk fragmented I/Os   ios   % cum % |  ios         % cum %

                           read      |     write
disk I/Os in flight    ios   % cum % |  ios         % cum %

                           read      |     write
I/O time (1/1000s)     ios   % cum % |  ios         % cum %
`)
    const titles = (text: string): string[] => parseBrwStats(text).sections.map((s) => s.title)
    expect(titles(print('zfs', 'dev'))).toEqual([
      'pages per bulk r/w',
      'discontiguous pages',
      'disk I/Os in flight',
      'I/O time (1/1000s)',
      'disk I/O size',
      'block maps msec',
    ])
    expect(titles(print('ldiskfs', '2.12'))).toHaveLength(7)
    expect(print('zfs', '2.12')).toMatch(/^snapshot_time: {9}1763676486\.123456789 \(secs\.nsecs\)\n\n/)
    expect(print('zfs', 'dev')).toContain('\n4K:\t\t        10   9   9   |    0   0   0\n8K:')
    for (const release of ['2.12', 'dev'] as const) {
      const text = print('ldiskfs', release)
      const read = parseBrwStats(text)
      expect(read.skipped).toEqual([])
      expect(formatBrwStats(read, profile(release).text.histogram)).toBe(text)
    }
  })

  it('that is damaged is read as far as it goes', () => {
    const { sections, skipped } = parseBrwStats('1:\t\t         1 100 100   |    0   0   0\nx\n')
    expect(sections).toEqual([])
    expect(skipped.map((s) => s.line)).toEqual([1, 2])
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'1:\t |K%read\n') }), (text) => {
        expect(parseBrwStats(text).sections).toEqual([])
      }),
    )
  })
})

describe('rpc_stats', () => {
  const counts = new Map<RpcQuantity, { read: Bins; write: Bins }>([
    ['pages', { read: none, write: bins([0, 30], [8, 62]) }],
    ['inFlight', { read: none, write: bins([1, 90], [2, 2]) }],
    ['offset', { read: none, write: bins([0, 92]) }],
    ['latencyUs', { read: none, write: bins([1, 92]) }],
  ])
  const gauges = { read: 0, write: 2, pendingWritePages: 512, pendingReadPages: 0 }

  it('of an osc as clients of 2.15 and later print it', () => {
    const old = profile('2.15').text.histogram
    const text = formatRpcStats({ times, modify: undefined, gauges, sections: rpcSections(counts, 'osc', old) }, old)
    expect(text).toBe(`${HEAD}read RPCs in flight:  0
write RPCs in flight: 2
pending write pages:  512
pending read pages:   0

			read			write
pages per rpc         rpcs   % cum % |       rpcs   % cum %
1:		         0   0   0   |         30  32  32
2:		         0   0   0   |          0   0  32
4:		         0   0   0   |          0   0  32
8:		         0   0   0   |          0   0  32
16:		         0   0   0   |          0   0  32
32:		         0   0   0   |          0   0  32
64:		         0   0   0   |          0   0  32
128:		         0   0   0   |          0   0  32
256:		         0   0   0   |         62  67 100

			read			write
rpcs in flight        rpcs   % cum % |       rpcs   % cum %
1:		         0   0   0   |         90  97  97
2:		         0   0   0   |          2   2 100

			read			write
offset                rpcs   % cum % |       rpcs   % cum %
0:		         0   0   0   |         92 100 100
`)
    expect(parseRpcStats(text)).toMatchObject({ skipped: [], gauges, modify: undefined })
    const now = profile('dev').text.histogram
    const withDio = { ...gauges, dio: 3 }
    const later = formatRpcStats(
      { times, modify: undefined, gauges: withDio, sections: rpcSections(counts, 'osc', now) },
      now,
    )
    expect(later).toContain('write RPCs in flight: 2\nDIO RPCs in flight: 3\npending write pages:  512\n')
    expect(later).toMatch(
      /\nRPC latency \(us\) {7}count {3}% cum % \| {7}count {3}% cum %\n0:\t\t {9}0 .*\n1:\t\t.*92 100 100\n$/,
    )
    expect(formatRpcStats(parseRpcStats(later), now)).toBe(later)
  })

  it('of an mdc begins with its modifying RPCs, and has two percent signs in the development line', () => {
    const now = profile('dev').text.histogram
    const text = formatRpcStats(
      {
        times,
        modify: { inFlight: 1, rows: modifyRows(bins([1, 73], [2, 1])) },
        gauges,
        sections: rpcSections(new Map(), 'mdc', now),
      },
      now,
    )
    expect(text.slice(HEAD.length).split('\n').slice(0, 16).join('\n')).toBe(`modify_RPCs_in_flight:  1

			modify
rpcs in flight        rpcs   %% cum %%
0:		         0   0   0
1:		        73  98  98
2:		         1   1 100

read RPCs in flight:  0
write RPCs in flight: 2
pending write pages:  512
pending read pages:   0

			read			write
pages per rpc         rpcs   %% cum %% |       rpcs   %% cum %%
1:		         0   0   0   |          0   0   0`)
    expect(text).not.toContain('latency')
    const read = parseRpcStats(text)
    expect(read.skipped).toEqual([])
    expect(formatRpcStats(read, now)).toBe(text)
  })

  it('that is damaged is read as far as it goes', () => {
    const { skipped } = parseRpcStats('1:\t\t         1 100 100   |          0   0   0\nread RPCs in flight: many\n\n')
    expect(skipped.map((s) => s.line)).toEqual([1, 2])
  })
})
