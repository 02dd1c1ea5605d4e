/**
 * The history: samples, rules, decisions, events and the audit of one source after the other, in SQLite.
 *
 * Samples gather in memory and are written once a second in one transaction; the audit is written at once, before the
 * command it announces. Raw samples are kept for an hour, means of a second for a day; an emulated source's rules and
 * decisions for an hour too, because a controller makes dozens of them a second. What cannot be written waits, up to a
 * bound, for the next second.
 */
import type { Database, Statement } from 'better-sqlite3'
import { ok, type Failure, type Result } from '#core/base/result.ts'
import type { Decision } from '#core/control/controller.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { AuditRecord } from '../enforce/audit.ts'
import { openHistory } from './open.ts'

const HOUR_MS = 3_600_000
const KEEP_MS = [HOUR_MS, 24 * HOUR_MS] as const
/** Writes that wait while the disk takes none; beyond it the oldest are given up. */
const PENDING_MAX = 20_000
/** Whose rows a prune is about; the present source is the parameter. */
const PRESENT = 'source = ?'
const EARLIER = 'source != ?'

export interface JobSample {
  readonly jobId: string
  readonly rpcs: number
  readonly readBps: number
  readonly writeBps: number
  readonly throttled: number
  readonly record: number | null
}

export interface TargetSample {
  readonly target: string
  readonly node: string
  readonly rpcs: number | null
  readonly serviceMs: number | null
  readonly queued: number | null
}

export interface JobFacts {
  readonly jobId: string
  readonly user: string
  readonly account: string
  readonly nodes: number | null
}

export interface EventRecord {
  readonly atMs: number
  readonly kind: string
  readonly level: string
  readonly subject: string
  readonly text: string
  readonly where: string
}

/** Sums over the samples of one second; a job that a sample does not name was idle in it. */
interface SecondOfJob {
  rpcs: number
  readBps: number
  writeBps: number
  throttled: number
  record: number | null
}

/** Sums over the samples of one second, and how many had a value: a gap is not a zero. */
interface SecondOfTarget {
  readonly node: string
  readonly sums: [number, number, number]
  readonly counts: [number, number, number]
}

interface Second {
  readonly ms: number
  samples: number
  readonly jobs: Map<string, SecondOfJob>
  readonly targets: Map<string, SecondOfTarget>
}

const newSecond = (ms: number): Second => ({ ms, samples: 0, jobs: new Map(), targets: new Map() })

export class History {
  readonly #db: Database
  readonly file: string
  readonly notice: Failure | undefined
  #source = 0
  #emulated = false
  readonly #jobs = new Map<string, number>()
  readonly #targets = new Map<string, number>()
  readonly #openRules = new Map<string, { id: number; rate: number; conditions: string; position: number }>()
  readonly #pending: (() => void)[] = []
  /** Rows made by the transaction under way: forgotten again when it is rolled back. */
  readonly #made: (() => void)[] = []
  #second = newSecond(0)
  #lastFlushMs = 0
  #lastPruneMs = 0
  readonly #sql: ReturnType<typeof statements>

  private constructor(db: Database, file: string, notice: Failure | undefined) {
    this.#db = db
    this.file = file
    this.notice = notice
    this.#sql = statements(db)
  }

  /** Opens the file; failures are those of `openHistory`. */
  static open(file: string, nowMs: number): Result<History> {
    const opened = openHistory(file, nowMs)
    if (!opened.ok) return opened
    const history = new History(opened.value.db, file, opened.value.notice)
    history.#prune(nowMs, EARLIER)
    return ok(history)
  }

  /** Everything recorded from now on belongs to this source. */
  beginSource(kind: 'LIVE' | 'EMULATED', cluster: string, detail: string, startedMs: number): void {
    this.#endSecond()
    this.flush()
    this.#emulated = kind === 'EMULATED'
    // What was sent to real servers must be on record even after a power cut; an emulated cluster ends with its process.
    this.#db.pragma(`synchronous = ${this.#emulated ? 'NORMAL' : 'FULL'}`)
    this.#jobs.clear()
    this.#targets.clear()
    this.#openRules.clear()
    this.#second = newSecond(0)
    this.#source = Number(this.#sql.source.run(kind, cluster, detail, Math.round(startedMs)).lastInsertRowid)
  }

