import { describe, expect, it } from 'vitest'
import {
  MDT_COUNTERS,
  OST_COUNTERS,
  printJobStats,
  type PrintableCounter,
  type PrintableEntry,
} from './job-stats-print.ts'
import { profile } from './profile.ts'
import { RELEASES, type Release } from './release.ts'

const counter = (c: Partial<PrintableCounter>): PrintableCounter => ({
  samples: 100,
  min: 1048576,
  max: 1048576,
  sum: 104857600,
  sumsq: '109951162777600',
  hist: new Map([[20, 100]]),
  ...c,
})

const entry = (jobId: string, counters: Record<string, PrintableCounter>, withStart = true): PrintableEntry => ({
  jobId,
  times: {
    snapshot: '1763676486.123456789',
    ...(withStart ? { start: '1763676476.012345678', elapsed: '10.111111111' } : {}),
  },
  counters: new Map(Object.entries(counters)),
})

const print = (release: Release, entries: PrintableEntry[], names = OST_COUNTERS(profile(release))): string =>
  printJobStats(entries, names, profile(release).text.jobStats)

const WRITES = { write_bytes: counter({}), write: counter({ min: 412, max: 9981, sum: 83123, sumsq: '101234567' }) }

describe('job_stats as printed', () => {
  it('by the development line', () => {
    const lines = print('dev', [entry('rank 0:1', WRITES)]).split('\n')
    expect(lines.slice(0, 10).join('\n')).toBe(`job_stats:
- job_id:          "rank\\x200:1"
  snapshot_time:   1763676486.123456789 secs.nsecs
  start_time:      1763676476.012345678 secs.nsecs
  elapsed_time:    10.111111111 secs.nsecs
  read_bytes:      { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, hist: {  } }
  write_bytes:     { samples:         100, unit: bytes, min:  1048576, max:  1048576, sum:        104857600, sumsq:    109951162777600, hist: { 1M: 100 } }
  read:            { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }
  write:           { samples:         100, unit: usecs, min:      412, max:     9981, sum:            83123, sumsq:          101234567 }
  getattr:         { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }`)
    expect(lines).toHaveLength(1 + 4 + 15 + 1)
  })

  it('by 2.15, without bins', () => {
    expect(print('2.15', [entry('rank 0:1', WRITES)])).toContain(
      `- job_id:          "rank\\x200\\x3A1"
  snapshot_time:   1763676486.123456789 secs.nsecs
  start_time:      1763676476.012345678 secs.nsecs
  elapsed_time:    10.111111111 secs.nsecs
  read_bytes:      { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0 }
  write_bytes:     { samples:         100, unit: bytes, min:  1048576, max:  1048576, sum:        104857600, sumsq:    109951162777600 }
`,
    )
  })

  it('by 2.12, in whole seconds and in requests', () => {
    expect(print('2.12', [entry('dd.500', WRITES)])).toBe(`job_stats:
- job_id:          dd.500
  snapshot_time:   1763676486
  read_bytes:      { samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }
  write_bytes:     { samples:         100, unit: bytes, min: 1048576, max: 1048576, sum:       104857600 }
  getattr:         { samples:           0, unit:  reqs }
  setattr:         { samples:           0, unit:  reqs }
  punch:           { samples:           0, unit:  reqs }
  sync:            { samples:           0, unit:  reqs }
  destroy:         { samples:           0, unit:  reqs }
  create:          { samples:           0, unit:  reqs }
  statfs:          { samples:           0, unit:  reqs }
  get_info:        { samples:           0, unit:  reqs }
  set_info:        { samples:           0, unit:  reqs }
  quotactl:        { samples:           0, unit:  reqs }
`)
  })

  it('omits the lines that enable_stats_header=0 omits', () => {
    expect(
      print('dev', [entry('a', {}, false)])
        .split('\n')
        .slice(0, 4),
    ).toEqual([
      'job_stats:',
      '- job_id:          a',
      '  snapshot_time:   1763676486.123456789 secs.nsecs',
      expect.stringMatching(/^ {2}read_bytes: /) as string,
    ])
  })

  it('is the head line alone without jobs, or nothing since 2.17', () => {
    expect(RELEASES.map((r) => print(r, []))).toEqual(['job_stats:\n', 'job_stats:\n', 'job_stats:\n', '', ''])
  })

  it('shifts the brace of long names, and sorts bins', () => {
    const text = print(
      'dev',
      [
        entry('a', {
          parallel_rename_file: counter({ hist: new Map() }),
          read_bytes: counter({
            hist: new Map([
              [20, 1],
              [9, 2],
              [30, 4],
              [10, 3],
            ]),
          }),
        }),
      ],
      MDT_COUNTERS(profile('dev')),
    )
    expect(text).toContain('\n  parallel_rename_file: { samples:         100, unit: usecs, min:  1048576,')
    expect(text).toContain(', hist: { 512: 2, 1K: 3, 1M: 1, 1G: 4 } }\n')
  })

  it('has the counters of the release, in its order', () => {
    const count = (names: (p: ReturnType<typeof profile>) => readonly string[]): number[] =>
      RELEASES.map((r) => names(profile(r)).length)
    expect(count(OST_COUNTERS)).toEqual([12, 15, 15, 15, 15])
    expect(count(MDT_COUNTERS)).toEqual([19, 23, 25, 26, 27])
    expect(MDT_COUNTERS(profile('2.15')).slice(-9).join(' ')).toBe(
      'samedir_rename crossdir_rename read write read_bytes write_bytes punch migrate fallocate',
    )
    expect(MDT_COUNTERS(profile('dev')).slice(-14).join(' ')).toBe(
      'sync samedir_rename parallel_rename_file parallel_rename_dir crossdir_rename rename_trylocks ' +
        'read write read_bytes write_bytes punch migrate fallocate readpage',
    )
  })
})
