/**
 * Filter typed over 100,000 jobs: time of the frame, with rows, totals and facets, of a recorded instant. The baseline
 * searches the same names in a plain loop and sorts the matches, without a frame.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from '../../../../bench/measure.ts'
import { History } from '../../../history/history.ts'
import { clusterAt, placeAt } from '../../../recorded/find.ts'
import { Past } from '../../../recorded/past.ts'
import { jobsFrame } from './jobs.ts'

const JOBS = 100_000
const SAMPLES = 5
const EPOCH_MS = 1_767_225_600_000
const WORD = 'u34'
/** Text as it is typed: every keystroke is a new query. */
const TYPED = ['u', 'u3', 'u34', 'u34 ', 'u34 r', 'u34 rpc>2', 'u34 rpc>20', 'u34 rpc>200', 'account:a1*', '-user:u1*']

const ids = Array.from({ length: JOBS }, (_, i) => `${400_000 + i}.app${i % 37}.u${i % 997}`)
const rpcsOf = (i: number): number => 1 + ((i * 37) % 500)

type Recorded = ReturnType<typeof clusterAt>
let viewed: Recorded | undefined
let at = 0

function world(): Recorded {
  if (viewed) return viewed
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const opened = History.open(join(folder, 'history.sqlite'), EPOCH_MS)
  if (!opened.ok) throw new Error(opened.error.what)
  const history = opened.value
  process.on('exit', () => {
    history.close()
    rmSync(folder, { recursive: true, force: true })
  })
  history.beginSource('EMULATED', 'bench', '', EPOCH_MS)
  const samples = ids.map((jobId, i) => ({
    jobId,
    rpcs: rpcsOf(i),
    readBps: i * 4096,
    writeBps: i * 512,
    throttled: i % 5 ? 0 : 1,
    record: 0,
    mdops: i % 7,
  }))
  const targets = [{ target: 'bench-OST0000', node: 'oss01', rpcs: 100, serviceMs: 5, queued: 1 }]
  for (let s = 0; s < SAMPLES; s++) {
    history.record(
      EPOCH_MS + s * 1000,
      samples,
      targets,
      (jobId) => ({ jobId, user: jobId.slice(jobId.lastIndexOf('.') + 1), account: `a${jobId.slice(4, 6)}`, nodes: 4 }),
      { rpcs: 2_500_000, readBps: 1e10, writeBps: 1e11, serviceMs: 5, queued: 100, rules: 0 },
    )
  }
  history.flush()
  const past = new Past(history.reader())
  const place = placeAt(past, EPOCH_MS + 3000, 0)
  if (!place) throw new Error('nothing is kept')
  viewed = clusterAt(past, place)
  at = viewed.nearest(place.atMs)
  return viewed
}

/** Time of the slowest keystroke, ms. */
function typed(now: () => number): number {
  const over = world()
  return Math.max(
    ...TYPED.map((filter) => {
      const began = now()
      const frame = jobsFrame(
        over,
        { at, windowMs: 120_000, target: '', sort: 'rpcs', descending: true, filter, offset: 0, limit: 60 },
        1,
      )
      const ms = now() - began
      if (filter === WORD && (frame.shown === 0 || frame.shown >= JOBS)) throw new Error('the filter chose nothing')
      return ms
    }),
  )
}

function plain(now: () => number): number {
  const began = now()
  const found: number[] = []
  for (const [i, id] of ids.entries()) if (id.includes(WORD)) found.push(i)
  found.sort((a, b) => rpcsOf(b) - rpcsOf(a))
  if (found.length === 0) throw new Error('nothing found')
  return now() - began
}

export const benches: readonly Bench[] = [
  {
    id: 'jobs.filter-100000',
    unit: 'ms',
    run: typed,
    baseline: plain,
    must: { most: 100 },
    note: 'the slowest of ten keys over 100,000 jobs, whole frame',
    beside: 'one plain loop over the names and a sort, no frame made',
    limit:
      'Every key computes each job again: its means over the window, its row and its rank. Matching the filter is the smaller part.',
  },
]
