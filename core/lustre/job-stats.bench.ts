/** Parsing the job_stats of 10,000 jobs, beside splitting the same text into lines and doing nothing with them. */
import { formatCounter, formatEntryHead, OST_COUNTERS } from './job-stats-print.ts'
import { parseJobStats } from './job-stats.ts'

const JOBS = 10_000

function sample(): string {
  let text = 'job_stats:\n'
  for (let j = 0; j < JOBS; j++) {
    text += formatEntryHead(
      `${4000 + j}.app.u${j % 900}`,
      `1763676486.${123456789 + j}`,
      '1763676476.012345678',
      '10.111111111',
    )
    for (const name of OST_COUNTERS) {
      const used = name === 'write_bytes' || name === 'write' || name === 'punch'
      const counter = {
        samples: 100 + j,
        min: 412,
        max: 9981,
        sum: 83_123 + j,
        sumsq: '101234567',
        hist: new Map([[20, 100 + j]]),
      }
      text += formatCounter(name, used ? counter : undefined)
    }
  }
  return text
}

const text = sample()
const megabytes = text.length / 1e6

export const benches = [
  {
    id: 'lustre.parse-job-stats',
    unit: 'MB/s',
    run: (now: () => number): number => {
      const began = now()
      const { entries } = parseJobStats(text)
      const took = now() - began
      if (entries.length !== JOBS) throw new Error('every job is parsed')
      return (megabytes / took) * 1000
    },
    baseline: (now: () => number): number => {
      const began = now()
      const lines = text.split('\n').length
      const took = now() - began
      if (lines < JOBS) throw new Error('every line is there')
      return (megabytes / took) * 1000
    },
    note: `${JOBS} jobs, ${megabytes.toFixed(1)} MB`,
  },
] as const
