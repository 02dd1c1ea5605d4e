import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesOf } from './bytes.ts'
import { formatJobId, parseJobId } from './job-id.ts'
import type { JobEntry } from './job-entry.ts'
import { MDT_COUNTERS, OST_COUNTERS, printJobStats, type PrintableEntry } from './job-stats-print.ts'
import { JobStatsScanner, type ScanOptions } from './job-stats-scanner.ts'
import { MAX_LINE } from './line-chunks.ts'
import { profile } from './profile.ts'
import { RELEASES, type Release } from './release.ts'

interface Table {
  readonly param: string | undefined
  readonly entries: JobEntry[]
}

interface Scanned {
  readonly tables: readonly Table[]
  readonly skipped: readonly { line: number; reason: string }[]
  readonly more: number
}

/** Scans a text in chunks of the given sizes, cycling through them; in one piece without sizes. */
function scan(text: string, sizes: readonly number[] = [], options?: ScanOptions): Scanned {
  const tables: Table[] = []
  const scanner = new JobStatsScanner(
    {
      target: (param) => void tables.push({ param, entries: [] }),
      entry: (e) => void tables.at(-1)?.entries.push(e),
    },
    options,
  )
  const bytes = bytesOf(text)
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes.length === 0 ? bytes.length : (sizes[i % sizes.length] as number)
    const chunk = bytes.slice(at, at + size)
    scanner.push(chunk)
    chunk.fill(0x2d) // a caller may use its buffer again
    at += size
  }
  scanner.end()
  return { tables, skipped: scanner.skipped.lines, more: scanner.skipped.more }
}

const entriesOf = (s: Scanned): JobEntry[] => s.tables.flatMap((t) => t.entries)
const withoutSpan = ({ span: _, ...rest }: JobEntry): Omit<JobEntry, 'span'> => rest

const jobId = fc.oneof(
  fc.constantFrom(
    'dd.0',
    '4711.ior.500',
    'rank 0:1',
    '@at',
    '-rf',
    'job_stats:',
    '- job_id:',
    'a=b',
    '\u00c3\u00a9t',
    '\n',
  ),
  fc.array(fc.nat(255), { minLength: 1, maxLength: 31 }).map((codes) => String.fromCharCode(...codes)),
)
const counter = fc.record({
  samples: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 99_999_999 })),
  min: fc.nat(),
  max: fc.nat(),
  sum: fc.nat(Number.MAX_SAFE_INTEGER),
  sumsq: fc.bigInt(0n, 2n ** 64n - 1n).map(String),
  hist: fc
    .array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 1e6 })), { maxLength: 4 })
    .map((bins) => new Map([...bins].sort(([a], [b]) => a - b))),
})
const time = fc.tuple(fc.nat(2 ** 31), fc.nat(999_999_999)).map(([s, ns]) => `${s}.${String(ns).padStart(9, '0')}`)

/** A server's table, as printed and as the parts from which it was printed. */
interface Printed {
  readonly release: Release
  readonly kind: 'obdfilter' | 'mdt'
  readonly entries: readonly PrintableEntry[]
  readonly text: string
}

const printed = (minEntries: number, maxEntries: number): fc.Arbitrary<Printed> =>
  fc
    .tuple(
      fc.constantFrom(...RELEASES),
      fc.constantFrom('obdfilter' as const, 'mdt' as const),
      fc.array(
        fc.tuple(
          jobId,
          fc.record({ snapshot: time, start: time, elapsed: time }),
          fc.array(counter, { minLength: 4, maxLength: 9 }),
        ),
        { minLength: minEntries, maxLength: maxEntries },
      ),
    )
    .map(([release, kind, jobs]) => {
      const p = profile(release)
      const names = kind === 'mdt' ? MDT_COUNTERS(p) : OST_COUNTERS(p)
      const entries = jobs.map(([id, times, counters]) => ({
        jobId: id,
        times,
        counters: new Map(names.map((name, i) => [name, counters[i % counters.length] as (typeof counters)[0]])),
      }))
      return { release, kind, entries, text: printJobStats(entries, names, p.text.jobStats) }
    })
    // 2.12 escapes nothing, so an id of blanks only cannot be parsed.
    .filter(({ entries, release }) => release !== '2.12' || entries.every((e) => /[^ ]/.test(e.jobId)))

