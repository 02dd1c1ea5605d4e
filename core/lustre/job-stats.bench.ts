/** Reading the job_stats of 10,000 jobs, half of whose counters have moved. */
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

/** Reads all of it and keeps the result, as a result is kept. */
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

/** A reading of a server that was read before. */
function again(now: () => number): number {
  const reader = new JobStatsReader(latin1)
  reader.read(text)
  const began = now()
  const { entries } = reader.read(later)
  const took = now() - began
  if (entries.length !== JOBS) throw new Error('every job is read')
  return mbPerS(later.length, took)
}

const SIZES = [1000, 5000, 25_000].map((jobs) => ({ jobs, bytes: latin1(mixedJobStats(jobs)) }))

/** Slope of time over size on logarithmic scales, by least squares: 1 = twice the jobs take twice the time. */
function growth(now: () => number): number {
  const points = SIZES.map((s) => {
    const best = Math.min(...[1, 2, 3].map(() => parse(s.bytes, s.jobs, now)))
    return { x: Math.log(s.bytes.length), y: Math.log(best) }
  })
  const mean = (of: (p: { x: number; y: number }) => number): number =>
    points.reduce((n, p) => n + of(p), 0) / points.length
  const x = mean((p) => p.x)
  const y = mean((p) => p.y)
  return mean((p) => (p.x - x) * (p.y - y)) / mean((p) => (p.x - x) ** 2)
}

export const benches = [
  {
    id: 'lustre.parse-job-stats',
    unit: 'MB/s',
    run: (now: () => number): number => mbPerS(bytes.length, parse(bytes, JOBS, now)),
    baseline: byteLoop,
    note: `${note}; beside a loop over the same bytes that counts newlines`,
  },
  {
    id: 'lustre.parse-job-stats.text',
    unit: 'MB/s',
    run: fromText,
    baseline: splitLines,
    note: `${note}, as text; beside splitting it into lines`,
  },
  { id: 'lustre.parse-job-stats.again', unit: 'MB/s', run: again, note: `${note}; a quarter of the jobs moved since` },
  {
    id: 'lustre.parse-job-stats.growth',
    unit: 'exponent',
    run: growth,
    note: `time over size with ${SIZES.map((s) => s.jobs).join(', ')} jobs`,
  },
] as const