  /** Takes one sample of the cluster; it is on disk within about a second. */
  record(
    atMs: number,
    jobs: readonly JobSample[],
    targets: readonly TargetSample[],
    facts: (id: string) => JobFacts,
  ): void {
    const at = Math.round(atMs)
    this.#rollUp(at, jobs, targets)
    this.#pending.push(() => {
      for (const j of jobs) {
        this.#sql.job.run(0, this.#job(j.jobId, at, facts), at, j.rpcs, j.readBps, j.writeBps, j.throttled, j.record)
      }
      for (const t of targets) {
        this.#sql.target.run(0, this.#target(t.target, t.node), at, t.rpcs, t.serviceMs, t.queued)
      }
    })
    if (at - this.#lastFlushMs >= 1000 || at < this.#lastFlushMs) this.#flushAt(at)
  }

  /** Follows the rules of one server: a rule is a row from the reading that first saw it so to the last. */
  recordRules(atMs: number, server: string, rules: readonly RuleLine[]): void {
    const at = Math.round(atMs)
    const seen = new Set<string>()
    const changes: (() => void)[] = []
    rules.forEach((r, position) => {
      const key = `${server}\u0000${r.queue}\u0000${r.cpt}\u0000${r.name}`
      seen.add(key)
      const open = this.#openRules.get(key)
      if (open?.rate === r.rate && open.conditions === r.conditions) return
      if (open) changes.push(() => this.#sql.closeRule.run(at, open.id))
      const row = { id: 0, rate: r.rate, conditions: r.conditions, position }
      this.#openRules.set(key, row)
      changes.push(() => {
        const inserted = this.#sql.rule.run(
          this.#source,
          server,
          r.queue,
          r.cpt,
          position,
          r.name,
          r.conditions,
          r.rate,
          at,
        )
        row.id = Number(inserted.lastInsertRowid)
      })
    })
    for (const [key, open] of this.#openRules) {
      if (!key.startsWith(`${server}\u0000`) || seen.has(key)) continue
      this.#openRules.delete(key)
      changes.push(() => this.#sql.closeRule.run(at, open.id))
    }
    this.#pending.push(...changes)
  }

  recordDecision(atMs: number, controller: string, node: string, d: Decision): void {
    const allocations = JSON.stringify(d.allocations.map((a) => [a.jobId, a.tokens, a.record]))
    this.#pending.push(() => {
      const target = this.#target(d.target, node)
      this.#sql.decision.run(this.#source, target, Math.round(atMs), controller, d.budget, allocations)
    })
  }

  recordEvent(e: EventRecord): void {
    const source = this.#source
    this.#pending.push(() => {
      this.#sql.event.run(source, Math.round(e.atMs), e.kind, e.level, e.subject, e.text, e.where)
    })
  }

  /** Writes one audit record at once. @throws when it cannot be written: then nothing may be sent. */
  recordAudit(r: AuditRecord): void {
    this.#sql.audit.run(r.number, Math.round(r.atMs), r.server, r.kind, r.text, r.hash)
  }

  lastAudit(): AuditRecord | undefined {
    const row = this.#db.prepare('SELECT * FROM audit ORDER BY number DESC LIMIT 1').get() as AuditRow | undefined
    return row && auditRecord(row)
  }

  /** Audit records from a number on, oldest first. */
  audit(from: number, limit: number): AuditRecord[] {
    const rows = this.#db.prepare('SELECT * FROM audit WHERE number >= ? ORDER BY number LIMIT ?').all(from, limit)
    return (rows as AuditRow[]).map(auditRecord)
  }

  /** Rows of a table, for reports and tests. */
  count(
    table: 'source' | 'job' | 'target' | 'job_sample' | 'target_sample' | 'rule' | 'decision' | 'event' | 'audit',
  ): number {
    this.flush()
    return Number(this.#db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
  }

  /** One measure of one job of the present source between two instants, oldest first. */
  jobSeries(
    jobId: string,
    tier: 0 | 1,
    fromMs: number,
    toMs: number,
  ): { atMs: number; rpcs: number; record: number | null }[] {
    this.flush()
    const rows = this.#db
      .prepare(
        `SELECT at_ms, rpcs, record FROM job_sample JOIN job ON job.id = job_sample.job
         WHERE tier = ? AND job.source = ? AND job_id = ? AND at_ms BETWEEN ? AND ? ORDER BY at_ms`,
      )
      .all(tier, this.#source, jobId, fromMs, toMs) as { at_ms: number; rpcs: number; record: number | null }[]
    return rows.map((r) => ({ atMs: r.at_ms, rpcs: r.rpcs, record: r.record }))
  }

  /** The same of one target. */
  targetSeries(
    target: string,
    tier: 0 | 1,
    fromMs: number,
    toMs: number,
  ): { atMs: number; rpcs: number | null; serviceMs: number | null; queued: number | null }[] {
    this.flush()
    const rows = this.#db
      .prepare(
        `SELECT at_ms, rpcs, service_ms, queued FROM target_sample JOIN target ON target.id = target_sample.target
         WHERE tier = ? AND target.source = ? AND name = ? AND at_ms BETWEEN ? AND ? ORDER BY at_ms`,
      )
      .all(tier, this.#source, target, fromMs, toMs) as {
      at_ms: number
      rpcs: number | null
      service_ms: number | null
      queued: number | null
    }[]
    return rows.map((r) => ({ atMs: r.at_ms, rpcs: r.rpcs, serviceMs: r.service_ms, queued: r.queued }))
  }

  /** Whether all that was handed over is written: false between two flushes and while the disk takes nothing. */
  get isOnDisk(): boolean {
    return this.#pending.length === 0
  }

  /** Writes everything that waits. @throws when the disk does not take it: then it goes on waiting. */
  flush(): void {
    if (this.#pending.length === 0) return
    const work = this.#pending.splice(0)
    try {
      this.#db.transaction(() => {
        for (const w of work) w()
      })()
    } catch (e) {
      for (const undo of this.#made) undo()
      this.#pending.unshift(...work.slice(-PENDING_MAX))
      throw e
    } finally {
      this.#made.length = 0
    }
  }

  /** Writes what waits and gives the file free. @throws like `flush`; the file is closed all the same. */
  close(): void {
    try {
      this.#endSecond()
      this.flush()
    } finally {
      this.#db.close()
    }
  }

  #flushAt(atMs: number): void {
    this.#lastFlushMs = atMs
    this.flush()
    if (atMs - this.#lastPruneMs < 60_000 && atMs >= this.#lastPruneMs) return
    this.#lastPruneMs = atMs
    this.#prune(atMs)
  }

  /** Deletes what is past its time at `atMs`, of the present source or of all earlier ones. */
  #prune(atMs: number, which: typeof PRESENT | typeof EARLIER = PRESENT): void {
    const prune = (sql: string, ...values: number[]): void => void this.#db.prepare(sql).run(...values, this.#source)
    this.#db.transaction(() => {
      KEEP_MS.forEach((keep, tier) => {
        for (const name of ['job', 'target'] as const) {
          prune(
            `DELETE FROM ${name}_sample WHERE tier = ? AND at_ms < ? AND ${name} IN (SELECT id FROM ${name} WHERE ${which})`,
            tier,
            atMs - keep,
          )
        }
      })
      const emulated = `source IN (SELECT id FROM source WHERE kind = 'EMULATED') AND ${which}`
      prune(`DELETE FROM decision WHERE at_ms < ? AND ${emulated}`, atMs - HOUR_MS)
      prune(`DELETE FROM rule WHERE ifnull(to_ms, from_ms) < ? AND ${emulated}`, atMs - HOUR_MS)
    })()
  }

  /** Adds to the running second; a finished second becomes one row a job and a target in tier 1. */
  #rollUp(atMs: number, jobs: readonly JobSample[], targets: readonly TargetSample[]): void {
    const ms = Math.floor(atMs / 1000) * 1000
    if (ms !== this.#second.ms) {
      this.#endSecond()
      this.#second = newSecond(ms)
    }
    const second = this.#second
    second.samples++
    for (const j of jobs) {
      const s = second.jobs.get(j.jobId) ?? { rpcs: 0, readBps: 0, writeBps: 0, throttled: 0, record: null }
      s.rpcs += j.rpcs
      s.readBps += j.readBps
      s.writeBps += j.writeBps
      s.throttled += j.throttled
      s.record = j.record
      second.jobs.set(j.jobId, s)
    }
    for (const t of targets) {
      const s = second.targets.get(t.target) ?? { node: t.node, sums: [0, 0, 0], counts: [0, 0, 0] }
      ;[t.rpcs, t.serviceMs, t.queued].forEach((v, i) => {
        if (v === null) return
        s.sums[i] = (s.sums[i] ?? 0) + v
        s.counts[i] = (s.counts[i] ?? 0) + 1
      })
      second.targets.set(t.target, s)
    }
  }

  #endSecond(): void {
    const { ms, samples, jobs, targets } = this.#second
    this.#second = newSecond(0)
    if (samples === 0) return
    this.#pending.push(() => {
      for (const [id, s] of jobs) {
        const job = this.#jobs.get(id)
        if (job === undefined) continue
        const mean = [s.rpcs, s.readBps, s.writeBps, s.throttled].map((v) => v / samples)
        this.#sql.job.run(1, job, ms, ...mean, s.record)
      }
      for (const [name, { node, sums, counts }] of targets) {
        const mean = sums.map((v, i) => (counts[i] === 0 ? null : v / (counts[i] as number)))
        this.#sql.target.run(1, this.#target(name, node), ms, ...mean)
      }
    })
  }

  #job(jobId: string, atMs: number, facts: (id: string) => JobFacts): number {
    let id = this.#jobs.get(jobId)
    if (id === undefined) {
      const f = facts(jobId)
      id = Number(this.#sql.newJob.run(this.#source, jobId, f.user, f.account, f.nodes, atMs).lastInsertRowid)
      this.#jobs.set(jobId, id)
      this.#made.push(() => this.#jobs.delete(jobId))
    }
    return id
  }

  #target(name: string, node: string): number {
    let id = this.#targets.get(name)
    if (id === undefined) {
      id = Number(this.#sql.newTarget.run(this.#source, name, node).lastInsertRowid)
      this.#targets.set(name, id)
      this.#made.push(() => this.#targets.delete(name))
    }
    return id
  }
}

