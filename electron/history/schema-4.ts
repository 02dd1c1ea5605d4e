/**
 * Migration to version 4: samples in blocks instead of rows; jobs and targets of a cluster instead of one start of the console.
 * Data of version 3 is carried over; cluster sums that it did not store are derived from its targets and jobs where possible.
 */
import type { Database } from 'better-sqlite3'
import { BlockTable } from './block-table.ts'
import { KINDS, pack, recordParts } from './block.ts'
import { exeOf } from './exe.ts'
import { RULE_DURATION } from './rule-durations.ts'
import { CLUSTER_COLUMNS, JOB_COLUMNS, TARGET_COLUMNS } from './reader.ts'

export const VERSION_4 = `
  -- an emulated cluster that begins before what is kept of its name is another one: its time was another
  CREATE TABLE cluster (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL) STRICT;
  CREATE INDEX cluster_by_name ON cluster (kind, name);
  INSERT INTO cluster (kind, name) SELECT kind, cluster FROM source GROUP BY kind, cluster ORDER BY min(id);
  ALTER TABLE source ADD COLUMN cluster_id INTEGER REFERENCES cluster;
  UPDATE source SET cluster_id = (SELECT c.id FROM cluster AS c WHERE c.kind = source.kind AND c.name = source.cluster);
  CREATE INDEX source_by_cluster ON source (cluster_id, started_ms);

  -- last_ms: until when it was seen, to the day
  CREATE TABLE job_4 (
    id INTEGER PRIMARY KEY, cluster INTEGER NOT NULL REFERENCES cluster, job_id TEXT NOT NULL, user TEXT NOT NULL,
    account TEXT NOT NULL, exe TEXT NOT NULL, nodes INTEGER, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,
    UNIQUE (cluster, job_id)
  ) STRICT;
  CREATE TABLE target_4 (
    id INTEGER PRIMARY KEY, cluster INTEGER NOT NULL REFERENCES cluster, name TEXT NOT NULL, node TEXT NOT NULL,
    UNIQUE (cluster, name)
  ) STRICT;
  INSERT INTO job_4 (cluster, job_id, user, account, exe, nodes, first_ms, last_ms)
    SELECT cluster_id, job_id, max(user), max(account), sluice_exe(job_id), max(nodes), min(first_ms),
      max(first_ms, ifnull((SELECT max(at_ms) FROM job_sample), 0)) FROM job JOIN source ON source.id = source
    GROUP BY cluster_id, job_id ORDER BY min(job.id);
  INSERT INTO target_4 (cluster, name, node)
    SELECT cluster_id, target.name, max(node) FROM target JOIN source ON source.id = source
    GROUP BY cluster_id, target.name ORDER BY min(target.id);
  CREATE TEMP TABLE job_now AS SELECT job.id AS old, job_4.id AS now, job_4.cluster AS cluster FROM job
    JOIN source ON source.id = source JOIN job_4 ON job_4.cluster = cluster_id AND job_4.job_id = job.job_id;
  CREATE TEMP TABLE target_now AS SELECT target.id AS old, target_4.id AS now, source, target_4.cluster AS cluster FROM target
    JOIN source ON source.id = source JOIN target_4 ON target_4.cluster = cluster_id AND target_4.name = target.name;
  CREATE INDEX temp.job_now_old ON job_now (old);
  CREATE INDEX temp.target_now_old ON target_now (old);

  CREATE TABLE decision_4 (
    source INTEGER NOT NULL REFERENCES source, target INTEGER NOT NULL REFERENCES target_4, at_ms INTEGER NOT NULL,
    controller TEXT NOT NULL, budget INTEGER NOT NULL, allocations TEXT NOT NULL, PRIMARY KEY (source, target, at_ms)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO decision_4 SELECT d.source, t.now, d.at_ms, d.controller, d.budget, d.allocations
    FROM decision AS d JOIN target_now AS t ON t.old = d.target;
  CREATE TABLE adaptbf_moves_4 (
    source INTEGER NOT NULL REFERENCES source, at_ms INTEGER NOT NULL, target INTEGER NOT NULL REFERENCES target_4,
    lender INTEGER NOT NULL REFERENCES job_4, borrower INTEGER NOT NULL REFERENCES job_4,
    kind TEXT NOT NULL CHECK (kind IN ('lend', 'reclaim')), tokens INTEGER NOT NULL CHECK (tokens > 0),
    PRIMARY KEY (source, at_ms, target, lender, borrower, kind)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO adaptbf_moves_4 SELECT t.source, m.at_ms, t.now, a.now, b.now, m.kind, m.tokens FROM adaptbf_moves AS m
    JOIN target_now AS t ON t.old = m.target JOIN job_now AS a ON a.old = m.lender JOIN job_now AS b ON b.old = m.borrower;
  DROP TABLE adaptbf_moves;
  DROP TABLE decision;
  ALTER TABLE adaptbf_moves_4 RENAME TO adaptbf_moves;
  ALTER TABLE decision_4 RENAME TO decision;
  CREATE INDEX adaptbf_moves_by_lender ON adaptbf_moves (lender, at_ms);
  CREATE INDEX adaptbf_moves_by_borrower ON adaptbf_moves (borrower, at_ms);

  -- every instant that was sampled, with the sums of the cluster: it lies by time, so that a day of it is a few pages.
  -- tier: 0 as sampled, 1 of a second, 2 of ten, 3 of a minute; at_ms: the beginning of the interval
  CREATE TABLE instant (
    cluster INTEGER NOT NULL REFERENCES cluster, tier INTEGER NOT NULL, at_ms INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (cluster, tier, at_ms)
  ) STRICT, WITHOUT ROWID;
  -- kind: 0 jobs, 1 targets; lead: keys and RPC/s, what most questions are about; rest: the other columns
  CREATE TABLE block (
    id INTEGER PRIMARY KEY, cluster INTEGER NOT NULL REFERENCES cluster, kind INTEGER NOT NULL, tier INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, n INTEGER NOT NULL, lead BLOB NOT NULL, rest BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX block_by_time ON block (cluster, kind, tier, at_ms);
  -- what samples are in all, kind 2: the sums; samples: of series, so n of each block
  CREATE TABLE block_use (
    cluster INTEGER NOT NULL REFERENCES cluster, kind INTEGER NOT NULL, tier INTEGER NOT NULL, blocks INTEGER NOT NULL,
    samples INTEGER NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (cluster, kind, tier)
  ) STRICT, WITHOUT ROWID;
  -- everything of the finer tier before to_ms is in this one
  CREATE TABLE rolled (
    cluster INTEGER NOT NULL REFERENCES cluster, tier INTEGER NOT NULL, to_ms INTEGER NOT NULL, PRIMARY KEY (cluster, tier)
  ) STRICT, WITHOUT ROWID;
  -- frames of views that keep no samples, as deflated JSON
  CREATE TABLE kept_frame (
    id INTEGER PRIMARY KEY, cluster INTEGER NOT NULL REFERENCES cluster, view TEXT NOT NULL, at_ms INTEGER NOT NULL,
    data BLOB NOT NULL, UNIQUE (cluster, view, at_ms)
  ) STRICT;
  CREATE TABLE eviction (
    id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, cluster INTEGER NOT NULL REFERENCES cluster, tier INTEGER NOT NULL,
    from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, samples INTEGER NOT NULL, reason TEXT NOT NULL
  ) STRICT;
  CREATE INDEX rule_by_length ON rule (source, (${RULE_DURATION}), from_ms);
  CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`

