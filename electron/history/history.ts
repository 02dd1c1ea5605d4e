/**
 * The history: samples, rules, decisions, events and the audit of one source after the other, in SQLite.
 *
 * Samples gather in memory and are written once a second in one transaction; the audit is written at once, before the
 * command it announces. Raw samples are kept for an hour, means of a second for a day; an emulated source's rules and
 * decisions for an hour too, because a controller makes dozens of them a second. What cannot be written waits, up to a
 * bound, for the next second.
 */
import type { Database } from 'better-sqlite3'
import { ok, type Failure, type Result } from '#core/base/result.ts'
import type { Decision } from '#core/control/controller.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { AuditRecord } from '../enforce/audit.ts'
import { AuditTable, type Chain } from './audit-table.ts'
import { LdlmTable, type LdlmRecord, type LdlmSample } from './ldlm-table.ts'
import { openHistory } from './open.ts'
import { LedgerTables, type MovesQuery } from './ledger-tables.ts'
import type { EventRecord, JobFacts, JobSample, MoveRecord, TargetSample } from './records.ts'
import { prune } from './retention.ts'
import { RollUp, type SecondMeans } from './roll-up.ts'
import { prepareStatements, type Statements } from './statements.ts'

/** Writes that wait while the disk takes none; beyond it the oldest are given up. */
const PENDING_MAX = 20_000

type Table =
  | ('source' | 'job' | 'target' | 'job_sample' | 'target_sample' | 'rule' | 'decision' | 'event' | 'audit')
  | ('adaptbf_moves' | 'adaptbf_state' | 'ldlm_namespace' | 'ldlm_sample')

export class History {
  readonly #db: Database
  readonly file: string
  readonly notice: Failure | undefined
  #source = 0
  #emulated = false
  readonly #jobs = new Map<string, number>()
  /** Jobs whose owner was not known when their row was made. */
  readonly #unnamed = new Set<string>()
  readonly #targets = new Map<string, number>()
  readonly #openRules = new Map<string, { id: number; rate: number; conditions: string; position: number }>()
  readonly #pending: (() => void)[] = []
  /** Rows made by the transaction under way: forgotten again when it is rolled back. */
  readonly #made: (() => void)[] = []
  readonly #second = new RollUp()
  readonly #audit: AuditTable
  readonly #ledger: LedgerTables
  readonly #ldlm: LdlmTable
  #lastFlushMs = 0
  #lastPruneMs = 0
  readonly #sql: Statements

  /** Whether closing it closes the file. */
  readonly #isOwner: boolean

  private constructor(db: Database, file: string, notice: Failure | undefined, isOwner = true) {
    this.#db = db
    this.file = file
    this.notice = notice
    this.#isOwner = isOwner
    this.#sql = prepareStatements(db)
    this.#audit = new AuditTable(db)
    this.#ledger = new LedgerTables(db)
    this.#ldlm = new LdlmTable(db)
  }

