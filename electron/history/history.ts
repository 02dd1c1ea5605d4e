/**
 * The history: samples, rules, decisions, events and the audit of one source after the other, in SQLite.
 *
 * What comes gathers in memory and is written at least once a second in one transaction; the audit is written at once, before the
 * command it announces. Samples are written as taken and as means of a second; the store makes the coarser tiers of them in the
 * background. What cannot be written waits, up to a bound, for the next second.
 */
import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Span, TierId } from '#core/api/history.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { Decision } from '#core/control/controller.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { AuditRecord } from '../base/audit.ts'
import type { Chain } from './audit-table.ts'
import type { Eviction } from './evictions.ts'
import { FileReader } from './file-reader.ts'
import { KeptFrames } from './kept-frames.ts'
import { IoTable, type BrwRecord, type BrwSample, type TimeoutRecord, type TimeoutSample } from './io-table.ts'
import { LdlmTable, type LdlmRecord, type LdlmSample } from './ldlm-table.ts'
import { LedgerTables, type MovesQuery } from './ledger-tables.ts'
import { jobRows, targetRows, type JobRow, type TargetRow } from './one-series.ts'
import { Pending } from './pending.ts'
import type { HistoryReader } from './reader.ts'
import { writeRecording, type WrittenRecording } from './recording.ts'
import { Recordings } from './recordings.ts'
import type { ClusterSample, EventRecord, JobFacts, JobSample, MoveRecord, TargetSample } from './records.ts'
import { RuleFollower } from './rule-follower.ts'
import { SampleWriter } from './sample-writer.ts'
import { SeriesNames } from './series-names.ts'
import { endOpenRules, prepareStatements, type Statements } from './statements.ts'
import { HistoryStore, type StoreUsage, type Writer } from './store.ts'
import { tierNumber, tierOf } from './tiers.ts'

const PRUNE_MS = 60_000

const NO_HISTORY = 'HISTORY_OFF'

const withoutHistory = ({ what, why }: Failure): Failure => ({
  code: NO_HISTORY,
  what: 'The console runs without a history: what is sampled now is gone when it ends',
  why: why === undefined ? what : `${what}: ${why}`,
  unaffected: 'Clusters are sampled and shown, and rules of Sluice can be stopped.',
  next: 'Free space, or make the data folder writable, then start Sluice again.',
})

type Table =
  | (
      | 'source'
      | 'cluster'
      | 'job'
      | 'target'
      | 'instant'
      | 'block'
      | 'rule'
      | 'decision'
      | 'event'
      | 'audit'
      | 'kept_frame'
    )
  | (
      | 'adaptbf_moves'
      | 'adaptbf_state'
      | 'ldlm_namespace'
      | 'ldlm_sample'
      | 'brw_sample'
      | 'service_timeout'
      | 'eviction'
    )

/** One source: its keys, and what follows it. */
interface Present {
  readonly id: number
  readonly cluster: number
  readonly name: string
  readonly kind: 'LIVE' | 'EMULATED'
  readonly startedMs: number
  readonly names: SeriesNames
  readonly samples: SampleWriter
  readonly rules: RuleFollower
}

export class History implements Writer {
  readonly #store: HistoryStore
  /** Whether closing it closes the file. */
  readonly #isOwner: boolean
  readonly #pending = new Pending()
  readonly #ledger: LedgerTables
  readonly #ldlm: LdlmTable
  readonly #io: IoTable
  readonly #frames: KeptFrames
  readonly #sql: Statements
  #present: Present | undefined
  #newestMs: number | undefined
  #lastFlushMs = 0
  #lastPruneMs = 0

  private constructor(store: HistoryStore, isOwner: boolean) {
    this.#store = store
    this.#isOwner = isOwner
    this.#sql = prepareStatements(store.db)
    this.#ledger = new LedgerTables(store.db)
    this.#ldlm = new LdlmTable(store.db)
    this.#io = new IoTable(store.db)
    this.#frames = new KeptFrames(store.db)
    store.enter(this)
  }

  /** Opens the file; failures are those of `openHistory`. */
  static open(file: string, nowMs: number): Result<History> {
    const opened = HistoryStore.open(file, nowMs)
    return opened.ok ? ok(History.on(opened.value)) : opened
  }