/** Tables dropped after the migration. */
const AFTER = `
  DROP TABLE temp.job_now;
  DROP TABLE temp.target_now;
  DROP TABLE job_sample;
  DROP TABLE target_sample;
  DROP TABLE job;
  DROP TABLE target;
  ALTER TABLE job_4 RENAME TO job;
  ALTER TABLE target_4 RENAME TO target;
`

/**
 * Range of version 3's samples that is held at once, and the approximate number of its rows: with many jobs the range is shorter.
 */
const WINDOW_MS = 300_000
const WINDOW_ROWS = 200_000
/** Most rows of a series in a second: raw samples were taken ten times a second. */
const RAW_PER_S = 10

export const windowOf = (series: number, tier: number): number =>
  Math.max(1000, Math.min(WINDOW_MS, Math.floor(WINDOW_ROWS / (series * (tier === 0 ? RAW_PER_S : 1) + 1)) * 1000))

/** Values of one instant: key, then one value per column. */
type Rows = number[][]

/** Builds a block; of a series that two sources sampled at one instant, the later sample is used. */
function blockOf(all: Rows, width: number): { n: number; keys: Uint32Array; columns: Float32Array[] } {
  const latest = new Map<number, number[]>()
  for (const r of all) latest.set(r[0] as number, r)
  const n = latest.size
  const keys = new Uint32Array(n)
  const columns = Array.from({ length: width }, () => new Float32Array(n))
  let i = 0
  for (const [key, row] of latest) {
    keys[i] = key
    for (let c = 0; c < width; c++) (columns[c] as Float32Array)[i] = row[c + 1] ?? NaN
    i++
  }
  return { n, keys, columns }
}

/** Sums derived from targets and jobs; a total with an unknown part is a gap. */
function sumsOf(jobs: Rows, targets: Rows): number[] {
  const sum = (rows: Rows, at: number): number => rows.reduce((n, r) => n + (r[at] as number), 0)
  const rpcs = targets.length > 0 ? sum(targets, 1) : NaN
  const worked = targets.filter((t) => (t[1] as number) > 0 && !Number.isNaN(t[2]))
  const wait = worked.reduce((n, t) => n + (t[1] as number) * (t[2] as number), 0) / sum(worked, 1)
  const bytes = (at: number): number => (Number.isNaN(rpcs) ? NaN : sum(jobs, at))
  const known: Record<string, number> = { rpcs, readBps: bytes(2), writeBps: bytes(3), serviceMs: wait }
  return [0, ...CLUSTER_COLUMNS.map((c) => known[c] ?? NaN)]
}