  /** Opens the file; failures are those of `openHistory`. */
  static open(file: string, nowMs: number): Result<History> {
    const opened = openHistory(file, nowMs)
    if (!opened.ok) return opened
    const history = new History(opened.value.db, file, opened.value.notice)
    // No source of this session has begun: all there are are others.
    prune(history.#db, history.#audit, nowMs, { id: 0, which: 'others' })
    return ok(history)
  }

  /**
   * For a source beside this one, in the same file: it is one program's, and what is written comes in turns. Close it before
   * this one.
   */
  beside(): History {
    return new History(this.#db, this.file, undefined, false)
  }

  /** Everything recorded from now on belongs to this source. */
  beginSource(kind: 'LIVE' | 'EMULATED', cluster: string, detail: string, startedMs: number): void {
    this.#endRunningSecond()
    this.flush()
    this.#emulated = kind === 'EMULATED'
    // What was sent to real servers must be on record even after a power cut; an emulated cluster ends with its process.
    if (!this.#emulated) this.#db.pragma('synchronous = FULL')
    this.#jobs.clear()
    this.#unnamed.clear()
    this.#targets.clear()
    this.#openRules.clear()
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
    const ended = this.#second.add(at, jobs, targets)
    if (ended) this.#keepSecond(ended)
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

  /** Takes what moved between jobs; moves of one second, pair and kind add up. */
  recordMoves(moves: readonly MoveRecord[], facts: (id: string) => JobFacts): void {
    this.#pending.push(() => {
      for (const { atMs, target, node, lender, borrower, kind, tokens } of moves) {
        const [from, to] = [this.#job(lender, atMs, facts), this.#job(borrower, atMs, facts)]
        this.#sql.move.run(this.#target(target, node), Math.round(atMs), from, to, kind, tokens)
      }
    })
  }

  /** What moved on targets of the present source, newest first; what is not written yet is not among it. */
  moves(query: MovesQuery): MoveRecord[] {
    return this.#ledger.moves(this.#source, query)
  }

  /** Takes what a server's lock namespaces counted at one reading. */
  recordLdlm(atMs: number, node: string, namespaces: readonly LdlmRecord[]): void {
    const source = this.#source
    this.#pending.push(() => {
      for (const n of namespaces) this.#ldlm.write(source, Math.round(atMs), node, n)
    })
  }

  /** Readings of a lock namespace of the present source, oldest first; the empty name: of servers as a whole. */
  ldlmSeries(namespace: string, fromMs: number, toMs: number, limit = 100_000): LdlmSample[] {
    this.flush()
    return this.#ldlm.series(this.#source, namespace, fromMs, toMs, limit)
  }

  /** Takes the state of a controller; the one before it is replaced. */
  keepControllerState(cluster: string, target: string, atMs: number, state: string): void {
    this.#pending.push(() => this.#sql.state.run(cluster, target, Math.round(atMs), state))
  }

  /** The state of a controller as last written, of any source of that cluster. */
  controllerState(cluster: string, target: string): { readonly atMs: number; readonly state: string } | undefined {
    return this.#ledger.state(cluster, target)
  }

  forgetControllerStates(cluster: string): void {
    this.#pending.push(() => this.#sql.forgetStates.run(cluster))
  }

  /** Writes one audit record at once. @throws when it cannot be written: then nothing may be sent. */
  recordAudit(r: AuditRecord): void {
    this.#audit.append(this.#chain, r)
  }

  /** Newest record of the present source's kind; its chain goes on from there. */
  lastAudit(): AuditRecord | undefined {
    return this.#audit.last(this.#chain)
  }

  /** Audit records of the present source's kind from a number on, oldest first. */
  audit(from: number, limit: number): AuditRecord[] {
    return this.#audit.read(this.#chain, from, limit)
  }

  /** The hash that the first audit record still kept follows from. */
  auditAnchor(): string {
    return this.#audit.anchor(this.#chain)
  }

  get #chain(): Chain {
    return this.#emulated ? 'EMULATED' : 'LIVE'
  }

  /** Rows of a table, for reports and tests. */
  count(table: Table): number {
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
      this.#endRunningSecond()
      this.flush()
    } finally {
      if (this.#isOwner) this.#db.close()
    }
  }

  #flushAt(atMs: number): void {
    this.#lastFlushMs = atMs
    this.flush()
    if (atMs - this.#lastPruneMs < 60_000 && atMs >= this.#lastPruneMs) return
    this.#lastPruneMs = atMs
    prune(this.#db, this.#audit, atMs, { id: this.#source, which: 'present' })
  }

  #endRunningSecond(): void {
    const ended = this.#second.end()
    if (ended) this.#keepSecond(ended)
  }

  /** A second that ended becomes one row a job and a target in tier 1. */
  #keepSecond({ ms, jobs, targets }: SecondMeans): void {
    this.#pending.push(() => {
      for (const [id, means] of jobs) {
        const job = this.#jobs.get(id)
        if (job !== undefined) this.#sql.job.run(1, job, ms, ...means)
      }
      for (const [name, { node, means }] of targets) this.#sql.target.run(1, this.#target(name, node), ms, ...means)
    })
  }

  /** The row of a job; who it belongs to is filled in when the resource manager has named it. */
  #job(jobId: string, atMs: number, facts: (id: string) => JobFacts): number {
    let id = this.#jobs.get(jobId)
    if (id !== undefined && !this.#unnamed.has(jobId)) return id
    const f = facts(jobId)
    const isNamed = f.user !== '' || f.nodes !== null
    if (id === undefined) {
      id = Number(this.#sql.newJob.run(this.#source, jobId, f.user, f.account, f.nodes, atMs).lastInsertRowid)
      this.#jobs.set(jobId, id)
      this.#made.push(() => this.#jobs.delete(jobId))
      if (!isNamed) this.#unnamed.add(jobId)
    } else if (isNamed) {
      this.#sql.describeJob.run(f.user, f.account, f.nodes, id)
      this.#unnamed.delete(jobId)
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
