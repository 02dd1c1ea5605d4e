import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatCounter, formatEntryHead, OST_COUNTERS, type PrintableCounter } from './job-stats-print.ts'
import { parseJobStats, type JobEntry } from './job-stats.ts'
import { profile } from './profile.ts'

const DIALECT = profile('dev').text.jobStats
const NAMES = OST_COUNTERS(profile('dev'))

interface PrintedEntry {
  jobId: string
  snapshot: string
  start: string
  counters: Map<string, PrintableCounter>
}

const anyBytes = (min: number, max: number): fc.Arbitrary<string> =>
  fc.array(fc.nat(255), { minLength: min, maxLength: max }).map((codes) => String.fromCharCode(...codes))

const hostile = fc.constantFrom(
  ' ',
  '"',
  '"x"',
  'job_id:',
  '- job_id:',
  '\n- job_id:          root',
  'a: { samples: 9 }',
  '\\x41',
  '"\\x22"',
  '@at',
  '-rf',
  '\u0000',
  '\u00ff\u00fe',
  '\u00c3\u00a9t\u00c3\u00a9',
)
const jobId = fc.oneof(
  anyBytes(1, 31),
  hostile,
  fc.tuple(hostile, anyBytes(0, 12)).map(([a, b]) => a + b),
)

const counter = (isBytes: boolean): fc.Arbitrary<PrintableCounter> =>
  fc.record({
    samples: fc.integer({ min: 1, max: 99_999_999_999 }),
    min: fc.nat(),
    max: fc.nat(),
    sum: fc.nat(Number.MAX_SAFE_INTEGER),
    sumsq: fc.oneof(fc.nat().map(String), fc.bigInt(0n, 2n ** 64n - 1n).map(String)),
    hist: isBytes
      ? fc
          .array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 1e6 })), { maxLength: 4 })
          .map((bins) => new Map([...bins].sort(([a], [b]) => a - b)))
      : fc.constant(new Map<number, number>()),
  })

const time = fc.tuple(fc.nat(2 ** 31), fc.nat(999_999_999)).map(([s, ns]) => `${s}.${String(ns).padStart(9, '0')}`)
const entry: fc.Arbitrary<PrintedEntry> = fc.record({
  jobId,
  snapshot: time,
  start: time,
  counters: fc
    .tuple(...NAMES.map((name) => fc.option(counter(name.endsWith('_bytes')), { freq: 3 })))
    .map((list) => new Map(list.flatMap((c, i) => (c ? [[NAMES[i] as string, c] as const] : [])))),
})

const print = (entries: readonly PrintedEntry[]): string =>
  'job_stats:\n' +
  entries
    .map(
      (e) =>
        formatEntryHead(e.jobId, { snapshot: e.snapshot, start: e.start, elapsed: '1.000000000' }, DIALECT) +
        NAMES.map((name) => formatCounter(name, e.counters.get(name), DIALECT)).join(''),
    )
    .join('')

const FIELDS = ['samples', 'unit', 'min', 'max', 'sum', 'sumsq']

/** Expected parse result of a printed entry. */
const asRead = (e: PrintedEntry): object => ({
  jobId: e.jobId,
  snapshotTime: e.snapshot,
  startTime: e.start,
  elapsedTime: '1.000000000',
  listed: NAMES.length,
  counters: new Map(
    NAMES.flatMap((name) => {
      const c = e.counters.get(name)
      if (!c) return []
      const isBytes = name.endsWith('_bytes')
      const read = {
        ...c,
        unit: isBytes ? 'bytes' : 'usecs',
        sumsq: Number(c.sumsq),
        hist: isBytes ? c.hist : undefined,
        fields: isBytes ? [...FIELDS, 'hist'] : FIELDS,
        exact: BigInt(c.sumsq) > Number.MAX_SAFE_INTEGER ? new Map([['sumsq', c.sumsq]]) : undefined,
      }
      return [[name, read]]
    }),
  ),
})
const withoutSpan = ({ span: _, ...rest }: JobEntry): object => rest

