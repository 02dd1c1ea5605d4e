/**
 * Benchmarks of the history at the size of a large cluster: ingest rate while the coarser tiers are made and every plane is on,
 * compared with plain rows of the same values; a day of 12 servers (48 OSTs, 400 active jobs) at screen resolution; one instant of
 * 10,000 jobs; a day of locks, metadata and tokens.
 */
import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench, Growth } from '../../bench/measure.ts'
import { planeTable, type PlaneRow, type PlaneTableId } from '#core/series/plane-tables.ts'
import { BlockTable } from './block-table.ts'
import { History } from './history.ts'
import type { ClusterSample, JobFacts, JobSample, TargetSample } from './records.ts'
import type { HistoryReader } from './reader.ts'
import { RollUp } from './roll-up.ts'

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
    rpcs: 1 + ((i * 31 + at) % 900),
    readBps: i * 1e5,
    writeBps: at * 1e3,
    throttled: 0,
    record: i - n / 2,
    mdops: i % 7,
  }))
const targets: TargetSample[] = Array.from({ length: 48 }, (_, i) => ({
  target: `t-OST${i}`,
  node: `oss${i >> 2}`,
  rpcs: 900 + i,
  serviceMs: 2 + i / 48,
  queued: i,
}))
const sums: ClusterSample = { rpcs: 44_000, readBps: 1e9, writeBps: 2e9, serviceMs: 2.5, queued: 90, rules: 12 }

/** Series of each plane's table; every second a tenth of the resources and half of the channels are active. */
const SERIES: readonly (readonly [PlaneTableId, number])[] = [
  ['lock_resources', 2000],
  ['lock_servers', 12],
  ['metadata_jobs', 400],
  ['metadata_channels', 2000],
  ['token_clients', 100],
  ['token_nodes', 2],
]

/**
 * Rows of a table in second `at`, as measured ones are: counts of a second are integers, settings stay, times have fractions; they
 * differ from second to second.
 */
function planeRows(id: PlaneTableId, n: number, at: number): PlaneRow[] {
  const { columns, most } = planeTable(id)
  return Array.from({ length: n }, (_, i) => {
    const isActive = n <= most || (i * 7 + (at >> 3)) % 10 < 2
    const values = columns.map(({ rollUp, unit }, c) => {
      if (!isActive) return 0
      if (rollUp === 'last') return 100 * (1 + (i % 9))
      const count = (i * 31 + c * 17 + at * 13) % 997
      return unit === 'ms' || unit === 's/s' || unit === '' ? count / 7 : count
    })
    return { name: `${id}.${i}`, place: `mds${i % 12}`, jobId: `${4000 + (i % 400)}.solve`, values }
  })
}

const planesOf = (at: number): (readonly [PlaneTableId, PlaneRow[]])[] =>
  SERIES.map(([id, n]) => [id, planeRows(id, n, at)] as const)
const PLANE_ROWS = SERIES.reduce((sum, [, n]) => sum + n, 0)

function recordPlanes(history: History, atMs: number, rows: ReturnType<typeof planesOf>): void {
  for (const [id, of] of rows) history.recordPlane(id, atMs, of)
}

function open(): History {
  const opened = History.open(newFile(), T0)
  if (!opened.ok) throw new Error(opened.error.what)
  opened.value.beginSource('EMULATED', 'bench', '', T0)
  return opened.value
}

const INGEST_JOBS = 2000
const INGEST_SAMPLES = 400
const SAMPLES_A_SECOND = 5

/**
 * Samples of series ingested per second, five cluster samples per emulated second; the background work runs every 20 emulated
 * seconds.
 */
function ingest(now: () => number): number {
  const history = open()
  const jobs = Array.from({ length: 10 }, (_, k) => jobsOf(INGEST_JOBS, k))
  const planes = Array.from({ length: 10 }, (_, k) => planesOf(k))
  const from = now()
  for (let i = 0; i < INGEST_SAMPLES; i++) {
    history.record(T0 + i * 200, jobs[i % 10] ?? [], targets, facts, sums)
    if (i % SAMPLES_A_SECOND === 0) recordPlanes(history, T0 + i * 200, planes[(i / SAMPLES_A_SECOND) % 10] ?? [])
    if (i % 100 === 99) history.settle()
  }
  history.flush()
  const samples = INGEST_SAMPLES * (INGEST_JOBS + targets.length + 1)
  const rate = (samples + (INGEST_SAMPLES / SAMPLES_A_SECOND) * PLANE_ROWS) / ((now() - from) / 1000)
  history.close()
  return rate
}

/** The same values as one row per sample, in transactions of a second, without means or coarser tiers. */
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

/** A day after the background work; the coarser tiers need no more than a sample every ten seconds. */
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

/** Queries of a view of one day: the cluster's line, every target, the eight largest jobs. */
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

const spentMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const RECORDED = 40
/** CPU time to take and write one sample of so many jobs, ms; a sample a second, names already known. */
function recorded(_: unknown, jobs: number): number {
  const history = open()
  const samples = Array.from({ length: 5 }, (_, k) => jobsOf(jobs, k))
  const take = (i: number): void => history.record(T0 + i * 1000, samples[i % 5] ?? [], targets, facts, sums)
  for (let i = 0; i < 3; i++) take(i)
  const from = spentMs()
  for (let i = 3; i < 3 + RECORDED; i++) take(i)
  history.flush()
  const ms = (spentMs() - from) / RECORDED
  history.close()
  return ms
}

/** Longest piece of background work for the coarser tiers of five minutes of 10,000 jobs. */
function longestPiece(): number {
  const history = open()
  const jobs = Array.from({ length: 5 }, (_, k) => jobsOf(10_000, k))
  for (let at = 0; at <= 320; at += 4) history.record(T0 + at * 1000, jobs[at % 5] ?? [], targets, facts, sums)
  const db = history.connection()
  const rollUp = new RollUp(db, new BlockTable(db))
  let longest = 0
  let pieces = 0
  for (const tier of [2, 3]) {
    for (let goesOn = true; goesOn; pieces++) {
      const from = spentMs()
      goesOn = db.transaction(() => rollUp.advance(history.cluster, tier, undefined, false))()
      longest = Math.max(longest, spentMs() - from)
    }
  }
  history.close()
  if (pieces < 20) throw new Error('too few pieces')
  return longest
}

const GIB = 2 ** 30
const SIZED_S = 600
/**
 * Size of a day, GiB, of 400 active jobs of 10,000 and of all planes, with a sample a second: raw samples of its last hour, seconds,
 * ten seconds and minutes of all of it, from what ten minutes of each take.
 */
function daySize(): number {
  const history = open()
  const jobs = Array.from({ length: 10 }, (_, k) => jobsOf(400, k * 37))
  for (let s = 0; s < SIZED_S; s++) {
    history.record(T0 + s * 1000, jobs[s % 10] ?? [], targets, facts, sums)
    recordPlanes(history, T0 + s * 1000, planesOf(s))
  }
  history.settle()
  const { tiers } = history.usage()
  console.error(
    history
      .connection()
      .prepare('SELECT kind, tier, bytes, samples FROM block_use WHERE kind > 2')
      .all()
      .map((r) => JSON.stringify(r))
      .join('\n'),
  )
  history.close()
  const whole = (id: string): number => (id === 'raw' ? 3600 : 86_400)
  return tiers.reduce((sum, t) => sum + (t.bytes / SIZED_S) * whole(t.id), 0) / GIB
}

/** A day of planes after the background work, at ten seconds and coarser, and its last ten minutes by second. */
let planesDay: HistoryReader | undefined
function aPlanesDay(): HistoryReader {
  if (planesDay) return planesDay
  const history = open()
  const planes = Array.from({ length: 60 }, (_, k) => planesOf(k * 5))
  const record = (atMs: number, i: number): void => {
    history.record(atMs, [], targets, facts, sums)
    recordPlanes(history, atMs, planes[i % 60] ?? [])
  }
  for (let i = 0; i * 10_000 < DAY_MS - 600_000; i++) record(T0 + i * 10_000, i)
  for (let i = 0; i < 600; i++) record(T0 + DAY_MS - 600_000 + i * 1000, i)
  history.settle()
  return (planesDay = history.reader())
}

/** Query of a view for a day of one plane: the line of its table, that of one series, and the rows at the cursor. */
function planesQuery(table: PlaneTableId): (now: () => number) => number {
  return (now) => {
    const reader = aPlanesDay()
    const span = { fromMs: T0, toMs: T0 + DAY_MS }
    const { main } = planeTable(table)
    const key = reader.allPlaneSeries(table)[0]?.key ?? 0
    const from = now()
    const line = reader.planeLine(table, main, span, POINTS)
    const one = reader.planeLine(table, main, span, POINTS, key)
    const rows = reader.planeAt(table, T0 + DAY_MS / 2, 10_000)
    const ms = now() - from
    if (line.t.length < 100 || one.t.length < 100 || (rows?.keys.length ?? 0) < 2) throw new Error('not a day')
    return ms
  }
}

/** Query of the Locks view at a cursor of yesterday: five minutes of seven columns, and the rows of resources and servers. */
function locksWindow(now: () => number): number {
  const reader = aPlanesDay()
  const span = { fromMs: T0 + DAY_MS - 600_000, toMs: T0 + DAY_MS - 300_000 }
  const from = now()
  let points = 0
  for (const column of ['grants_per_s', 'holders', 'waiters', 'cancels_per_s', 'wait_p95_ms', 'convoy_share'])
    points += reader.planeLine('lock_servers', column, span, POINTS).t.length
  const key = reader.allPlaneSeries('lock_resources')[0]?.key ?? 0
  points += reader.planeLine('lock_resources', 'conflicts_per_s', span, POINTS, key).t.length
  const rows = reader.planeAt('lock_resources', span.toMs, 1500)?.keys.length ?? 0
  for (const { key } of reader.allPlaneSeries('lock_resources').slice(0, rows)) reader.planeSeries(key)
  const ms = now() - from
  if (points < 7 * 250 || rows < 60) throw new Error('not the window')
  return ms
}

