import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entryDelta, JobDeltas, REMEMBERED_READINGS, totalOf } from './job-deltas.ts'
import { parseJobStats, type JobEntry } from './job-stats.ts'

type Counts = Record<string, number | [samples: number, sum: number | bigint]>

const NAMES = ['read_bytes', 'write_bytes', 'read', 'write', 'getattr']

/** Entry as printed by a server: all of its counters, changed or not. */
function entry(
  id: string,
  counters: Counts,
  start: string | undefined = '1.0',
  names = NAMES,
  snapshot = '2.0',
): string {
  const lines = names.map((name) => {
    const c = counters[name] ?? 0
    const [samples, sum] = Array.isArray(c) ? c : [c, c]
    const unit = name.endsWith('_bytes') ? 'bytes' : 'usecs'
    const hist = name.endsWith('_bytes') && sum > 0 ? `, hist: { 4K: ${samples} }` : ''
    return `  ${name}: { samples: ${samples}, unit: ${unit}, min: 1, max: 1, sum: ${sum}, sumsq: 1${hist} }\n`
  })
  const started = start === undefined ? '' : `  start_time: ${start} secs.nsecs\n`
  return `- job_id: ${id}\n  snapshot_time: ${snapshot}\n${started}${lines.join('')}`
}

const read = (...entries: string[]): readonly JobEntry[] => parseJobStats(entries.join('')).entries

/** Reading of one target as returned by its parser: counters by job. */
const reading = (jobs: Record<string, Counts>, start: Record<string, string> = {}): readonly JobEntry[] =>
  read(...Object.entries(jobs).map(([id, counters]) => entry(id, counters, start[id])))

const rpcsOf = (deltas: ReturnType<JobDeltas['update']>): Record<string, number> | undefined =>
  deltas && Object.fromEntries(deltas.map((d) => [d.jobId, d.rpcs]))

