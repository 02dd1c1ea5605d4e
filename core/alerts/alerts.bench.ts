/**
 * Cost of the alert watch of one source for a sample of 10,000 jobs on 48 targets of 12 servers, one sample a second, jobs every fifth;
 * compared with summing the same columns.
 */
import type { Bench, Growth } from '../../bench/measure.ts'
import { JOB_BIN_MS, type Figures, type JobFigures } from './figures.ts'
import { AlertWatch } from './watch.ts'

const JOBS = 10_000
const SIZES = [1000, 3000, JOBS, 30_000]
const SERVERS = 12
const SAMPLES = 300
const every = Array.from({ length: Math.max(...SIZES) }, (_, i) => `${4000 + i}.solve.u${i % 97}`)
const idsOf = new Map(SIZES.map((n) => [n, every.slice(0, n)]))
const hosts = Array.from({ length: SERVERS }, (_, i) => `oss${i}`)
const all = hosts.map((_, i) => i)

/** One job in fifty drops after two minutes and another one runs at its limit; these are judged. */
function figures(at: number, jobsKnown = JOBS): Figures {
  const ids = idsOf.get(jobsKnown) ?? []
  const atMs = at * 1_000
  const servers = hosts.map((host, i) => ({ host, queued: 40 + ((at * 7 + i) % 25), silent: '' }))
  const isBin = atMs % JOB_BIN_MS === 0
  const jobs: JobFigures | undefined = isBin
    ? {
        ids,
        served: Float64Array.from(ids, (_, i) => (at > 120 && i % 50 === 0 ? 2 : 20 + ((i * 31 + at) % 9))),
        held: Float64Array.from(ids, (_, i) => (i % 50 === 1 ? 1 : 0)),
        serversOf: () => all,
        weightOf: () => 4,
        servers: hosts.map((host) => ({ host, queued: 400, served: 20_000 })),
      }
    : undefined
  return { atMs, intervalMs: 1_000, regime: '', servers, jobs }
}

function look(now: () => number, jobs = JOBS): number {
  const watch = new AlertWatch(() => 'a')
  let took = 0
  for (let at = 1; at <= SAMPLES; at++) {
    const f = figures(at, jobs)
    const began = now()
    watch.look(f)
    took += now() - began
  }
  return took / SAMPLES
}

/** Lower bound: adds up every figure once. */
function sums(now: () => number): number {
  let took = 0
  let sum = 0
  for (let at = 1; at <= SAMPLES; at++) {
    const { jobs } = figures(at)
    const began = now()
    for (let i = 0; jobs && i < JOBS; i++) sum += (jobs.served[i] as number) + (jobs.held[i] as number)
    took += now() - began
  }
  return sum > 0 ? took / SAMPLES : NaN
}

export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'alerts.sample',
    unit: 'ms',
    run: (now: () => number) => look(now),
    baseline: sums,
    must: { most: 2 },
    note: `a sample of ${JOBS} jobs on ${SERVERS} servers judged, mean of ${SAMPLES}; the bound is our own target`,
    beside: 'every figure of the jobs is added up once',
    limit: 'Every fifth second each job is judged by what it was served before and by its weight.',
  },
  {
    id: 'alerts.growth',
    unit: 'exponent',
    must: { most: 1.2 },
    note: 'the same over jobs; the bound is our own target',
    limit: 'Each job is looked at once; what is remembered of 30,000 outgrows the caches.',
    sizes: SIZES,
    axis: 'size',
    runs: 5,
    cost: look,
  },
]