const DAYS = [1, 2, 4]
let days: HistoryReader | undefined
/**
 * Query for one day in a history of so many days, with coarse samples only, as the background work leaves data older than a day.
 */
function dayOf(now: () => number, count: number): number {
  if (!days) {
    const history = open()
    const jobs = Array.from({ length: 10 }, (_, k) => jobsOf(100, k * 37))
    for (let at = 0; at <= Math.max(...DAYS) * DAY_MS; at += 60_000)
      history.record(T0 + at, jobs[(at / 60_000) % 10] ?? [], targets, facts, sums)
    history.settle()
    days = history.reader()
  }
  const reader = days
  // The last day, so that the earlier ones have to be skipped.
  const span = { fromMs: T0 + (count - 1) * DAY_MS, toMs: T0 + count * DAY_MS }
  const from = now()
  const line = reader.line('serviceMs', span, POINTS)
  reader.top(span, 'job', 8, POINTS)
  const ms = now() - from
  if (line.t.length < 100) throw new Error('not a day')
  return ms
}

export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'history.ingest',
    unit: 'samples/s',
    run: ingest,
    baseline: rows,
    must: { least: 200_000 },
    note: '2,000 jobs and all planes, with means of a second and the coarser tiers',
    limit: 'SQLite writes its blocks; the rest is adding each value to its means and finding the series of a name.',
    runs: 5,
    beside: 'rows of better-sqlite3, raw alone',
  },
  {
    id: 'history.growth',
    unit: 'exponent',
    must: { most: 1.2 },
    note: 'one sample a second taken and written with its means, over jobs; processor time; the bound is our own target',
    limit: 'Below 1 where what every sample costs, a transaction, is shared by more jobs.',
    sizes: [1000, 3000, 10_000, 30_000],
    axis: 'size',
    runs: 5,
    cost: recorded,
  },
  {
    id: 'history.longest-slice',
    unit: 'ms',
    must: { most: 20 },
    run: longestPiece,
    runs: 5,
    note: 'longest piece of making the coarser tiers, 10,000 jobs; processor time; the bound is our own target',
    limit: 'means of ten thousand jobs are packed and written in one piece',
  },
  {
    id: 'history.day-query',
    unit: 'ms',
    run: query,
    must: { most: 50 },
    note: '24 h, 48 targets, 400 jobs, 1200 points',
    limit:
      'SQLite reads the blocks of a day; every job of every point is added up before it is known which are the largest.',
  },
  {
    id: 'history.day-size',
    unit: 'GiB',
    run: daySize,
    must: { most: 1.5 },
    note: '12 servers, 10,000 jobs with 400 active, 2,000 resources, 500 stages of 4 channels, 100 clients; from ten minutes of each tier',
    limit: 'Jobs are packed as measured; the rows of planes are bounded by their most active series and deflated.',
    runs: 5,
  },
  {
    id: 'history.locks-day',
    unit: 'ms',
    run: planesQuery('lock_resources'),
    must: { most: 50 },
    note: '24 h of 2,000 resources: the line of all, that of one, the rows at the cursor',
    limit: 'The blocks of a day are read and inflated once for each line.',
  },
  {
    id: 'history.metadata-day',
    unit: 'ms',
    run: planesQuery('metadata_channels'),
    must: { most: 50 },
    note: 'the same of 500 stages of 4 channels',
    limit: 'The blocks of a day are read and inflated once for each line.',
  },
  {
    id: 'history.tokens-day',
    unit: 'ms',
    run: planesQuery('token_clients'),
    must: { most: 50 },
    note: 'the same of 100 clients',
    limit: 'The blocks of a day are read and inflated once for each line.',
  },
  {
    id: 'history.locks-window',
    unit: 'ms',
    run: locksWindow,
    must: { most: 100 },
    note: 'five minutes of seven columns and the rows at a cursor of yesterday',
    limit: 'The blocks of the window are read and inflated once for each column.',
  },
  {
    id: 'history.query.growth',
    unit: 'exponent',
    must: { most: 0.3 },
    note: 'a query of one day, over the days kept before it; 0 is independent of them; the bound is our own target',
    limit: 'A day is found in an index by its time; only the depth of the index grows.',
    sizes: DAYS,
    axis: 'size',
    cost: dayOf,
  },
  {
    id: 'history.step-10000-jobs',
    unit: 'ms',
    run: step,
    must: { most: 1 },
    note: 'one instant of 10,000 jobs; the bound is our own target',
    limit: 'One block is read and its columns are laid over the bytes: nothing is done for each job but the copy.',
  },
]