  /**
   * Opens the file, or a history in memory where the disk is full, read-only or out of reach: a console must start, show and stop all
   * the same. `notice` says so. Failures: those of `openHistory` that are about which file it is, and who uses it.
   */
  static openOrWithout(file: string, nowMs: number): Result<History> {
    const opened = History.open(file, nowMs)
    if (opened.ok || opened.error.code !== 'HISTORY_UNREADABLE') return opened
    const store = HistoryStore.openInMemory(withoutHistory(opened.error), nowMs)
    return store.ok ? ok(History.on(store.value)) : store
  }

  /** Of a store that is open already; closing it closes the store. */
  static on(store: HistoryStore): History {
    return new History(store, true)
  }

  /**
   * For a source beside this one, in the same file: it is one program's, and what is written comes in turns. Close it before
   * this one.
   */
  beside(): History {
    return new History(this.#store, false)
  }

  get file(): string {
    return this.#store.file
  }

  /** What the operator should know of the file, from when it was opened. */
  get notice(): Failure | undefined {
    const { notice } = this.#store
    return this.#isOwner || notice?.code === NO_HISTORY ? notice : undefined
  }

  get cluster(): number {
    return this.#present?.cluster ?? 0
  }

  get source(): number {
    return this.#present?.id ?? 0
  }

  get newestMs(): number | undefined {
    return this.#newestMs
  }

  get atMs(): number {
    return this.#newestMs ?? this.#present?.startedMs ?? 0
  }

  /** Everything recorded from now on belongs to this source. */
  beginSource(kind: 'LIVE' | 'EMULATED', cluster: string, detail: string, startedMs: number): void {
    this.#present?.samples.endSecond()
    this.flush()
    const { db, upkeep, freeKeys } = this.#store
    // What was sent to real servers must be on record even after a power cut; an emulated cluster ends with its process.
    if (kind === 'LIVE') db.pragma('synchronous = FULL')
    const at = Math.round(startedMs)
    this.#newestMs = undefined
    this.#frames.reset()
    this.#present = db.transaction(() => {
      const id = this.#store.clusterOf(kind, cluster, at)
      upkeep.rollUp.repair(id)
      endOpenRules(db, id, this.#store.newest(id))
      const source = Number(this.#sql.source.run(kind, cluster, detail, at, id).lastInsertRowid)
      const names = new SeriesNames(db, id, freeKeys, (write) => this.#pending.name(write))
      return {
        ...{ id: source, cluster: id, name: cluster, kind, startedMs: at, names },
        samples: new SampleWriter(id, names, (block) => this.#pending.block(block)),
        rules: new RuleFollower(db, source),
      }
    })()
  }

  /**
   * Takes one sample of the cluster; it is on disk within about a second.
   *
   * @param sums  of the whole cluster; without them they are gaps.
   * @throws      when the disk does not take what waits: then it goes on waiting.
   */
  record(
    atMs: number,
    jobs: readonly JobSample[],
    targets: readonly TargetSample[],
    facts: (id: string) => JobFacts,
    sums?: ClusterSample,
  ): void {
    const at = Math.round(atMs)
    this.#begun.samples.add(at, jobs, targets, facts, sums)
    this.#newestMs = at
    if (at - this.#lastFlushMs >= 1000 || at < this.#lastFlushMs) this.#flushAt(at)
  }

  /** Follows the rules of one server: a rule is a row from the reading that first saw it so to the last. */
  recordRules(atMs: number, server: string, rules: readonly RuleLine[]): void {
    for (const write of this.#begun.rules.follow(Math.round(atMs), server, rules)) this.#pending.write(write)
  }

  recordDecision(atMs: number, controller: string, node: string, d: Decision): void {
    const { id, names } = this.#begun
    const allocations = JSON.stringify(d.allocations.map((a) => [a.jobId, a.tokens, a.record]))
    this.#pending.write(() => {
      const target = names.target(d.target, node)
      this.#sql.decision.run(id, target, Math.round(atMs), controller, d.budget, allocations)
    })
  }

  recordEvent(e: EventRecord): void {
    const { id } = this.#begun
    this.#pending.write(() => {
      this.#sql.event.run(id, Math.round(e.atMs), e.kind, e.level, e.subject, e.text, e.where)
    })
  }

  /** Takes what moved between jobs; moves of one second, pair and kind add up. */
  recordMoves(moves: readonly MoveRecord[], facts: (id: string) => JobFacts): void {
    const { id, names } = this.#begun
    this.#pending.write(() => {
      for (const { atMs, target, node, lender, borrower, kind, tokens } of moves) {
        const [from, to] = [names.job(lender, atMs, facts), names.job(borrower, atMs, facts)]
        this.#sql.move.run(id, Math.round(atMs), names.target(target, node), from, to, kind, tokens)
      }
    })
  }

  /** What moved on targets of the present source, newest first; what is not written yet is not among it. */
  moves(query: MovesQuery): MoveRecord[] {
    return this.#ledger.moves(this.source, query)
  }

  /** Takes what a server's lock namespaces counted at one reading. */
  recordLdlm(atMs: number, node: string, namespaces: readonly LdlmRecord[]): void {
    const { id } = this.#begun
    this.#pending.write(() => {
      for (const n of namespaces) this.#ldlm.write(id, Math.round(atMs), node, n)
    })
  }

  /** Readings of a lock namespace of the present source, oldest first; the empty name: of servers as a whole. */
  ldlmSeries(namespace: string, fromMs: number, toMs: number, limit = 100_000): LdlmSample[] {
    this.flush()
    return this.#ldlm.series(this.source, namespace, fromMs, toMs, limit)
  }

  /** Takes what the disks of a server's targets did between two readings. */
  recordBrw(atMs: number, node: string, targets: readonly BrwRecord[]): void {
    const { names } = this.#begun
    const keyed = targets.map((t) => [names.target(t.target, node), t] as const)
    this.#pending.write(() => {
      for (const [key, t] of keyed) this.#io.writeBrw(key, atMs, t)
    })
  }

  /** Takes how long the services of a server expect to take. */
  recordTimeouts(atMs: number, node: string, services: readonly TimeoutRecord[]): void {
    const { cluster } = this.#begun
    this.#pending.write(() => {
      for (const s of services) this.#io.writeTimeout(cluster, atMs, node, s)
    })
  }

  /** The newest reading of a target's disk in (fromMs, toMs] that is written already. */
  brwAt(target: string, fromMs: number, toMs: number): BrwSample | undefined {
    return this.#io.brwAt(this.cluster, target, fromMs, toMs)
  }

  /** The newest estimates of a server in (fromMs, toMs] that are written already. */
  timeoutsAt(node: string, fromMs: number, toMs: number): TimeoutSample[] {
    return this.#io.timeoutsAt(this.cluster, node, fromMs, toMs)
  }

  /** Takes the state of a controller; the one before it is replaced. */
  keepControllerState(cluster: string, target: string, atMs: number, state: string): void {
    this.#pending.write(() => this.#sql.state.run(cluster, target, Math.round(atMs), state))
  }

  /** The state of a controller as last written, of any source of that cluster. */
  controllerState(cluster: string, target: string): { readonly atMs: number; readonly state: string } | undefined {
    return this.#ledger.state(cluster, target)
  }

  forgetControllerStates(cluster: string): void {
    this.#pending.write(() => this.#sql.forgetStates.run(cluster))
  }

  /** Whether a frame of a view would be kept now: who makes frames for it need not make others. */
  wantsFrame(view: string, atMs: number): boolean {
    return this.#frames.isDue(view, atMs)
  }

  /** Keeps a frame of a view that has no samples of its own; more than one in five seconds are passed over. */
  keepFrame(view: string, atMs: number, frame: unknown): void {
    const write = this.#frames.keep(this.#begun.cluster, view, atMs, frame)
    if (write) this.#pending.write(write)
  }

  /** Writes one audit record at once. @throws when it cannot be written: then nothing may be sent. */
  recordAudit(r: AuditRecord): void {
    this.#store.audit.append(this.#chain, r)
  }

  /** Newest record of the present source's kind; its chain goes on from there. */
  lastAudit(): AuditRecord | undefined {
    return this.#store.audit.last(this.#chain)
  }

  /** Audit records of the present source's kind from a number on, oldest first. */
  audit(from: number, limit: number): AuditRecord[] {
    return this.#store.audit.read(this.#chain, from, limit)
  }

  /** The hash that the first audit record still kept follows from. */
  auditAnchor(): string {
    return this.#store.audit.anchor(this.#chain)
  }

  get #chain(): Chain {
    return this.#present?.kind ?? 'LIVE'
  }

  /** How long a tier is kept; what is older goes at once. Failures: KEEP_OUT_OF_RANGE. */
  setKeep(tier: TierId, keepMs: number): Result<undefined> {
    return this.#store.settings.setKeep(tierNumber(tier), keepMs)
  }

  /** How large the file may become. Failures: QUOTA_OUT_OF_RANGE. */
  setQuota(bytes: number): Result<undefined> {
    return this.#store.settings.setQuota(bytes)
  }

  /** What the file holds, of all its clusters. */
  usage(): StoreUsage {
    return this.#store.usage()
  }

  /** What was taken out and why, newest first. */
  evictions(limit?: number): Eviction[] {
    return this.#store.evictions.list(limit)
  }

  /** What is kept of the present source's cluster, over all its starts. What waits to be written is written first if it can be. */
  reader(): HistoryReader {
    try {
      this.flush()
    } catch {
      // The block stays pending; data on disk remains readable.
    }
    const { db } = this.#store
    return new FileReader(db, this.cluster, { name: this.#present?.name ?? '', isOwner: false })
  }

  /** The connection of the file, to read from it; what waits is written first if it can be. */
  connection(): Database {
    try {
      this.flush()
    } catch {
      // The block stays pending; data on disk remains readable.
    }
    return this.#store.db
  }

  /** Recordings beside the file; undefined for one in memory. */
  get recordings(): Recordings | undefined {
    return this.file === ':memory:' ? undefined : new Recordings(join(dirname(this.file), 'recordings'))
  }

  /** Writes a stretch of the present cluster into a file of its own. Failures: those of `writeRecording`. */
  async writeRecording(span: Span, file: string): Promise<Result<WrittenRecording>> {
    try {
      this.flush()
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return fail({ code: 'RECORDING_FAILED', what: 'The recording was not written', why })
    }
    return writeRecording(this.#store.db, this.cluster, span, file)
  }

  /** Does at once what the store does in the background: coarser tiers, retention, quota. */
  settle(): void {
    this.flush()
    this.#store.upkeep.settle()
  }

  /** Rows of a table, for reports and tests. */
  count(table: Table): number {
    this.flush()
    return Number(this.#store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
  }

  /** One job of the present source's cluster at every instant in [fromMs, toMs] that names it, oldest first. */
  jobSeries(jobId: string, tier: number, fromMs: number, toMs: number): JobRow[] {
    return jobRows(this.reader(), jobId, tierOf(tier), fromMs, toMs)
  }

  /** The same of one target. */
  targetSeries(target: string, tier: number, fromMs: number, toMs: number): TargetRow[] {
    return targetRows(this.reader(), target, tierOf(tier), fromMs, toMs)
  }

  /** Whether all that was handed over is written: false between two flushes and while the disk takes nothing. */
  get isOnDisk(): boolean {
    return this.#pending.isEmpty
  }

  /** Writes everything that waits. @throws when the disk does not take it: then it goes on waiting. */
  flush(): void {
    if (this.#pending.isEmpty) return
    const { db, blocks } = this.#store
    this.#pending.flush(db, blocks, () => this.#store.makeRoom(this.#pending.bytes))
    this.#present?.names.trim()
  }

  /** Writes what waits and gives the file free. @throws like `flush`; the file is closed all the same. */
  close(): void {
    try {
      this.#present?.samples.endSecond()
      this.flush()
    } finally {
      this.#store.leave(this)
      if (this.#isOwner) this.#store.close()
    }
  }

  get #begun(): Present {
    if (!this.#present) throw new Error('no source has begun')
    return this.#present
  }

  #flushAt(atMs: number): void {
    this.#lastFlushMs = atMs
    this.flush()
    if (atMs - this.#lastPruneMs < PRUNE_MS && atMs >= this.#lastPruneMs) return
    this.#lastPruneMs = atMs
    this.#store.prune({ id: this.source, which: 'present' }, atMs)
  }
}