/** A position in a text, uniformly distributed. */
const place = fc.noBias(fc.nat(999_999)).map((n) => n / 1_000_000)

const chunks = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5000 })), {
  minLength: 1,
  maxLength: 8,
})

/** Lines in unexpected positions. */
const junk = fc.oneof(
  fc.constantFrom(
    'Killed',
    'error: get_param: param_path',
    'foo=bar',
    'foo=',
    'a.b.stats=',
    '}{',
    '',
    '   ',
    'job_stats:',
    '- job_id:',
    '- job_id:          other',
    '  read: { samples: 1',
    '  read: { samples: -1, unit: usecs }',
    '  snapshot_time:   17',
    'x.job_stats=',
    '\u0000\u0001\u0002',
    '\u00ef\u00bb\u00bf',
    'z'.repeat(MAX_LINE + 1),
  ),
  fc.array(fc.nat(255), { maxLength: 60 }).map((codes) => String.fromCharCode(...codes)),
)

describe('JobStatsScanner', () => {
  it('parses the output of any release, to the last digit', () => {
    fc.assert(
      fc.property(printed(0, 5), ({ release, entries, text }) => {
        const s = scan(text, [], { zeros: true })
        const { ids, hist, operations, times } = profile(release).text.jobStats
        expect(s.skipped).toEqual([])
        expect(entriesOf(s)).toHaveLength(entries.length)
        entriesOf(s).forEach((read, i) => {
          const e = entries[i] as PrintableEntry
          expect(read.jobId).toBe(parseJobId(formatJobId(e.jobId, ids)))
          expect(read.snapshotTime).toBe(times === 'seconds' ? e.times.snapshot.split('.')[0] : e.times.snapshot)
          if (times !== 'seconds') expect([read.startTime, read.elapsedTime]).toEqual([e.times.start, e.times.elapsed])
          expect([...read.counters.keys()]).toEqual([...e.counters.keys()])
          for (const [name, c] of read.counters) {
            const was = e.counters.get(name) as typeof e.counters extends ReadonlyMap<string, infer C> ? C : never
            expect(c.samples).toBe(was.samples)
            if (was.samples === 0) continue
            if (c.fields.includes('sum')) expect([c.min, c.max, c.sum]).toEqual([was.min, was.max, was.sum])
            if (operations === 'usecs') expect(c.exact?.get('sumsq') ?? String(c.sumsq)).toBe(was.sumsq)
            expect(c.hist).toEqual(hist && name.endsWith('_bytes') ? was.hist : undefined)
          }
        })
      }),
    )
  })

  it('omits counters without samples unless requested, and counts them', () => {
    fc.assert(
      fc.property(printed(1, 3), ({ text }) => {
        const all = entriesOf(scan(text, [], { zeros: true }))
        const some = entriesOf(scan(text))
        some.forEach((e, i) => {
          const { counters, ...rest } = all[i] as JobEntry
          expect(e).toEqual({ ...rest, counters: new Map([...counters].filter(([, c]) => c.samples > 0)) })
          expect(e.listed).toBe(counters.size)
        })
      }),
      { numRuns: 30 },
    )
  })

  it('gives the same for any text in any chunks', () => {
    const text = fc
      .tuple(printed(0, 4), fc.array(fc.tuple(fc.nat(), junk), { maxLength: 5 }), fc.boolean(), fc.nat())
      .map(([p, inserts, isCrLf, cut]) => {
        const lines = p.text.split('\n')
        for (const [at, line] of inserts) lines.splice(at % lines.length, 0, line)
        const full = lines.join(isCrLf ? '\r\n' : '\n')
        return cut % 3 === 0 ? full.slice(0, cut % (full.length + 1)) : full
      })
    fc.assert(
      fc.property(text, chunks, (t, sizes) => {
        expect(scan(t, sizes, { zeros: true })).toEqual(scan(t, [], { zeros: true }))
      }),
      { numRuns: 300 },
    )
  })

  it('keeps all complete entries of a text truncated anywhere, and the complete part of the last one', () => {
    fc.assert(
      fc.property(printed(1, 4), place, ({ text }, part) => {
        const all = entriesOf(scan(text, [], { zeros: true }))
        const length = Math.floor(text.length * part)
        const cut = scan(text.slice(0, length), [], { zeros: true })
        const scanned = entriesOf(cut)
        const complete = all.filter((e) => e.span[1] <= length)
        expect(scanned.slice(0, complete.length).map(withoutSpan)).toEqual(complete.map(withoutSpan))
        expect(scanned.length - complete.length).toBeLessThanOrEqual(1)
        const [last] = scanned.slice(complete.length)
        if (last) {
          const was = all[complete.length] as JobEntry
          expect(last.jobId).toBe(was.jobId)
          for (const [name, c] of last.counters) expect(c).toEqual(was.counters.get(name))
          for (const t of [last.snapshotTime, last.startTime, last.elapsedTime])
            if (t !== undefined && t !== '') expect([was.snapshotTime, was.startTime, was.elapsedTime]).toContain(t)
        }
        // At most the truncated line is lost, and it is reported.
        expect(cut.skipped.length).toBeLessThanOrEqual(1)
        expect(cut.skipped.every((s) => s.line === text.slice(0, length).split('\n').length)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('never throws on damaged text, and loses nothing of undamaged entries', () => {
    const damage = fc.record({
      at: place,
      kind: fc.constantFrom('replace', 'insert', 'delete', 'line'),
      byte: fc.nat(255),
      bytes: fc.integer({ min: 1, max: 200 }),
      line: junk,
    })
    fc.assert(
      fc.property(printed(1, 6), fc.array(damage, { minLength: 1, maxLength: 3 }), ({ text }, damages) => {
        const all = entriesOf(scan(text, [], { zeros: true }))
        const isTouched = all.map(() => false)
        let broken = text
        let deleted = 0
        // From the end, so that earlier positions stay valid.
        for (const d of damages.toSorted((a, b) => b.at - a.at)) {
          let at = Math.floor(d.at * text.length)
          const n = d.kind === 'delete' ? d.bytes : d.kind === 'replace' ? 1 : 0
          if (d.kind === 'line') at = text.lastIndexOf('\n', at - 1) + 1
          const c = String.fromCharCode(d.byte)
          const put = d.kind === 'line' ? `${d.line}\n` : d.kind === 'delete' ? '' : c
          broken = broken.slice(0, at) + put + broken.slice(at + n)
          // The following text may have been deleted already.
          deleted += n
          // A line lost to the previous entry, or inserted between two entries, belongs to both.
          all.forEach(({ span: [from, to] }, i) => {
            if (at - 1 <= to && at + deleted >= from) isTouched[i] = true
          })
        }
        const read = entriesOf(scan(broken, [], { zeros: true })).map(withoutSpan)
        all.forEach((e, i) => {
          if (!isTouched[i]) expect(read).toContainEqual(withoutSpan(e))
        })
      }),
      { numRuns: 1000 },
    )
  })

  it('reads lines that end in CR LF, and a text without its last newline', () => {
    fc.assert(
      fc.property(printed(1, 3), ({ text }) => {
        const plain = scan(text)
        const crlf = scan(text.replaceAll('\n', '\r\n'))
        expect(crlf.skipped).toEqual([])
        expect(entriesOf(crlf).map(withoutSpan)).toEqual(entriesOf(plain).map(withoutSpan))
        const open = scan(text.slice(0, -1))
        expect(open.skipped).toEqual([])
        expect(entriesOf(open).map(withoutSpan)).toEqual(entriesOf(plain).map(withoutSpan))
      }),
      { numRuns: 50 },
    )
  })
})

const ENTRY = (id: string, writes: number): string =>
  `- job_id:          ${id}\n  snapshot_time:   1.000000001 secs.nsecs\n` +
  `  write:           { samples: ${String(writes).padStart(11)}, unit: usecs }\n`

/** Tables by name with their jobs and writes. */
const found = (text: string): [string | undefined, string[]][] =>
  scan(text).tables.map((t) => [t.param, t.entries.map((e) => `${e.jobId} ${e.counters.get('write')?.samples ?? 0}`)])

describe('tables of several targets', () => {
  it('are distinguished by their names', () => {
    const text =
      `obdfilter.fs-OST0000.job_stats=\njob_stats:\n${ENTRY('a', 1)}${ENTRY('b', 2)}` +
      `obdfilter.fs-OST0001.job_stats=\nobdfilter.fs-OST0002.job_stats=job_stats:\n` +
      `mdt.fs-MDT0000.job_stats=\njob_stats:\n${ENTRY('a', 3)}`
    expect(found(text)).toEqual([
      ['obdfilter.fs-OST0000.job_stats', ['a 1', 'b 2']],
      ['obdfilter.fs-OST0001.job_stats', []],
      ['obdfilter.fs-OST0002.job_stats', []],
      ['mdt.fs-MDT0000.job_stats', ['a 3']],
    ])
    expect(scan(text).skipped).toEqual([])
  })

  it('without names (-n) are distinguished by their first lines', () => {
    expect(found(`job_stats:\n${ENTRY('a', 1)}job_stats:\njob_stats:\n${ENTRY('a', 3)}`)).toEqual([
      [undefined, ['a 1']],
      [undefined, []],
      [undefined, ['a 3']],
    ])
    expect(found('')).toEqual([])
  })

  it('with the name before every line (-H) are read as well', () => {
    const text = `job_stats:\n${ENTRY('a', 1)}${ENTRY('b=c', 2)}`
    const of = (param: string): string => text.replaceAll(/^(?=.)/gm, `${param}=`)
    const both = of('obdfilter.fs-OST0000.job_stats') + of('obdfilter.fs-OST0001.job_stats')
    expect(found(both)).toEqual([
      ['obdfilter.fs-OST0000.job_stats', ['a 1', 'b=c 2']],
      ['obdfilter.fs-OST0001.job_stats', ['a 1', 'b=c 2']],
    ])
    expect(scan(both).skipped).toEqual([])
  })

  it('printed twice, as -R does, are two tables', () => {
    const once = `obdfilter.fs-OST0000.job_stats=\njob_stats:\n${ENTRY('a', 1)}`
    expect(found(once + once)).toEqual([
      ['obdfilter.fs-OST0000.job_stats', ['a 1']],
      ['obdfilter.fs-OST0000.job_stats', ['a 1']],
    ])
  })

  it('among other parameters are found, and the others are passed over', () => {
    const text =
      `version=2.15.8\nost.OSS.ost_io.nrs_policies=\n\nregular_requests:\n  - name: fifo\n    state: started\n` +
      `obdfilter.fs-OST0000.job_stats=\njob_stats:\n${ENTRY('a', 1)}` +
      `obdfilter.fs-OST0000.stats=\nsnapshot_time             1.5 secs.nsecs\nwrite 1 samples [usecs] 1 1 1 1\n` +
      `obdfilter.fs-OST0001.job_stats=\njob_stats:\n${ENTRY('b', 2)}jobid_var=disable\n`
    expect(found(text)).toEqual([
      ['obdfilter.fs-OST0000.job_stats', ['a 1']],
      ['obdfilter.fs-OST0001.job_stats', ['b 2']],
    ])
    expect(scan(text).skipped).toEqual([])
  })

  it('keep their jobs when a line like a parameter gets between them, and the line is named', () => {
    for (const line of ['foo=bar', 'foo=']) {
      const text = `obdfilter.fs-OST0000.job_stats=\njob_stats:\n${ENTRY('a', 1)}${line}\n${ENTRY('b', 2)}`
      expect(found(text)).toEqual([['obdfilter.fs-OST0000.job_stats', ['a 1', 'b 2']]])
      expect(scan(text).skipped).toEqual([{ line: 6, reason: 'a parameter inside a table' }])
    }
  })
})

describe('bad input', () => {
  const reasons = (text: string): string[] => scan(text).skipped.map((s) => `${s.line} ${s.reason}`)
  const head = '- job_id:          a\n'

  it('is named with its line and the reason', () => {
    expect(reasons(`${head}  read: { samples: 1, unit: usecs, samples: 2 }\n`)).toEqual(['2 read: samples twice'])
    expect(reasons(`${head}  read: { samples: -1, unit: usecs }\n`)).toEqual(['2 read: a negative number'])
    expect(reasons(`${head}  read: { samples: 18446744073709551616 }\n`)).toEqual(['2 read: a number beyond 64 bits'])
    expect(reasons(`${head}  read: { unit: usecs }\n`)).toEqual(['2 read: no samples'])
    expect(reasons(`${head}  read: { samples: 1 } x\n`)).toEqual(['2 read: text after the counter'])
    expect(reasons(`${head}  read: { samples: 1, hist: { 3K: 1 } }\n`)).toEqual(['2 read: not a histogram'])
    expect(reasons(`${head}  read: { samples: 1, hist: { 4K: 1, 4K: 2 } }\n`)).toEqual(['2 read: a bin twice'])
    expect(reasons(`${head}  read: { samples: 1, un\n`)).toEqual(['2 read: cut off'])
    expect(reasons(`${head}  read: { samples:  12`)).toEqual(['2 read: cut off'])
    expect(reasons(`${head}  snapshot_time:   17636`)).toEqual(['2 snapshot_time: cut off'])
    expect(reasons(`${head}  snapshot_time:   yesterday\n`)).toEqual(['2 snapshot_time: not a time'])
    expect(reasons(`${head}  wonder:          7\n`)).toEqual(['2 unknown field wonder'])
    expect(reasons(`${head}  \u0001x: 3\n`)).toEqual(['2 neither a counter nor a time'])
    expect(reasons('  read: { samples: 1 }\n')).toEqual(['1 read outside a job'])
    expect(reasons('Killed\n')).toEqual(['1 neither a job nor a field of one'])
    expect(reasons('- job_id:          dd.5')).toEqual(['1 job_id cut off'])
    expect(reasons(`- job_id:          ${'x'.repeat(300)}\n`)).toEqual(['1 job_id of 300 bytes'])
  })

  it('keeps a counter with a part that no release has, and names the part', () => {
    const s = scan(`${head}  read: { samples: 3, median: 7, unit: usecs }\n`.repeat(2))
    expect(entriesOf(s).map((e) => e.counters.get('read')?.samples)).toEqual([3, 3])
    expect(s.skipped.map((x) => `${x.line} ${x.reason}`)).toEqual([
      '2 read: unknown part median',
      '4 read: unknown part median',
    ])
  })

  it('keeps the first of two equal fields', () => {
    const s = scan(`${head}  read: { samples: 3 }\n  read: { samples: 4 }\n  write: { samples: 5 }\n`)
    expect(entriesOf(s).map((e) => [...e.counters].map(([n, c]) => `${n} ${c.samples}`))).toEqual([
      ['read 3', 'write 5'],
    ])
    expect(s.skipped).toEqual([{ line: 3, reason: 'read twice' }])
  })

  it('gives no job the counters of one whose first line is lost', () => {
    const s = scan(
      `${ENTRY('a', 1)}${ENTRY('b', 2).replace('- job_id', '\u0000 job_id').replace('write', 'wrote')}${ENTRY('c', 3)}`,
    )
    expect(entriesOf(s).map((e) => [e.jobId, [...e.counters.keys()]])).toEqual([
      ['a', ['write']],
      ['c', ['write']],
    ])
    expect(s.skipped.map((x) => `${x.line} ${x.reason}`)).toEqual([
      '4 neither a job nor a field of one',
      '5 snapshot_time of a job without its job_id',
      '6 wrote outside a job',
    ])
  })

  it('has 64 bits to the last digit', () => {
    const [e] = entriesOf(
      scan(`${head}  read: { samples: 9007199254740993, sum: 18446744073709551615, sumsq: 00000000000000000000007 }\n`),
    )
    const c = e?.counters.get('read')
    expect(c?.exact).toEqual(
      new Map([
        ['samples', '9007199254740993'],
        ['sum', '18446744073709551615'],
      ]),
    )
    expect(c?.sumsq).toBe(7)
  })

  it('lists so many lines and counts the others', () => {
    const s = scan('junk\n'.repeat(50), [], { maxSkipped: 3 })
    expect(s.skipped.map((x) => x.line)).toEqual([1, 2, 3])
    expect(s.more).toBe(47)
  })

  it('of endless lines and endless counters is bounded, and later text is parsed', () => {
    const names = Array.from({ length: 5000 }, (_, i) => `  op${i}: { samples: 1 }\n`).join('')
    const long = 'x'.repeat(1_000_000)
    const s = scan(`${ENTRY('a', 1)}${long}\n${head.replace('a', 'b')}${names}${ENTRY('c', 3)}`, [1000])
    expect(entriesOf(s).map((e) => [e.jobId, e.counters.size])).toEqual([
      ['a', 1],
      ['b', 100],
      ['c', 1],
    ])
    expect(s.skipped[0]).toEqual({ line: 4, reason: `a line of more than ${MAX_LINE} bytes` })
    expect(s.skipped).toHaveLength(4901)
  })
})
