/** Sample job_stats table for benchmarks. */
import { OST_COUNTERS, printJobStats } from './job-stats-print.ts'
import { profile } from './profile.ts'

const DEV = profile('dev')
const NAMES = OST_COUNTERS(DEV)

/** OST table in which every other counter has moved, alternating. */
export const mixedJobStats = (jobs: number, more: (job: number) => number = () => 0): string =>
  printJobStats(
    Array.from({ length: jobs }, (_, job) => ({
      jobId: `${4000 + job}.app.u${job % 900}`,
      times: {
        snapshot: `1763676486.${123456789 + job + more(job)}`,
        start: `1763676476.${String(12345678 + job).padStart(9, '0')}`,
        elapsed: `10.${String(111111111 + more(job)).padStart(9, '0')}`,
      },
      counters: new Map(
        NAMES.filter((_, i) => (i + job) % 2 === 0).map((name) => {
          const samples = 100 + job + more(job)
          const sum = samples * 4096
          const hist = new Map([
            [12, samples - 3],
            [20, 3],
          ])
          return [name, { samples, min: 412, max: 1_048_576, sum, sumsq: String(sum * 4096), hist }]
        }),
      ),
    })),
    NAMES,
    DEV.text.jobStats,
  )
