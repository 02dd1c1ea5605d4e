/** Parsing of job_stats of 10,000 jobs, half of whose counters have moved. */
import type { Bench, Growth } from '../../bench/measure.ts'
import { JobStatsReader } from './job-stats-reader.ts'
import { JobStatsScanner } from './job-stats-scanner.ts'
import { mixedJobStats } from './job-stats-sample.bench.ts'
import { parseJobStats } from './job-stats.ts'

const JOBS = 10_000

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

const text = mixedJobStats(JOBS)
const bytes = latin1(text)
// Every fourth job has moved since.
const later = mixedJobStats(JOBS, (job) => (job % 4 === 0 ? 1 : 0))
const note = `${JOBS} jobs of 15 counters, ${(bytes.length / 1e6).toFixed(1)} MB`

const mbPerS = (length: number, ms: number): number => length / 1e3 / ms

/** Parses everything and retains the result, as a reader does. */
function parse(input: Uint8Array, jobs: number, now: () => number): number {
  const entries: unknown[] = []
  const began = now()
  const scanner = new JobStatsScanner({ entry: (e) => void entries.push(e) })
  scanner.push(input)
  scanner.end()
  const took = now() - began
  if (entries.length !== jobs || scanner.skipped.count > 0) throw new Error('every job is read, every line understood')
  return took
}

function byteLoop(now: () => number): number {
  const began = now()
  let newlines = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 10) newlines++
  const took = now() - began
  if (newlines < JOBS) throw new Error('every line is there')
  return mbPerS(bytes.length, took)
}

function splitLines(now: () => number): number {
  const began = now()
  const lines = text.split('\n').length
  const took = now() - began
  if (lines < JOBS) throw new Error('every line is there')
  return mbPerS(bytes.length, took)
}

function fromText(now: () => number): number {
  const began = now()
  const { entries } = parseJobStats(text, {}, latin1)
  const took = now() - began
  if (entries.length !== JOBS) throw new Error('every job is read')
  return mbPerS(bytes.length, took)
}

/** Second reading of a server. */
function again(now: () => number): number {
  const reader = new JobStatsReader(latin1)
  reader.read(text)
  const began = now()
  const { entries } = reader.read(later)
  const took = now() - began
  if (entries.length !== JOBS) throw new Error('every job is read')
  return mbPerS(later.length, took)
}

const SIZES = [1000, 5000, 25_000] as const
const sized = new Map<number, Uint8Array>(SIZES.map((jobs) => [jobs, latin1(mixedJobStats(jobs))]))

const limit = 'every byte is looked at once; names and numbers become values that are kept'

export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'lustre.parse-job-stats',
    unit: 'MB/s',
    must: { least: 150 },
    note,
    limit,
    run: (now) => mbPerS(bytes.length, parse(bytes, JOBS, now)),
    baseline: byteLoop,
    beside: 'a loop over the same bytes that counts newlines',
  },
  {
    id: 'lustre.parse-job-stats.text',
    unit: 'MB/s',
    run: fromText,
    note: `${note}, as text`,
    limit,
    baseline: splitLines,
    beside: 'splitting it into lines',
  },
  {
    id: 'lustre.parse-job-stats.again',
    unit: 'MB/s',
    run: again,
    note: `${note}; a quarter of the jobs moved since`,
    baseline: byteLoop,
    beside: 'a loop over the same bytes that counts newlines',
    limit: 'entries whose bytes are as before are compared, not read',
  },
  {
    id: 'lustre.parse-job-stats.growth',
    unit: 'exponent',
    sizes: SIZES,
    axis: 'size',
    must: { most: 1.1 },
    cost: (now, jobs) => Math.min(...[1, 2, 3].map(() => parse(sized.get(jobs) ?? bytes, jobs, now))),
    note: 'time over jobs; the bound is our own target',
    limit: 'what is kept of more jobs no longer fits the caches, and the collector walks over it',
  },
]
