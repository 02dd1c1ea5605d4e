/**
 * One step of the cursor in a recorded range of 10,000 jobs: the frames of jobs (60 rows, chart, sparks, facets,
 * totals) and of the overview, from a real file. The baseline makes the same frames without caches.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { Bench, Growth } from '../../bench/measure.ts'
import { History } from '../history/history.ts'
import { jobsFrame } from '../host/views/jobs/jobs.ts'
import { overviewFrame } from '../host/views/overview.ts'
import { clusterAt, placeAt } from './find.ts'
import { Past } from './past.ts'

const SIZES = [1000, 3000, 10_000]
const JOBS = Math.max(...SIZES)
const SECONDS = 190
const WINDOW_MS = 120_000
const STEPS = 10
const SERVERS = 12
const RULES = 200
const EPOCH_MS = 1_767_225_600_000

interface World {
  readonly history: History
  readonly past: Past
  readonly close: () => void
}

const worlds = new Map<number, World>()

const rulesOf = (server: number, second: number): RuleLine[] =>
  Array.from({ length: RULES }, (_, i) => {
    const rate = 100 + ((i * 7 + server + (i % 10 === 0 ? second : 0)) % 900)
    return { queue: 'reg', cpt: 0, name: `ab_${i}`, conditions: `jobid={${40_000 + i}.app.u${i}}`, rate, ref: 1 }
  })

/** Written once per number of jobs, all active, on 12 servers with 200 rules each. */
function recorded(jobs: number): World {
  const known = worlds.get(jobs)
  if (known) return known
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const opened = History.open(join(folder, 'history.sqlite'), EPOCH_MS)
  if (!opened.ok) throw new Error(opened.error.what)
  const history = opened.value
  history.beginSource('EMULATED', 'bench', '', EPOCH_MS)
  const targets = Array.from({ length: SERVERS * 4 }, (_, i) => ({
    target: `bench-OST${String(i).padStart(4, '0')}`,
    node: `oss${String(1 + (i >> 2)).padStart(2, '0')}`,
  }))
  const ids = Array.from({ length: jobs }, (_, i) => `${40_000 + i}.app.u${i}`)
  const samples = Array.from({ length: 7 }, (_, s) =>
    ids.map((jobId, i) => {
      const rpcs = 1 + ((i * 37 + s * (i % 13)) % 500)
      const record = (i % 2 === 0 ? 1 : -1) * (i >> 1)
      return {
        jobId,
        rpcs,
        readBps: rpcs * 4096,
        writeBps: rpcs * 65_536,
        throttled: i % 5 ? 0 : 1,
        record,
        mdops: i % 7,
      }
    }),
  )
  for (let s = 0; s < SECONDS; s++) {
    const atMs = EPOCH_MS + s * 1000
    for (let k = 0; k < SERVERS; k++) {
      history.recordRules(atMs, `oss${String(k + 1).padStart(2, '0')}`, rulesOf(k, s))
    }
    history.record(
      atMs,
      samples[s % samples.length] ?? [],
      targets.map((t, i) => ({ ...t, rpcs: 100 + i, serviceMs: 5, queued: i })),
      (jobId) => ({ jobId, user: `u${jobId.slice(-3)}`, account: `a${jobId.slice(-2)}`, nodes: 4 }),
      {
        rpcs: 2_500_000,
        readBps: 1e10,
        writeBps: 1e11,
        serviceMs: 5,
        queued: 100,
        rules: RULES,
        onLoan: 10,
        mdops: 100,
      },
    )
  }
  history.flush()
  const close = (): void => {
    history.close()
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', close)
  const world = { history, past: new Past(history.reader()), close }
  worlds.set(jobs, world)
  return world
}

const query = {
  windowMs: WINDOW_MS,
  target: '',
  sort: 'rpcs',
  descending: true,
  filter: '',
  offset: 0,
  limit: 60,
} as const

function frames(past: Past, steps: readonly number[], now: () => number): number[] {
  const place = placeAt(past, EPOCH_MS + 170_000, 0)
  if (!place) throw new Error('nothing is kept')
  const viewed = clusterAt(past, place)
  const at = viewed.nearest(place.atMs)
  return steps.map((step) => {
    const began = now()
    jobsFrame(viewed, { ...query, at: at + step }, 1)
    overviewFrame(viewed, { at: at + step, windowMs: WINDOW_MS }, 1)
    return now() - began
  })
}

const back = Array.from({ length: STEPS }, (_, i) => -i)
const forth = Array.from({ length: STEPS }, (_, i) => i - STEPS)

function median(now: () => number, steps: readonly number[], jobs = JOBS): number {
  const took = frames(recorded(jobs).past, steps, now)
    .slice(1)
    .sort((a, b) => a - b)
  return took[took.length >> 1] as number
}

const cold = (now: () => number): number => frames(new Past(recorded(JOBS).history.reader()), [0], now)[0] as number

const NOTE = 'one step of the cursor, frames of jobs and overview; 10,000 jobs, a chart of two minutes'
const beside = 'the same frames with nothing read before'
const limit =
  'The sums of the window move on by a sample for every job, and every job is named again for totals and facets.'

export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'recorded.step-back',
    unit: 'ms',
    must: { most: 16 },
    note: `${NOTE}, one second back`,
    beside,
    limit,
    run: (now) => median(now, back),
    baseline: cold,
  },
  {
    id: 'recorded.step-forth',
    unit: 'ms',
    must: { most: 16 },
    note: `${NOTE}, one second forth`,
    beside,
    limit,
    run: (now) => median(now, forth),
    baseline: cold,
  },
  {
    id: 'recorded.step-worst',
    unit: 'ms',
    note: `${NOTE}, the longest of ${STEPS} steps back`,
    limit,
    run: (now) => Math.max(...frames(recorded(JOBS).past, back, now).slice(1)),
  },
  {
    id: 'recorded.growth',
    unit: 'exponent',
    sizes: SIZES,
    axis: 'size',
    runs: 5,
    must: { most: 1.15 },
    note: 'one step back, over jobs; the bound is our own target',
    cost: (now, jobs) => median(now, back, jobs),
    limit: 'Below 1, as rules, targets and the overview cost the same for all sizes.',
  },
]
