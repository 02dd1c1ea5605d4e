/**
 * The history at the size of a large cluster: what it takes in a second with the coarser tiers being made, beside plain rows of the same
 * values; a day of 12 servers (48 OSTs, 400 jobs at work) at screen resolution; one instant of 10,000 jobs.
 */
import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { History } from './history.ts'
import type { ClusterSample, JobFacts, JobSample, TargetSample } from './records.ts'
import type { HistoryReader } from './reader.ts'

const T0 = Date.UTC(2026, 0, 2)
const DAY_MS = 86_400_000
const POINTS = 1200

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let files = 0
const newFile = (): string => join(folder, `${files++}.sqlite`)

const facts = (jobId: string): JobFacts => ({ jobId, user: `u${jobId.length}`, account: 'aero', nodes: 4 })
const jobsOf = (n: number, at: number): JobSample[] =>
  Array.from({ length: n }, (_, i) => ({
    jobId: `${4000 + i}.solve.u${i % 97}`,
    ...{ rpcs: 1 + ((i * 31 + at) % 900), readBps: i * 1e5, writeBps: at * 1e3, throttled: 0, record: i - n / 2 },
    mdops: i % 7,
  }))
const targets: TargetSample[] = Array.from({ length: 48 }, (_, i) => ({
  ...{ target: `t-OST${i}`, node: `oss${i >> 2}`, rpcs: 900 + i, serviceMs: 2 + i / 48, queued: i },
}))
const sums: ClusterSample = { rpcs: 44_000, readBps: 1e9, writeBps: 2e9, serviceMs: 2.5, queued: 90, rules: 12 }

function open(): History {
  const opened = History.open(newFile(), T0)
  if (!opened.ok) throw new Error(opened.error.what)
  opened.value.beginSource('EMULATED', 'bench', '', T0)
  return opened.value
}

const INGEST_JOBS = 2000
const INGEST_SAMPLES = 400

/** Samples of series a second, five of the cluster a second of its time; every 20 s of it the background has its turn. */
function ingest(now: () => number): number {
  const history = open()
  const jobs = Array.from({ length: 10 }, (_, k) => jobsOf(INGEST_JOBS, k))
  const from = now()
  for (let i = 0; i < INGEST_SAMPLES; i++) {
    history.record(T0 + i * 200, jobs[i % 10] ?? [], targets, facts, sums)
    if (i % 100 === 99) history.settle()
  }
  history.flush()
  const rate = (INGEST_SAMPLES * (INGEST_JOBS + targets.length + 1)) / ((now() - from) / 1000)
  history.close()
  return rate
}

/** The same values as one row a sample, in transactions of a second, without means or coarser tiers. */
function rows(now: () => number): number {
  const db = new Database(newFile())
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  db.exec(
    'CREATE TABLE s (series INTEGER, at_ms INTEGER, a REAL, b REAL, c REAL, d REAL, e INTEGER, PRIMARY KEY (series, at_ms)) WITHOUT ROWID',
  )
  const insert = db.prepare('INSERT INTO s VALUES (?, ?, ?, ?, ?, ?, ?)')
  const jobs = jobsOf(INGEST_JOBS, 0)
  const samples = INGEST_SAMPLES / 4
  const from = now()
  for (let second = 0; second < samples / 5; second++) {
    db.transaction(() => {
      for (let i = 0; i < 5; i++) {
        jobs.forEach((j, k) =>
          insert.run(k, second * 1000 + i * 200, j.rpcs, j.readBps, j.writeBps, j.throttled, j.record),
        )
      }
    })()
  }
  const rate = (samples * INGEST_JOBS) / ((now() - from) / 1000)
  db.close()
  return rate
}

/** A day as the background leaves it: samples every ten seconds are as good as more for the coarser tiers. */
let day: HistoryReader | undefined
function aDay(): HistoryReader {
  if (day) return day
  const history = open()
  const jobs = Array.from({ length: 10 }, (_, k) => jobsOf(400, k * 37))
  for (let at = 0; at <= DAY_MS; at += 10_000)
    history.record(T0 + at, jobs[(at / 10_000) % 10] ?? [], targets, facts, sums)
  history.settle()
  return (day = history.reader())
}

/** What a view draws of a day: the cluster's line, every target, the eight largest jobs. */
function query(now: () => number): number {
  const reader = aDay()
  const span = { fromMs: T0, toMs: T0 + DAY_MS }
  const from = now()
  const line = reader.line('serviceMs', span, POINTS)
  const top = reader.top(span, 'job', 8, POINTS)
  let values = 0
  for (const b of reader.targetsBetween(line.tier, span.fromMs, span.toMs)) values += b.keys.length
  const ms = now() - from
  if (line.t.length > POINTS || top.series.length !== 8 || values < 48 * 700) throw new Error('not the day')
  return ms
}

let large: HistoryReader | undefined
function step(now: () => number): number {
  if (!large) {
    const history = open()
    const jobs = jobsOf(10_000, 1)
    for (let i = 0; i < 200; i++) history.record(T0 + i * 100, jobs, targets, facts, sums)
    history.flush()
    large = history.reader()
  }
  const instants = large.instants('raw', T0, T0 + 60_000)
  let jobs = 0
  const from = now()
  for (const at of instants) jobs += large.jobs('raw', at)?.keys.length ?? 0
  const ms = (now() - from) / instants.length
  if (jobs !== 200 * 10_000) throw new Error('not all jobs')
  return ms
}

export const benches = [
  {
    ...{ id: 'history.ingest', unit: 'samples/s', run: ingest, baseline: rows },
    note: 'with means of a second and the coarser tiers; baseline: rows of better-sqlite3, raw alone; at least 200000',
  },
  { id: 'history.day-query', unit: 'ms', run: query, note: '24 h, 48 targets, 400 jobs, 1200 points; at most 50' },
  { id: 'history.step-10000-jobs', unit: 'ms', run: step, note: 'one instant of 10,000 jobs; well under 1' },
]