function into<T>(map: Map<number, T[]>, key: number): T[] {
  let list = map.get(key)
  if (!list) map.set(key, (list = []))
  return list
}

/** Converts version 3's rows of samples into blocks. @throws SQLite's errors; nothing is changed then. */
export function carryOver(db: Database): void {
  const blocks = new BlockTable(db)
  const value = (v: unknown): number => (typeof v === 'number' ? v : NaN)
  const ofJob = db
    .prepare(
      'SELECT at_ms, rpcs, read_bps, write_bps, throttled, record FROM job_sample WHERE tier = ? AND job = ? AND at_ms >= ? AND at_ms < ?',
    )
    .raw()
  const ofTarget = db
    .prepare(
      'SELECT at_ms, rpcs, service_ms, queued FROM target_sample WHERE tier = ? AND target = ? AND at_ms >= ? AND at_ms < ?',
    )
    .raw()
  const spans = db.prepare(
    `SELECT cluster, min(a) AS a, max(b) AS b FROM (
       SELECT cluster, (SELECT min(at_ms) FROM job_sample WHERE tier = :t AND job = old) AS a,
         (SELECT max(at_ms) FROM job_sample WHERE tier = :t AND job = old) AS b FROM job_now
       UNION ALL SELECT cluster, (SELECT min(at_ms) FROM target_sample WHERE tier = :t AND target = old),
         (SELECT max(at_ms) FROM target_sample WHERE tier = :t AND target = old) FROM target_now
     ) WHERE a IS NOT NULL GROUP BY cluster`,
  )
  /** Series with samples in a tier, and the range of each. */
  const series = (kind: 'job' | 'target', tier: number, cluster: number): number[][] =>
    db
      .prepare(
        `SELECT * FROM (SELECT old, now, (SELECT min(at_ms) FROM ${kind}_sample WHERE tier = :tier AND ${kind} = old) AS a,
           (SELECT max(at_ms) FROM ${kind}_sample WHERE tier = :tier AND ${kind} = old) AS b
         FROM ${kind}_now WHERE cluster = :cluster) WHERE a IS NOT NULL`,
      )
      .raw()
      .all({ tier, cluster }) as number[][]
  const within = (all: number[][], from: number, to: number): number[][] =>
    all.filter(([, , first, last]) => (first as number) < to && (last as number) >= from)
  for (const tier of [0, 1]) {
    for (const { cluster, a, b } of spans.all({ t: tier }) as { cluster: number; a: number; b: number }[]) {
      const jobsOf = series('job', tier, cluster)
      const targetsOf = series('target', tier, cluster)
      const windowMs = windowOf(jobsOf.length + targetsOf.length, tier)
      for (let from = a; from <= b; from += windowMs) {
        const jobs = new Map<number, Rows>()
        const targets = new Map<number, Rows>()
        for (const [old, now] of within(jobsOf, from, from + windowMs)) {
          for (const [at, ...v] of ofJob.all(tier, old, from, from + windowMs) as unknown[][]) {
            const [rpcs, read, write, throttled, record] = v.map(value) as [number, number, number, number, number]
            const [lead, rest] = recordParts(record)
            into(jobs, value(at)).push([now as number, rpcs, read, write, throttled, lead, NaN, rest])
          }
        }
        for (const [old, now] of within(targetsOf, from, from + windowMs)) {
          for (const [at, ...v] of ofTarget.all(tier, old, from, from + windowMs) as unknown[][]) {
            into(targets, value(at)).push([now as number, ...v.map(value)])
          }
        }
        const put = (kind: 0 | 1 | 2, atMs: number, rows: Rows, width: number): void => {
          const made = blockOf(rows, width)
          blocks.put({ cluster, kind, tier, atMs, ...pack(kind, made) })
        }
        for (const at of [...new Set([...jobs.keys(), ...targets.keys()])].sort((x, y) => x - y)) {
          const j = jobs.get(at) ?? []
          const t = targets.get(at) ?? []
          put(KINDS.jobs, at, j, JOB_COLUMNS.length)
          put(KINDS.targets, at, t, TARGET_COLUMNS.length)
          put(KINDS.cluster, at, [sumsOf(j, t)], CLUSTER_COLUMNS.length)
        }
      }
    }
  }
  db.exec(AFTER)
}

/** Registers the functions that the migration's SQL calls. */
export const prepareVersion4 = (db: Database): void =>
  void db.function('sluice_exe', { deterministic: true }, (id) => exeOf(String(id)))
