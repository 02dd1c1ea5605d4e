import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emulatedCluster, jobsQuery, twoJobs } from '../../tests/node/emulated-cluster.ts'
import { History } from '../history/history.ts'
import { jobColumn, TOTAL, totalColumn } from '../cluster/state/recent.ts'
import { jobFrame } from '../host/views/jobs/job.ts'
import { jobsFrame } from '../host/views/jobs/jobs.ts'
import { overviewFrame } from '../host/views/overview.ts'
import { stripFrame } from '../host/views/strip.ts'
import { BlockCache } from './block-cache.ts'
import { clusterAt, NEAR_MS, placeAt } from './find.ts'
import { LongView } from './long-view.ts'
import { Past } from './past.ts'
import { tierOfWindow } from './tiers.ts'

const EPOCH_MS = 1_767_225_600_000
const HOSTILE = [
  '=cmd|"/c x"!A1',
  '<img src=x onerror=alert(1)>',
  '__proto__',
  'a\u0000b',
  '../..',
  '4711.a b\u202e.u1',
]

function opened(): History {
  const made = History.open(':memory:', EPOCH_MS)
  if (!made.ok) throw new Error(made.error.what)
  return made.value
}

/**
 * Writes one sample a second in [from, to) seconds; job k does 10 (k + 1) RPC/s, and the last one only in the first
 * second.
 */
function write(history: History, from: number, to: number): void {
  for (let s = from; s < to; s++) {
    const jobs = HOSTILE.map((jobId, k) => {
      const rpcs = 10 * (k + 1)
      return { jobId, rpcs, readBps: rpcs, writeBps: 2 * rpcs, throttled: 0, record: k === 0 ? 7 : -7, mdops: 0 }
    }).filter((_, k) => k < HOSTILE.length - 1 || s === from)
    const rpcs = jobs.reduce((n, j) => n + j.rpcs, 0)
    const target = { target: 'x-OST0000', node: 'oss01', rpcs, serviceMs: 4, queued: 1 }
    const whole = { rpcs, readBps: rpcs, writeBps: 2 * rpcs, serviceMs: 4, queued: 1, rules: 3, onLoan: 7, mdops: 0 }
    const facts = (jobId: string) => ({ jobId, user: jobId, account: jobId, nodes: 1 })
    history.record(EPOCH_MS + s * 1000, jobs, [target], facts, whole)
  }
}

describe('a past with a hole in it', () => {
  let history: History
  let past: Past
  beforeAll(() => {
    history = opened()
    history.beginSource('EMULATED', '<b>x</b>', '', EPOCH_MS)
    write(history, 0, 120)
    write(history, 300, 400)
    past = new Past(history.reader())
  })
  afterAll(() => history.close())

  const activeRules = (atMs: number) => {
    const place = placeAt(past, atMs, NEAR_MS)
    if (!place) throw new Error('nothing is kept')
    const viewed = clusterAt(past, place)
    return { viewed, sample: viewed.nearest(place.atMs), place }
  }

  it('is stepped over', () => {
    const { viewed, sample } = activeRules(EPOCH_MS + 119_000)
    const { totals } = viewed.recent.raw
    expect(totals.atMs(sample)).toBe(EPOCH_MS + 119_000)
    expect(totals.atMs(sample + 1)).toBe(EPOCH_MS + 300_000)
    expect(jobsFrame(viewed, { ...jobsQuery, at: sample + 1 }, 1).atMs).toBe(EPOCH_MS + 300_000)
  })

  it('is a gap in every chart, and never a line across', () => {
    const { viewed, sample } = activeRules(EPOCH_MS + 330_000)
    const strip = stripFrame(viewed, { at: sample, windowMs: 600_000 }, 1)
    const inHole = strip.t.flatMap((t, i) =>
      t > EPOCH_MS + 121_000 && t < EPOCH_MS + 299_000 ? [strip.rpcs[i] ?? null] : [],
    )
    expect(inHole.length).toBeGreaterThan(50)
    expect(new Set(inHole)).toEqual(new Set([null]))
    expect(strip.rpcs.filter((v) => v !== null).every((v) => v >= 150)).toBe(true)
    const { stack } = overviewFrame(viewed, { at: sample, windowMs: 300_000 }, 1)
    for (const s of stack.series) {
      expect(s.values.some((v, i) => v === null && (stack.t[i] ?? 0) < EPOCH_MS + 299_000)).toBe(true)
    }
  })

  it('is not in the mean of what comes after it', () => {
    const { viewed, sample } = activeRules(EPOCH_MS + 300_000)
    // The last job was active in that second: a mean over ten seconds would include ninety RPC/s from before the gap.
    const last = HOSTILE.at(-1) ?? ''
    expect(viewed.recent.raw.jobs.mean(last, jobColumn('rpcs'), sample, 10)).toBe(60)
    expect(viewed.recent.raw.jobs.mean(last, jobColumn('rpcs'), sample + 9, 10)).toBe(6)
  })

  it('lands beside it when it is aimed at, and nowhere near nothing', () => {
    expect(placeAt(past, EPOCH_MS + 200_000, 0)).toBeUndefined()
    const landed = placeAt(past, EPOCH_MS + 200_000, NEAR_MS)?.atMs ?? NaN
    expect([EPOCH_MS + 119_000, EPOCH_MS + 110_000, EPOCH_MS + 60_000]).toContain(landed)
    expect(placeAt(past, EPOCH_MS + 10_000_000, NEAR_MS)).toBeUndefined()
  })

  it('carries hostile names as they are', () => {
    const { viewed, sample } = activeRules(EPOCH_MS + 300_000)
    const frame = jobsFrame(viewed, { ...jobsQuery, at: sample }, 1)
    expect([...frame.rows.jobId].sort()).toEqual([...HOSTILE].sort())
    expect(frame.rows.user).toEqual(frame.rows.jobId)
    for (const jobId of HOSTILE) {
      expect(jobFrame(viewed, { at: sample, windowMs: 60_000, target: '', jobId }, 1)).toMatchObject({ known: true })
    }
    expect(jobFrame(viewed, { at: sample, windowMs: 60_000, target: '', jobId: 'constructor' }, 1).known).toBe(false)
  })

  it('keeps the record of a job that does nothing', () => {
    const { viewed, sample } = activeRules(EPOCH_MS + 350_000)
    const { rows } = jobsFrame(viewed, { ...jobsQuery, at: sample }, 1)
    const last = rows.jobId.indexOf(HOSTILE.at(-1) ?? '')
    expect([rows.rpcs[last], rows.record[last]]).toEqual([0, -7])
  })
})

