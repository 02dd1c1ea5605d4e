/**
 * Search over 10,000 active jobs, as many that ended, their owners, 2,400 rules and 48 targets, through the host as the
 * palette uses it. The baseline searches the same job ids in a plain loop and sorts the matches.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { Bench, Growth } from '../../../bench/measure.ts'
import { History } from '../../history/history.ts'
import { openHost, type Host } from '../host.ts'

const SIZES = [1000, 3000, 10_000]
const JOBS = Math.max(...SIZES)
const SECONDS = 6
const SERVERS = 12
const RULES = 200
const EPOCH_MS = 1_767_225_600_000
const NAME = 'searched'
/** Text as it is typed, and texts that match many, few and no rows. */
const TYPED = ['4', '43', '4321', '4321.py', 'python u34', 'u3', 'oss', 'ab_1', 'a1 openfoam', 'nothing at all']
const EXES = ['lmp', 'python', 'vasp_std', 'h5perf', 'openfoam', 'ior']

const idOf = (i: number): string => `${400_000 + i}.${EXES[i % EXES.length] ?? ''}.u${i % 997}`
const some = (from: number, count: number): string[] => Array.from({ length: count }, (_, i) => idOf(from + i))
const server = (k: number): string => `oss${String(k + 1).padStart(2, '0')}`
const rulesOf = (k: number): RuleLine[] =>
  Array.from({ length: RULES }, (_, i) => ({
    queue: 'reg',
    cpt: 0,
    name: `ab_${k}_${i}`,
    ref: 1,
    rate: 100,
    conditions: `jobid={${idOf(k * RULES + i)}}`,
  }))
const targets = Array.from({ length: SERVERS * 4 }, (_, i) => ({
  target: `many-OST${i.toString(16).padStart(4, '0')}`,
  node: server(i >> 2),
  rpcs: 100,
  serviceMs: 5,
  queued: 1,
}))

/** Written to a recording, so that the host uses its normal playback. */
async function record(folder: string, jobs: number): Promise<void> {
  const opened = History.open(join(folder, 'many.sqlite'), EPOCH_MS)
  if (!opened.ok) throw new Error(opened.error.what)
  const history = opened.value
  const running = some(0, jobs)
  const both = some(0, 2 * jobs)
  history.beginSource('EMULATED', 'many', '', EPOCH_MS)
  for (let s = 0; s < SECONDS; s++) {
    const atMs = EPOCH_MS + s * 1000
    if (s === 0) for (let k = 0; k < SERVERS; k++) history.recordRules(atMs, server(k), rulesOf(k))
    const rows = (s === 0 ? both : running).map((jobId, i) => ({
      jobId,
      rpcs: 1 + ((i * 37) % 500),
      readBps: i * 4096,
      writeBps: i,
      throttled: 0,
      record: 0,
      mdops: i % 7,
    }))
    history.record(
      atMs,
      rows,
      targets,
      (jobId) => ({ jobId, user: jobId.slice(jobId.lastIndexOf('.') + 1), account: `a${jobId.slice(3, 5)}`, nodes: 4 }),
      { rpcs: 2_500_000, readBps: 1e10, writeBps: 1e11, serviceMs: 5, queued: 100, rules: RULES },
    )
  }
  history.flush()
  const { recordings } = history
  const path = recordings?.pathOf(NAME)
  if (!recordings || !path?.ok) throw new Error('this history keeps no recordings')
  mkdirSync(recordings.folder, { recursive: true })
  const written = await history.writeRecording({ fromMs: EPOCH_MS, toMs: EPOCH_MS + SECONDS * 1000 }, path.value)
  if (!written.ok) throw new Error(written.error.what)
  history.close()
}

async function opened(jobs: number) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  await record(folder, jobs)
  const host = await openHost({ shell: 'terminal', historyFile: join(folder, 'history.sqlite'), paced: false })
  if (!host.ok) throw new Error(host.error.what)
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const client = clientOf(host.value)
  await client.history.open({ name: NAME })
  // A recording knows the jobs that a frame has shown.
  for await (const frame of await client.views.jobs({ stream: 'bench', limit: 1 })) if (frame.known >= jobs) break
  return client
}
const clientOf = (host: Host) => createRouterClient(host.router, { context: { peer: 'bench' } })
const worlds = new Map<number, ReturnType<typeof opened>>()

/** Time of the slowest text, ms. */
async function typed(now: () => number, jobs = JOBS): Promise<number> {
  const world = worlds.get(jobs) ?? opened(jobs)
  worlds.set(jobs, world)
  const client = await world
  let worst = 0
  for (const text of TYPED) {
    const began = now()
    const { found, more } = await client.search.find({ text })
    worst = Math.max(worst, now() - began)
    if (text === '4' && (more['job'] ?? 0) < jobs) throw new Error('not all jobs are on screen')
    if (jobs === JOBS && text === '4321' && found[0]?.kind !== 'job') throw new Error('the job was not found')
  }
  return worst
}

function plain(now: () => number): number {
  const names = some(0, 2 * JOBS)
  return Math.max(
    ...TYPED.map((text) => {
      const began = now()
      const terms = text.split(' ')
      const found = names.filter((id) => terms.every((term) => id.includes(term)))
      found.sort((a, b) => a.length - b.length)
      return now() - began
    }),
  )
}

export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'search.find-10000',
    unit: 'ms',
    run: (now) => typed(now),
    baseline: plain,
    must: { most: 20 },
    note: 'the slowest of ten texts, whole answer of the host; 10,000 jobs at work, as many that ended, 2,400 rules',
    beside: 'one plain loop over the job ids and a sort',
    limit:
      'A text may be any part of a name, for which there is no index: every job on screen is looked at, and SQLite tries LIKE on every job that is kept.',
  },
  {
    id: 'search.growth',
    unit: 'exponent',
    sizes: SIZES,
    axis: 'size',
    runs: 5,
    must: { most: 1.15 },
    note: 'the same over jobs at work, with as many that ended; rules and targets stay as many; the bound is our own target',
    cost: typed,
    limit: 'Below 1, as rules and targets cost the same for all sizes.',
  },
]
