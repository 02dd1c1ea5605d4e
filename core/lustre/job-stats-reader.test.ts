import fc from 'fast-check'
import { expect, it } from 'vitest'
import { JobStatsReader } from './job-stats-reader.ts'
import { formatCounter, formatEntryHead } from './job-stats-print.ts'
import { parseJobStats } from './job-stats.ts'

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

/** A table after some updates: an entry's snapshot_time moves exactly when its counters do. */
function table(steps: readonly Step[], integerTimes: boolean): string {
  const state = new Map<number, { samples: number; at: number }>()
  steps.forEach((s, i) => state.set(s.job, { samples: (state.get(s.job)?.samples ?? 0) + s.samples, at: i }))
  const entries = [...state].map(([job, { samples, at }]) => {
    const time = integerTimes ? '1700000000' : `1700000000.${String(at).padStart(9, '0')}`
    return formatEntryHead(`job.${job}`, time, '1600000000.000000000', '9.0') + formatCounter('write', counter(samples))
  })
  return entries.length === 0 ? '' : `job_stats:\n${entries.join('')}`
}

const steps = fc.array(fc.record({ job: fc.nat(5), samples: fc.integer({ min: 1, max: 50 }) }), { maxLength: 12 })

it('answers what a fresh parser answers, whatever was read before', () => {
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

it('names the same faults with the same lines, every time', () => {
  const text = `job_stats:\njunk\n${formatEntryHead('a', '1.000000001', '1.000000000', '0.1')}  write: { samples: x }\n  odd\n`
  const reader = new JobStatsReader()
  for (let i = 0; i < 3; i++) expect(reader.read(text).skipped).toEqual(parseJobStats(text).skipped)
  expect(parseJobStats(text).skipped.map((s) => s.line)).toEqual([2, 7, 8])
})

it('hands back the very counters of an entry that stands still', () => {
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