describe('job_stats', () => {
  it('is read back as it was printed, whatever the job ids are', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
        const text = print(entries)
        const { entries: read, skipped } = parseJobStats(text)
        expect(skipped).toEqual([])
        expect(read.map(withoutSpan)).toEqual(entries.map(asRead))
        // The spans cover the entries' text without gaps.
        expect(read.map(({ span: [from, to] }) => text.slice(from, to)).join('')).toBe(
          text.slice('job_stats:\n'.length),
        )
      }),
    )
  })

  it('cut off anywhere gives only jobs and counters that the whole text has', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 4 }),
        fc.noBias(fc.nat(1_000_000)).map((n) => n / 1_000_000),
        (entries, part) => {
          const text = print(entries)
          const { entries: read } = parseJobStats(text.slice(0, Math.floor(text.length * part)))
          expect(read.length).toBeLessThanOrEqual(entries.length)
          read.forEach((e, i) => {
            expect(e.jobId).toBe(entries[i]!.jobId)
            const expected = (asRead(entries[i]!) as JobEntry).counters
            for (const [name, c] of e.counters) expect(c).toEqual(expected.get(name))
            if (i < read.length - 1) expect(e.counters.size).toBe(expected.size)
          })
        },
      ),
      { numRuns: 300 },
    )
  })

  it('never throws on any text, and numbers the lines it skips', () => {
    const line = fc.constantFrom(
      '- job_id:          a',
      '- job_id:',
      '  read: { samples: 3, unit: usecs }',
      '  read: { samples: x }',
      '  read: {',
      '  nothing',
      '  snapshot_time:   17',
      'job_stats:',
      '',
      '}{',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(line, anyBytes(0, 60)), { maxLength: 30 }), (lines) => {
        const text = lines.join('\n')
        const { entries, skipped } = parseJobStats(text)
        const count = text.split('\n').length
        for (const s of skipped) expect(s.line >= 1 && s.line <= count).toBe(true)
        for (const e of entries) for (const c of e.counters.values()) expect(c.samples).toBeGreaterThan(0)
      }),
      { numRuns: 500 },
    )
  })

  it('keeps good lines between junk lines', () => {
    const { entries, skipped } = parseJobStats(
      [
        'job_stats:',
        '  read:            { samples:           9, unit: usecs }',
        '- job_id:          a',
        '  snapshot_time:   1763676486.123456789 secs.nsecs',
        'Killed',
        '  write:           { samples:           2, unit: usecs, min:  1, max:  2, sum:  3, sumsq:  5 }',
        '  read:            { samples:           many, unit: usecs }',
        '  wonder:          7',
        '- job_id:',
        '  write:           { samples:           8, unit: usecs }',
        'job_stats:',
        '- job_id:          b',
        '  write:           { samples:           4, unit: usecs, min:  1, max:  2, sum:  3, sumsq:  5 }',
        '',
      ].join('\n'),
    )
    expect(entries.map((e) => [e.jobId, [...e.counters].map(([name, c]) => `${name} ${c.samples}`)])).toEqual([
      ['a', ['write 2']],
      ['b', ['write 4']],
    ])
    expect(skipped.map((s) => s.line)).toEqual([2, 5, 7, 8, 9, 10])
  })

  it('is empty for servers without jobs, of any release', () => {
    for (const text of ['', 'job_stats:', 'job_stats:\n'])
      expect(parseJobStats(text)).toEqual({ entries: [], skipped: [], skippedMore: 0 })
  })

  it('of 2.12 has whole seconds, sizes in the byte counters and bare requests', () => {
    const text = [
      'job_stats:',
      '- job_id:          dd.500',
      '  snapshot_time:   1763676486',
      '  read_bytes:      { samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }',
      '  write_bytes:     { samples:         100, unit: bytes, min: 1048576, max: 1048576, sum:       104857600 }',
      '  getattr:         { samples:           0, unit:  reqs }',
      '  punch:           { samples:           7, unit:  reqs }',
      '',
    ].join('\n')
    const { entries, skipped } = parseJobStats(text)
    expect(skipped).toEqual([])
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({ jobId: 'dd.500', snapshotTime: '1763676486', startTime: undefined })
    expect(Object.fromEntries(entries[0]!.counters)).toEqual({
      write_bytes: {
        samples: 100,
        unit: 'bytes',
        min: 1_048_576,
        max: 1_048_576,
        sum: 104_857_600,
        sumsq: 0,
        hist: undefined,
        fields: ['samples', 'unit', 'min', 'max', 'sum'],
      },
      punch: {
        samples: 7,
        unit: 'reqs',
        min: 0,
        max: 0,
        sum: 0,
        sumsq: 0,
        hist: undefined,
        fields: ['samples', 'unit'],
      },
    })
  })

  it('of 2.15 has a start time and no histogram, also on an MDT', () => {
    const text = [
      'job_stats:',
      '- job_id:          "rank\\x200\\x3A1"',
      '  snapshot_time:   1763676486.123456789 secs.nsecs',
      '  start_time:      1763676476.012345678 secs.nsecs',
      '  elapsed_time:    10.111111111 secs.nsecs',
      '  open:            { samples:           1, unit: usecs, min:       31, max:       31, sum:               31, sumsq:                961 }',
      '  parallel_rename_file: { samples:           2, unit: usecs, min:        1, max:        2, sum:                3, sumsq:                  5 }',
      '  write_bytes:     { samples:           2, unit: bytes, min:    65536, max:    65536, sum:           131072, sumsq:         8589934592 }',
      '',
    ].join('\n')
    const { entries, skipped } = parseJobStats(text)
    expect(skipped).toEqual([])
    expect(entries[0]).toMatchObject({ jobId: 'rank 0:1', startTime: '1763676476.012345678' })
    expect([...entries[0]!.counters].map(([name, c]) => [name, c.samples, c.sum, c.hist])).toEqual([
      ['open', 1, 31, undefined],
      ['parallel_rename_file', 2, 3, undefined],
      ['write_bytes', 2, 131_072, undefined],
    ])
  })
})