interface AuditRow {
  number: number
  at_ms: number
  server: string
  kind: AuditRecord['kind']
  text: string
  hash: string
}

const auditRecord = ({ at_ms, ...r }: AuditRow): AuditRecord => ({ ...r, atMs: at_ms })

type Name = 'source' | 'newJob' | 'newTarget' | 'job' | 'target' | 'rule' | 'closeRule' | 'decision' | 'event' | 'audit'

type Write = Statement<(string | number | null)[]>

function statements(db: Database): Record<Name, Write> {
  const prepare = (sql: string): Write => db.prepare(sql)
  return {
    source: prepare('INSERT INTO source (kind, cluster, detail, started_ms) VALUES (?, ?, ?, ?)'),
    newJob: prepare('INSERT INTO job (source, job_id, user, account, nodes, first_ms) VALUES (?, ?, ?, ?, ?, ?)'),
    newTarget: prepare('INSERT INTO target (source, name, node) VALUES (?, ?, ?)'),
    job: prepare('INSERT OR REPLACE INTO job_sample VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
    target: prepare('INSERT OR REPLACE INTO target_sample VALUES (?, ?, ?, ?, ?, ?)'),
    rule: prepare(
      'INSERT INTO rule (source, server, queue, cpt, position, name, conditions, rate, from_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    closeRule: prepare('UPDATE rule SET to_ms = ? WHERE id = ?'),
    decision: prepare('INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?, ?, ?)'),
    event: prepare('INSERT INTO event (source, at_ms, kind, level, subject, text, place) VALUES (?, ?, ?, ?, ?, ?, ?)'),
    audit: prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?)'),
  }
}
