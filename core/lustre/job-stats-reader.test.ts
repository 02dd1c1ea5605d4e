import fc from 'fast-check'
import { expect, it } from 'vitest'
import { JobStatsReader } from './job-stats-reader.ts'
import { formatCounter, formatEntryHead } from './job-stats-print.ts'
import { parseJobStats } from './job-stats.ts'
import { profile } from './profile.ts'

const DIALECT = profile('dev').text.jobStats

const counter = (samples: number) => ({
  samples,
  min: 1,
  max: 9,
  sum: samples * 4,
  sumsq: '81',
  hist: new Map([[20, samples]]),
})

interface Step {
  readonly job: number
  readonly samples: number
}

/** A table after some updates: an entry's snapshot_time changes exactly when its counters do. */
function table(steps: readonly Step[], integerTimes: boolean): string {
  const state = new Map<number, { samples: number; at: number }>()
  steps.forEach((s, i) => state.set(s.job, { samples: (state.get(s.job)?.samples ?? 0) + s.samples, at: i }))
  const entries = [...state].map(([job, { samples, at }]) => {
    const time = integerTimes ? '1700000000' : `1700000000.${String(at).padStart(9, '0')}`
    const times = { snapshot: time, start: '1600000000.000000000', elapsed: '9.0' }
    return formatEntryHead(`job.${job}`, times, DIALECT) + formatCounter('write', counter(samples), DIALECT)
  })
  return entries.length === 0 ? '' : `job_stats:\n${entries.join('')}`
}

const steps = fc.array(fc.record({ job: fc.nat(5), samples: fc.integer({ min: 1, max: 50 }) }), { maxLength: 12 })

it('equals a fresh parser, independent of earlier readings', () => {
  fc.assert(
    fc.property(
      fc.array(steps, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.nat(2000),
      (runs, integerTimes, cut) => {
        const reader = new JobStatsReader()
        let all: Step[] = []
        for (const more of runs) {
          all = [...all, ...more]
          const text = table(all, integerTimes)
          expect(reader.read(text)).toEqual(parseJobStats(text))
          const part = text.slice(0, cut)
          expect(reader.read(part)).toEqual(parseJobStats(part))
        }
      },
    ),
  )
})

const junk = fc.constantFrom('Killed', 'foo=bar', 'foo=', 'job_stats:', 'x.job_stats=', '', '  read: {', '- job_id:')

it('equals a fresh parser also with junk lines, every time', () => {
  fc.assert(
    fc.property(steps, steps, fc.array(fc.tuple(fc.nat(), junk), { maxLength: 4 }), (first, more, inserts) => {
      const spoil = (text: string): string => {
        const lines = text.split('\n')
        for (const [at, line] of inserts) lines.splice(at % lines.length, 0, line)
        return lines.join('\n')
      }
      const reader = new JobStatsReader()
      const one = spoil(table(first, false))
      const two = spoil(table([...first, ...more], false))
      for (const text of [one, one, two, two, one]) expect(reader.read(text)).toEqual(parseJobStats(text))
    }),
    { numRuns: 500 },
  )
})

it('names faults by their lines in the whole text', () => {
  const times = { snapshot: '1.000000001', start: '1.000000000', elapsed: '0.1' }
  const text = `job_stats:\njunk\n${formatEntryHead('a', times, DIALECT)}  write: { samples: x }\n  odd\n`
  const reader = new JobStatsReader()
  for (let i = 0; i < 3; i++) expect(reader.read(text).skipped.map((s) => s.line)).toEqual([2, 7, 8])
})

it('returns the same counter objects for an unchanged entry', () => {
  const reader = new JobStatsReader()
  const [first] = reader.read(table([{ job: 1, samples: 3 }], false)).entries
  const later = reader.read(
    table(
      [
        { job: 1, samples: 3 },
        { job: 2, samples: 1 },
      ],
      false,
    ),
  ).entries
  expect(later[0]?.counters).toBe(first?.counters)
})