describe('JobDeltas', () => {
  it('takes the first reading as the base only', () => {
    const deltas = new JobDeltas()
    expect(deltas.update(reading({ a: { write: 100 } }))).toBeUndefined()
    expect(deltas.update(reading({ a: { write: 100 } }))).toEqual([])
  })

  it('counts operations once, with their bytes, sizes and service times', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write_bytes: [10, 40960], write: [10, 5000], getattr: 4 } }))
    const [a] = deltas.update(
      reading({ a: { write_bytes: [13, 53248], write: [13, 5600], getattr: 5, read_bytes: [2, 8192], read: [2, 90] } }),
    )!
    expect(a).toEqual({
      jobId: 'a',
      rpcs: 6,
      ops: new Map([
        ['read', 2],
        ['write', 3],
        ['getattr', 1],
      ]),
      readBytes: 8192,
      writeBytes: 12_288,
      serviceUsecs: 690,
      dataRpcs: 5,
    })
  })

  it('sums over all jobs', () => {
    const deltas = new JobDeltas()
    deltas.update([])
    const all = deltas.update(
      reading({
        a: { write_bytes: [10, 40960], write: [10, 5000], getattr: 4 },
        b: { write_bytes: [1, 4096], write: [1, 9], read_bytes: [2, 100], read: [2, 7] },
      }),
    )!
    expect(totalOf(all)).toEqual(
      new Map([
        ['write', 11],
        ['getattr', 4],
        ['write_bytes', 45_056],
        ['read', 2],
        ['read_bytes', 100],
      ]),
    )
  })

  it('lets the byte counters carry the RPCs of servers that have no read and write counters', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write_bytes: [10, 40960] } }))
    const [a] = deltas.update(reading({ a: { write_bytes: [14, 57344] } }))!
    expect(a).toMatchObject({ rpcs: 4, writeBytes: 16_384, dataRpcs: 0, ops: new Map([['write', 4]]) })
  })

  it('takes all of a new job as new', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 1 } }))
    expect(rpcsOf(deltas.update(reading({ a: { write: 1 }, b: { write: 7 } })))).toEqual({ b: 7 })
  })

  it('takes all counters of an entry as new if one of them decreased: it was cleared', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 100, read: 3 } }))
    expect(rpcsOf(deltas.update(reading({ a: { write: 5, read: 10 } })))).toEqual({ a: 15 })
    // A counter reset to zero has also decreased.
    expect(rpcsOf(deltas.update(reading({ a: { write: 8 } })))).toEqual({ a: 8 })
  })

  it('sees by the start time that an entry is another one, however large its counters already are', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 100 } }))
    expect(rpcsOf(deltas.update(reading({ a: { write: 120 } }, { a: '9.0' })))).toEqual({ a: 120 })
  })

  it('counts a job that aged out and came back from zero', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 100 } }))
    expect(deltas.update(reading({}))).toEqual([])
    expect(rpcsOf(deltas.update(reading({ a: { write: 2 } }, { a: '9.0' })))).toEqual({ a: 2 })
  })

  it('counts a job whose entry was missing in a reading from its last values', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 100 }, b: { write: 5 } }))
    expect(deltas.update(reading({ b: { write: 5 } }))).toEqual([])
    expect(rpcsOf(deltas.update(reading({ a: { write: 103 }, b: { write: 5 } })))).toEqual({ a: 3 })
  })

  it('remembers an entry that is gone for so many readings', () => {
    for (const [readings, rpcs] of [
      [REMEMBERED_READINGS, 3],
      [REMEMBERED_READINGS + 1, 103],
    ] as const) {
      const deltas = new JobDeltas()
      deltas.update(reading({ a: { write: 100 } }))
      for (let i = 0; i < readings; i++) expect(deltas.update([])).toEqual([])
      expect(rpcsOf(deltas.update(reading({ a: { write: 103 } })))).toEqual({ a: rpcs })
    }
  })

  it('counts the same whatever order the entries are in', () => {
    const one = [entry('a', { write: 1 }), entry('b', { write: 2 }), entry('c', { write: 3 })] as const
    const two = [entry('c', { write: 5 }), entry('a', { write: 2 }), entry('b', { write: 2 })] as const
    const deltas = new JobDeltas()
    deltas.update(read(...one))
    expect(rpcsOf(deltas.update(read(...two)))).toEqual({ c: 2, a: 1 })
  })

  it('keeps counters that a truncated text lacks, and continues when they are back', () => {
    const deltas = new JobDeltas()
    const whole = entry('a', { read: [10, 10], write: [20, 20], getattr: 30 })
    deltas.update(read(whole))
    const cut = entry('a', { read: [11, 11], write: [25, 25], getattr: 40 })
    expect(rpcsOf(deltas.update(read(cut.slice(0, cut.indexOf('  write: {')))))).toEqual({ a: 1 })
    expect(rpcsOf(deltas.update(read(cut)))).toEqual({ a: 15 })
    // Cut off before its start time.
    expect(deltas.update(read(cut.slice(0, cut.indexOf('  start_time'))))).toEqual([])
    expect(deltas.update(read(cut))).toEqual([])
  })

  it('makes no interval of a life that a first reading cut off did not show', () => {
    const deltas = new JobDeltas()
    const whole = entry('a', { read: [10, 10], getattr: 30 })
    deltas.update(read(whole.slice(0, whole.indexOf('  getattr'))))
    expect(deltas.update(read(whole))).toEqual([])
    expect(rpcsOf(deltas.update(read(entry('a', { read: [10, 10], getattr: 32 }))))).toEqual({ a: 2 })
  })

  it('does not read the clock of the server', () => {
    const deltas = new JobDeltas()
    deltas.update(read(entry('a', { write: 10 }, '5.0', NAMES, '900.0')))
    expect(rpcsOf(deltas.update(read(entry('a', { write: 12 }, '5.0', NAMES, '3.0'))))).toEqual({ a: 2 })
    expect(rpcsOf(deltas.update(read(entry('a', { write: 15 }, '5.0', NAMES, '99999.0'))))).toEqual({ a: 3 })
  })

  it('continues when servers begin or cease to print start times', () => {
    const deltas = new JobDeltas()
    const bare = (writes: number): string => entry('a', { write: writes }).replace(/  start_time.*\n/, '')
    deltas.update(read(entry('a', { write: 10 })))
    expect(rpcsOf(deltas.update(read(bare(12))))).toEqual({ a: 2 })
    expect(rpcsOf(deltas.update(read(entry('a', { write: 15 }))))).toEqual({ a: 3 })
  })

  it('takes an entry printed twice for one, the later print', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 10 } }))
    expect(rpcsOf(deltas.update(read(entry('a', { write: 12 }), entry('a', { write: 13 }))))).toEqual({ a: 3 })
    expect(rpcsOf(deltas.update(reading({ a: { write: 14 } })))).toEqual({ a: 1 })
  })

  it('counts an entry and the one recreated while the table was read', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 10 } }))
    expect(rpcsOf(deltas.update(read(entry('a', { write: 12 }), entry('a', { write: 5 }, '7.0'))))).toEqual({ a: 7 })
    expect(rpcsOf(deltas.update(read(entry('a', { write: 6 }, '7.0'))))).toEqual({ a: 1 })
  })

  it('counts both of two jobs whose ids 2.12 prints alike', () => {
    const of = (...writes: number[]): string =>
      writes.map((w) => entry('a?b', { write: w }).replace(/  start_time.*\n/, '')).join('')
    const deltas = new JobDeltas()
    deltas.update(read(of(100, 5)))
    expect(rpcsOf(deltas.update(read(of(101, 9))))).toEqual({ 'a?b': 5 })
  })

  it('sees without start times that an entry was cleared though it has more samples again', () => {
    const text = (samples: number, max: number, sum: number): string =>
      `- job_id: a\n  snapshot_time: 17\n  write_bytes: { samples: ${samples}, unit: bytes, min: 1, max: ${max}, sum: ${sum} }\n`
    const deltas = new JobDeltas()
    deltas.update(read(text(10, 1_048_576, 10_485_760)))
    expect(rpcsOf(deltas.update(read(text(20, 4096, 20_000_000))))).toEqual({ a: 20 })
    expect(rpcsOf(deltas.update(read(text(25, 4096, 30_000))))).toEqual({ a: 25 })
  })

  it('subtracts sums beyond 2^53 to the last byte', () => {
    const deltas = new JobDeltas()
    const at = 2n ** 60n
    deltas.update(reading({ a: { write_bytes: [10, at], write: 10 } }))
    expect(deltas.update(reading({ a: { write_bytes: [11, at + 3n], write: 11 } }))).toMatchObject([{ writeBytes: 3 }])
  })

  it('invents nothing across a gap', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 100 } }))
    deltas.reset()
    expect(deltas.update(reading({ a: { write: 900 } }))).toBeUndefined()
    expect(rpcsOf(deltas.update(reading({ a: { write: 901 } })))).toEqual({ a: 1 })
  })
})

