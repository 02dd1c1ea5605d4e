/**
 * The host with 10,000 jobs on 12 servers of 48 OSTs, sampled once a second: its memory when all its buffers are full,
 * and the cost of one sample. Each figure is from a process that runs only the host (bench/host-child.ts), its servers
 * in another one.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import hostProcess from '../../scripts/host-process.json' with { type: 'json' }
import type { HostFigures, HostPlan } from '../../bench/host-child.ts'
import { fitted } from '../../bench/growth.ts'
import { median } from '#core/base/statistics.ts'
import { told, type Measured, type Suite } from '../../bench/measure.ts'

const JOBS = [1000, 3000, 10_000]
/** Memory keeps 600 samples and 1,800 seconds; pages of 64 are dropped as a whole. */
const FILLED = 1940
/** Samples with changes only; for the largest cluster also the whole tables that are read once a minute. */
const SAMPLES = 24
const SAMPLES_WHOLE = 66
/** Samples until the tables are cut down, and the program is warm. */
const WARM = 6

function hostOf(jobs: number): Promise<HostFigures> {
  const samples = jobs === JOBS.at(-1) ? SAMPLES_WHOLE : SAMPLES
  const plan: HostPlan = { jobs, share: 0.25, filled: FILLED, samples }
  const program = join(import.meta.dirname, '../../bench/host-child.ts')
  return new Promise((resolve, reject) => {
    const args = [...hostProcess.flags, program, JSON.stringify(plan)]
    const options = { maxBuffer: 1 << 20, env: { ...process.env, ...hostProcess.env } }
    execFile(process.execPath, args, options, (e, stdout) => {
      if (e) reject(new Error(e.message))
      else resolve(JSON.parse(stdout) as HostFigures)
    })
  })
}

const SETTING =
  '12 servers, 48 OSTs, 22,000 entries of job_stats; a quarter of the jobs at work at any time, for a minute each'

/** Measures one size after another: two hosts at once would compete for the processor. */
async function run(): Promise<Measured[]> {
  const figures: HostFigures[] = []
  for (const jobs of JOBS) figures.push(await hostOf(jobs))
  const full = figures.at(-1)
  if (!full) return []
  const memory = figures.map(({ pss }) => pss.slice(WARM))
  const samples = figures.map(({ sampleMs }) => sampleMs.slice(WARM))
  // One fit through each sample of the shortest run and the corresponding samples of the others.
  const exponents = (of: readonly (readonly number[])[]): number[] =>
    Array.from({ length: Math.min(...of.map((values) => values.length)) }, (_, i) =>
      fitted(
        JOBS,
        of.map((values) => values[i] as number),
        'size',
      ),
    )
  const points = (of: readonly (readonly number[])[]): Pick<Measured, 'points'> => ({
    points: JOBS.map((jobs, i) => [jobs, Math.round(median(of[i] as number[]))] as const),
  })
  const whole = Math.max(...full.bytes.slice(WARM)) / 1e6
  const moved = median(full.bytes.slice(WARM)) / 1e6
  return [
    told(
      {
        id: 'host.memory.10000-jobs',
        unit: 'MB',
        must: { most: 400 },
        note: `resident (PSS) at the end of ${SAMPLES_WHOLE - WARM} samples with half an hour behind them: ${SETTING}; heap in use ${Math.round(full.heapUsed)} MB, beside it ${Math.round(full.external)} MB`,
        limit:
          'the program itself, before any job; of the heap, the last text of each entry as its server printed it is the largest part; of the arrays, the means of a second of half an hour',
      },
      memory.at(-1) ?? [],
    ),
    {
      ...told(
        {
          id: 'host.memory.growth',
          unit: 'exponent',
          must: { most: 1.1 },
          note: `over jobs; ${SETTING}; the bound is our own target`,
          limit: 'below 1, as the program itself takes the same with any number of jobs',
        },
        exponents(memory),
      ),
      ...points(memory),
    },
    told(
      {
        id: 'host.sample.10000-jobs',
        unit: 'ms',
        must: { most: 300 },
        note: `processor time of one sample, from the bytes of the servers to the frames of an open Overview and Jobs view, history on disk included: ${moved.toFixed(1)} MB, once a minute ${whole.toFixed(1)} MB; frames ${Math.round(median(full.frameMs.slice(WARM)))} ms of it; ${SETTING}`,
        beside: 'a loop over the bytes of a sample that counts newlines',
        limit:
          'every entry that moved is read, compared with what it was and put into the history; then what reading leaves behind is collected',
      },
      samples.at(-1) ?? [],
      full.loopMs,
    ),
    {
      ...told(
        {
          id: 'host.sample.growth',
          unit: 'exponent',
          must: { most: 1.2 },
          note: `processor time over jobs; ${SETTING}; the bound is our own target`,
          limit: 'every entry that moved is read and kept; what is kept of more jobs no longer fits the caches',
        },
        exponents(samples),
      ),
      ...points(samples),
    },
  ]
}

export const suites: readonly Suite[] = [{ id: 'host', run }]