it('holds no more blocks than it may', () => {
  const history = opened()
  history.beginSource('EMULATED', 'x', '', EPOCH_MS)
  write(history, 0, 60)
  const cache = new BlockCache(history.reader(), 100)
  for (let s = 0; s < 60; s++) expect(cache.block('jobs', 'raw', EPOCH_MS + s * 1000)?.keys.length).toBeGreaterThan(4)
  expect(cache.rows).toBeLessThanOrEqual(100)
  history.close()
})

it('draws a window from the finest tier that reaches back and is not too fine', () => {
  const tiers = [
    { id: 'raw', fromMs: 900_000, toMs: 1_000_000, stepMs: 100 },
    { id: '1s', fromMs: 500_000, toMs: 999_000, stepMs: 1000 },
    { id: '10s', fromMs: 0, toMs: 990_000, stepMs: 10_000 },
  ] as const
  const of = (fromMs: number, points: number) => tierOfWindow(tiers, fromMs, 1_000_000, points)?.id
  expect([of(990_000, 600), of(930_000, 600), of(700_000, 600), of(100_000, 600), of(700_000, 10)]).toEqual([
    'raw',
    '1s',
    '1s',
    '10s',
    '10s',
  ])
})

it('joins the store with memory where a window reaches back beyond the start of the console', async () => {
  const history = opened()
  const before = emulatedCluster(twoJobs(), { kind: 'LIVE', history })
  await before.run(20)
  const then = before.monitor.recent.seconds.totals
  const after = emulatedCluster(twoJobs(), { kind: 'LIVE', history, source: before.source, session: 'two' })
  await after.run(40)
  const { monitor } = after
  const viewed = new LongView(monitor)
  const { tier, to } = viewed.recent.tierFor(monitor.sample, 60_000)
  const atOf = (s: number): number => tier.totals.atMs(s)
  const rpcs = totalColumn('rpcs')
  let compared = 0
  for (let s = tier.totals.oldest; s <= to; s++) {
    const memory = [then, monitor.recent.seconds.totals].find((t) => t.atMs(t.sampleAt(atOf(s))) === atOf(s))
    const kept = tier.totals.value(TOTAL, rpcs, s)
    const held = memory?.value(TOTAL, rpcs, memory.sampleAt(atOf(s))) ?? NaN
    if (Number.isNaN(held) || Number.isNaN(kept)) continue
    expect(kept).toBeCloseTo(held, 3)
    compared++
  }
  expect(compared).toBeGreaterThan(30)
  const frame = jobsFrame(viewed, { ...jobsQuery, windowMs: 60_000 }, 1)
  const began = monitor.recent.raw.totals.atMs(1)
  expect(frame.stack.t.filter((t) => t < began - 2000).length).toBeGreaterThan(10)
  expect(frame.stack.series.map((s) => s.jobId)).toEqual(['1.hog.u1', '2.calm.u2'])
  history.close()
})