describe('entryDelta', () => {
  interface Amounts {
    readonly samples: bigint
    readonly sum: bigint
    readonly sumsq: bigint
    readonly hist?: string
  }

  const entryOf = (c: Amounts, start = '1.000000000'): JobEntry => {
    const hist = c.hist === undefined ? '' : `, hist: { ${c.hist} }`
    const text =
      `- job_id:          a\n  start_time:      ${start} secs.nsecs\n` +
      `  write_bytes:     { samples: ${c.samples}, unit: bytes, min: 1, max: 9, sum: ${c.sum}, sumsq: ${c.sumsq % 2n ** 64n}${hist} }\n`
    return parseJobStats(text).entries[0] as JobEntry
  }

  it('differences are exact below 2^53, however large the counters are, and sums of squares may wrap around', () => {
    const amount = fc.bigInt(0n, 2n ** 52n)
    fc.assert(
      fc.property(
        fc.bigInt(1n, 2n ** 62n),
        fc.bigInt(1n, 2n ** 62n),
        fc.bigInt(0n, 2n ** 64n - 1n),
        amount,
        amount,
        amount,
        (...n) => {
          const [samples, sum, sumsq, moreSamples, moreSum, moreSumsq] = n
          const before = entryOf({ samples, sum, sumsq })
          const now = entryOf({ samples: samples + moreSamples, sum: sum + moreSum, sumsq: sumsq + moreSumsq })
          const delta = entryDelta(now, before).get('write_bytes')
          if (moreSamples === 0n) expect(delta).toBeUndefined()
          else
            expect(delta).toMatchObject({
              samples: Number(moreSamples),
              sum: Number(moreSum),
              sumsq: Number(moreSumsq),
              unit: 'bytes',
            })
        },
      ),
    )
  })

  it('size bins are differenced one by one, and smallest and largest are not given', () => {
    const before = entryOf({ samples: 3n, sum: 3n, sumsq: 3n, hist: '4K: 2, 1M: 1' })
    const now = entryOf({ samples: 7n, sum: 9n, sumsq: 9n, hist: '4K: 2, 64K: 3, 1M: 2' })
    const delta = entryDelta(now, before).get('write_bytes')
    expect(delta?.hist).toEqual(
      new Map([
        [16, 3],
        [20, 1],
      ]),
    )
    expect(Object.keys(delta ?? {})).toEqual(['samples', 'unit', 'sum', 'sumsq', 'hist'])
  })

  it('an entry with another start time, and one that was not there, are new in whole', () => {
    const before = entryOf({ samples: 3n, sum: 3n, sumsq: 3n })
    const now = entryOf({ samples: 7n, sum: 9n, sumsq: 9n }, '2.000000000')
    for (const last of [before, undefined]) {
      expect(entryDelta(now, last).get('write_bytes')).toMatchObject({ samples: 7, sum: 9, sumsq: 9 })
    }
  })
})

describe('clearing of job_stats', () => {
  it('by Sluice makes each entry a new base, also one that counts more than before and has no start time', () => {
    const deltas = new JobDeltas()
    const counts = (n: number): readonly JobEntry[] => read(entry('a', { write: n }, undefined))
    deltas.update(counts(40))
    deltas.cleared()
    expect(rpcsOf(deltas.update(counts(50)))).toEqual({ a: 50 })
    expect(deltas.replaced).toBe(0)
    expect(rpcsOf(deltas.update(counts(60)))).toEqual({ a: 10 })
  })

  it('before the first reading leaves it the base', () => {
    const deltas = new JobDeltas()
    deltas.cleared()
    expect(deltas.update(reading({ a: { write: 5 } }))).toBeUndefined()
  })

  it('by others shows in entries that were replaced, not in jobs that are gone, new or back', () => {
    const deltas = new JobDeltas()
    deltas.update(reading({ a: { write: 5 }, b: { write: 5 }, c: { write: 9 } }))
    deltas.update(reading({ a: { write: 6 }, d: { write: 1 } }))
    expect(deltas.replaced).toBe(0)
    // c aged out and is back; a was cleared.
    deltas.update(reading({ a: { write: 2 }, c: { write: 1 }, d: { write: 2 } }, { a: '7.0', c: '8.0' }))
    expect(deltas.replaced).toBe(1)
    deltas.update(reading({ a: { write: 2 }, d: { write: 3 } }, { a: '7.0' }))
    expect(deltas.replaced).toBe(0)
  })
})
