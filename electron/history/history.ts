/**
 * History: samples, rules, decisions, events and the audit of consecutive sources, in SQLite.
 *
 * Data is buffered in memory and written at least once a second in one transaction; the audit is written at once, before the
 * command it announces. Samples are written as taken and as means of a second; the store derives the coarser tiers in the
 * background. Data that cannot be written is kept, up to a limit, for the next second.
 */
import { dirname, join } from 'node:path'
import type { Database, Statement } from 'better-sqlite3'
import type { Span, TierId } from '#core/api/history.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { Decision } from '#core/control/controller.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { PlaneRow, PlaneTableId } from '#core/series/plane-tables.ts'
import type { AuditRecord } from '../base/audit.ts'
import type { Chain } from './audit-table.ts'
import type { Eviction } from './evictions.ts'
import { FileReader } from './file-reader.ts'
import { packConvoy } from './convoy-table.ts'
import { PlaneWriter } from './plane-writer.ts'
import { IoTable, type BrwRecord, type BrwSample, type TimeoutRecord, type TimeoutSample } from './io-table.ts'
import { LdlmTable, type LdlmRecord } from './ldlm-table.ts'
import { LedgerTables, type MovesQuery } from './ledger-tables.ts'
import { jobRows, targetRows, type JobRow, type TargetRow } from './one-series.ts'
import type { HistoryReader, KeptConvoy } from './reader.ts'
import { writeRecording, type WrittenRecording } from './recording.ts'
import { Recordings } from './recordings.ts'
import type { ClusterSample, EventRecord, JobFacts, JobSample, MoveRecord, TargetSample } from './records.ts'
import { SampleWriter } from './sample-writer.ts'
import { SeriesNames } from './series-names.ts'
import { HistoryStore, type StoreUsage, type Writer } from './store.ts'
import { tierNumber, tierOf } from './tiers.ts'
import type { BlockTable, StoredBlock } from './block-table.ts'

const WRITES_MAX = 20_000
const BLOCK_BYTES_MAX = 64 * 2 ** 20

const isFull = (e: unknown): boolean => e instanceof Error && 'code' in e && e.code === 'SQLITE_FULL'

const bytesOf = (b: StoredBlock | undefined): number => (b ? b.lead.length + b.rest.length : 0)

/**
 * Buffer of pending writes: names, blocks and everything else, written together in one transaction. While the disk
 * accepts none they are kept, up to a limit; the oldest samples are dropped first, names never.
 */
class Pending {
  readonly #names: (() => void)[] = []
  readonly #writes: (() => void)[] = []
  readonly #blocks: StoredBlock[] = []
  #bytes = 0
  #isWriting = false

  /** Queues the row of a name; a name that is found during a flush is written at once, and again if that is rolled back. */
  name(write: () => void): void {
    this.#names.push(write)
    if (this.#isWriting) write()
  }

  write(write: () => void): void {
    this.#writes.push(write)
    if (this.#writes.length > WRITES_MAX) this.#writes.shift()
  }

  block(block: StoredBlock): void {
    this.#blocks.push(block)
    this.#bytes += bytesOf(block)
    while (this.#bytes > BLOCK_BYTES_MAX) this.#bytes -= bytesOf(this.#blocks.shift())
  }

  get isEmpty(): boolean {
    return this.#names.length === 0 && this.#writes.length === 0 && this.#blocks.length === 0
  }

  /** Bytes of the pending blocks. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Writes everything.
   *
   * @param freeSpace  called when the disk is full; returns true if it freed space.
   * @throws          if the disk does not accept it.
   */
  flush(db: Database, table: BlockTable, freeSpace: () => boolean): void {
    if (this.isEmpty) return
    const all = db.transaction(() => {
      for (const write of [...this.#names]) write()
      for (const block of this.#blocks) table.put(block)
      for (const write of this.#writes) write()
    })
    this.#isWriting = true
    try {
      all()
    } catch (e) {
      if (!isFull(e) || !freeSpace()) throw e
      all()
    } finally {
      this.#isWriting = false
    }
    this.#names.length = 0
    this.#writes.length = 0
    this.#blocks.length = 0
    this.#bytes = 0
  }
}

interface Open {
  id: number
  readonly rate: number
  readonly conditions: string
  /** Position in match order: it decides which of two matching rules applies to a job. */
  readonly position: number
}

type Value = string | number | null

/** Tracks the rules of servers: one row per rule and period, from its first reading to its last. */
class RuleFollower {
  readonly #source: number
  readonly #insert: Statement<Value[]>
  readonly #close: Statement<Value[]>
  /** Open rule periods by server, then queue, CPT and name. */
  readonly #open = new Map<string, Map<string, Open>>()

  constructor(db: Database, source: number) {
    this.#source = source
    this.#insert = db.prepare(
      `INSERT INTO rule (source, server, queue, cpt, position, name, conditions, rate, from_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#close = db.prepare('UPDATE rule SET to_ms = ? WHERE id = ?')
  }

  /** Returns the writes for one reading of one server. */
  follow(at: number, server: string, rules: readonly RuleLine[]): (() => void)[] {
    const before = this.#open.get(server)
    const now = new Map<string, Open>()
    const changes: (() => void)[] = []
    rules.forEach((r, position) => {
      const key = `${r.queue}\u0000${r.cpt}\u0000${r.name}`
      const open = before?.get(key)
      before?.delete(key)
      if (open?.rate === r.rate && open.conditions === r.conditions && open.position === position) {
        now.set(key, open)
        return
      }
      if (open) changes.push(() => this.#close.run(at, open.id))
      const row: Open = { id: 0, rate: r.rate, conditions: r.conditions, position }
      now.set(key, row)
      const { queue, cpt, name, conditions, rate } = r
      changes.push(() => {
        const made = this.#insert.run(this.#source, server, queue, cpt, position, name, conditions, rate, at)
        row.id = Number(made.lastInsertRowid)
      })
    })
    for (const gone of before?.values() ?? []) changes.push(() => this.#close.run(at, gone.id))
    this.#open.set(server, now)
    return changes
  }
}

type Write = Statement<(string | number | null)[]>

/** Prepared writes of everything except samples, rules and names. */
interface Statements {
  readonly source: Write
  readonly decision: Write
  readonly event: Write
  readonly move: Write
  readonly state: Write
  readonly forgetStates: Write
}

function prepareStatements(db: Database): Statements {
  const prepare = (sql: string): Write => db.prepare(sql)
  return {
    source: prepare('INSERT INTO source (kind, cluster, detail, started_ms, cluster_id) VALUES (?, ?, ?, ?, ?)'),
    decision: prepare('INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?, ?, ?)'),
    // Two batches may contain the same second: its moves are added up.
    move: prepare(
      `INSERT INTO adaptbf_moves VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens`,
    ),
    state: prepare('INSERT OR REPLACE INTO adaptbf_state VALUES (?, ?, ?, ?)'),
    forgetStates: prepare('DELETE FROM adaptbf_state WHERE cluster = ?'),
    event: prepare('INSERT INTO event (source, at_ms, kind, level, subject, text, place) VALUES (?, ?, ?, ?, ?, ?, ?)'),
  }
}

/** Ends the rules that were in force when the last source of a cluster ended: they are known only until its newest sample. */
function endOpenRules(db: Database, cluster: number, newestMs: number | undefined): void {
  db.prepare(
    `UPDATE rule SET to_ms = max(from_ms, ?) WHERE to_ms IS NULL
     AND source IN (SELECT id FROM source WHERE cluster_id = ?)`,
  ).run(newestMs ?? 0, cluster)
}

const PRUNE_MS = 60_000

const NO_HISTORY = 'HISTORY_OFF'

const withoutHistory = ({ what, why }: Failure): Failure => ({
  code: NO_HISTORY,
  what: 'The console runs without a history: samples are lost when it ends',
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
      | 'plane_series'
      | 'convoy'
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

/** Current source: its keys and trackers. */
interface Present {
  readonly id: number
  readonly cluster: number
  readonly name: string
  readonly kind: 'LIVE' | 'EMULATED'
  readonly startedMs: number
  readonly names: SeriesNames
  readonly samples: SampleWriter
  readonly planes: PlaneWriter
  readonly rules: RuleFollower
}

export class History implements Writer {
  readonly #store: HistoryStore
  /** Set if closing it closes the file. */
  readonly #isOwner: boolean
  readonly #pending = new Pending()
  readonly #ledger: LedgerTables
  readonly #ldlm: LdlmTable
  readonly #io: IoTable
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
    store.enter(this)
  }

  /** Opens the file; failures are those of `openHistory`. */
  static open(file: string, nowMs: number): Result<History> {
    const opened = HistoryStore.open(file, nowMs)
    return opened.ok ? ok(History.on(opened.value)) : opened
  }

  /**
   * Opens the file, or a history in memory if the disk is full, read-only or unreachable: a console must be able to start, show
   * and stop in any case. `notice` reports it. Failures: those of `openHistory` about the identity of the file or another user of
   * it.
   */
  static openOrWithout(file: string, nowMs: number): Result<History> {
    const opened = History.open(file, nowMs)
    if (opened.ok || opened.error.code !== 'HISTORY_UNREADABLE') return opened
    const store = HistoryStore.openInMemory(withoutHistory(opened.error), nowMs)
    return store.ok ? ok(History.on(store.value)) : store
  }

  /** Creates a history on an open store; closing it closes the store. */
  static on(store: HistoryStore): History {
    return new History(store, true)
  }

  /**
   * Creates a history for another concurrent source in the same file and process; their writes are serialized. Close it before
   * this one.
   */
  beside(): History {
    return new History(this.#store, false)
  }

  get file(): string {
    return this.#store.file
  }

  /** Message for the operator from opening the file. */
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

  /** Starts a source; everything recorded afterwards belongs to it. */
  beginSource(kind: 'LIVE' | 'EMULATED', cluster: string, detail: string, startedMs: number): void {
    this.#present?.samples.endSecond()
    this.flush()
    const { db, upkeep, freeKeys } = this.#store
    // Commands sent to real servers must be on record even after a power cut; an emulated cluster ends with its process.
    if (kind === 'LIVE') db.pragma('synchronous = FULL')
    const at = Math.round(startedMs)
    this.#newestMs = undefined
    this.#present = db.transaction(() => {
      const id = this.#store.clusterOf(kind, cluster, at)
      upkeep.rollUp.repair(id)
      endOpenRules(db, id, this.#store.newest(id))
      const source = Number(this.#sql.source.run(kind, cluster, detail, at, id).lastInsertRowid)
      const names = new SeriesNames(db, id, freeKeys, (write) => this.#pending.name(write))
      return {
        id: source,
        cluster: id,
        name: cluster,
        kind,
        startedMs: at,
        names,
        samples: new SampleWriter(id, names, (block) => this.#pending.block(block)),
        planes: new PlaneWriter(
          db,
          id,
          freeKeys,
          (write) => this.#pending.name(write),
          (block) => this.#pending.block(block),
        ),
        rules: new RuleFollower(db, source),
      }
    })()
  }

  /**
   * Records one sample of the cluster; it is on disk within about a second.
   *
   * @param sums  sums over the whole cluster; if absent, they are gaps.
   * @throws      if the disk does not accept the pending data, which is then kept.
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

  /** Records the rules of one server: one row per rule and period, from its first reading to its last. */
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

  /** Records moves between jobs; moves of one second, pair and kind are added up. */
  recordMoves(moves: readonly MoveRecord[], facts: (id: string) => JobFacts): void {
    const { id, names } = this.#begun
    this.#pending.write(() => {
      for (const { atMs, target, node, lender, borrower, kind, tokens } of moves) {
        const from = names.job(lender, atMs, facts)
        const to = names.job(borrower, atMs, facts)
        this.#sql.move.run(id, Math.round(atMs), names.target(target, node), from, to, kind, tokens)
      }
    })
  }

  /** Moves on targets of the current source, newest first; without those that are still pending. */
  moves(query: MovesQuery): MoveRecord[] {
    return this.#ledger.moves(this.source, query)
  }

  /** Records the lock namespace counters of one reading of a server. */
  recordLdlm(atMs: number, node: string, namespaces: readonly LdlmRecord[]): void {
    const { id } = this.#begun
    this.#pending.write(() => {
      for (const n of namespaces) this.#ldlm.write(id, Math.round(atMs), node, n)
    })
  }

  /** Records the disk I/O of a server's targets between two readings. */
  recordBrw(atMs: number, node: string, targets: readonly BrwRecord[]): void {
    const { names } = this.#begun
    const keyed = targets.map((t) => [names.target(t.target, node), t] as const)
    this.#pending.write(() => {
      for (const [key, t] of keyed) this.#io.writeBrw(key, atMs, t)
    })
  }

  /** Records the service time estimates of a server. */
  recordTimeouts(atMs: number, node: string, services: readonly TimeoutRecord[]): void {
    const { cluster } = this.#begun
    this.#pending.write(() => {
      for (const s of services) this.#io.writeTimeout(cluster, atMs, node, s)
    })
  }

  /** Latest written reading of a target's disk in (fromMs, toMs]. */
  brwAt(target: string, fromMs: number, toMs: number): BrwSample | undefined {
    return this.#io.brwAt(this.cluster, target, fromMs, toMs)
  }

  /** Latest written estimates of a server in (fromMs, toMs]. */
  timeoutsAt(node: string, fromMs: number, toMs: number): TimeoutSample[] {
    return this.#io.timeoutsAt(this.cluster, node, fromMs, toMs)
  }

  /** Stores the state of a controller, replacing the previous one. */
  keepControllerState(cluster: string, target: string, atMs: number, state: string): void {
    this.#pending.write(() => this.#sql.state.run(cluster, target, Math.round(atMs), state))
  }

  /** Last written state of a controller, of any source of that cluster. */
  controllerState(cluster: string, target: string): { readonly atMs: number; readonly state: string } | undefined {
    return this.#ledger.state(cluster, target)
  }

  forgetControllerStates(cluster: string): void {
    this.#pending.write(() => this.#sql.forgetStates.run(cluster))
  }

  /**
   * Records the rows of a plane's table for the period that began at `atMs`: the highest ranked, and one of the others. Several
   * periods that begin in one second are rolled up into it.
   */
  recordPlane(table: PlaneTableId, atMs: number, rows: readonly PlaneRow[]): void {
    this.#begun.planes.add(table, atMs, rows)
  }

  /** True if a convoy of that length would be one of the longest kept of its day, so that its messages need not be read otherwise. */
  wantsConvoy(fromMs: number, lengthMs: number): boolean {
    return lengthMs > this.#store.convoys.leastLength(this.#begun.cluster, fromMs)
  }

  /** Keeps a convoy with its messages, if it is one of the longest of its day. */
  keepConvoy(convoy: Omit<KeptConvoy, 'id'>, frame: unknown): void {
    const { cluster } = this.#begun
    const data = packConvoy(frame)
    if (data) this.#pending.write(() => this.#store.convoys.put(cluster, convoy, data))
  }

  /** Writes one audit record at once. @throws if it cannot be written: then nothing may be sent. */
  recordAudit(r: AuditRecord): void {
    this.#store.audit.append(this.#chain, r)
  }

  /** Newest record of the current source's chain, which is continued from there. */
  lastAudit(): AuditRecord | undefined {
    return this.#store.audit.last(this.#chain)
  }

  /** Audit records of the current source's chain starting at a number, oldest first. */
  audit(from: number, limit: number): AuditRecord[] {
    return this.#store.audit.read(this.#chain, from, limit)
  }

  /** Hash that the first retained audit record chains to. */
  auditAnchor(): string {
    return this.#store.audit.anchor(this.#chain)
  }

  get #chain(): Chain {
    return this.#present?.kind ?? 'LIVE'
  }

  /** Sets the retention of a tier; older data is deleted at once. Failures: KEEP_OUT_OF_RANGE. */
  setKeep(tier: TierId, keepMs: number): Result<undefined> {
    return this.#store.settings.setKeep(tierNumber(tier), keepMs)
  }

  /** Sets the size limit of the file. Failures: QUOTA_OUT_OF_RANGE. */
  setQuota(bytes: number): Result<undefined> {
    return this.#store.settings.setQuota(bytes)
  }

  /** Usage of the file, over all its clusters. */
  usage(): StoreUsage {
    return this.#store.usage()
  }

  /** Deletions and their reasons, newest first. */
  evictions(limit?: number): Eviction[] {
    return this.#store.evictions.list(limit)
  }

  /** Reader of the current source's cluster, over all its sources. Pending data is written first if possible. */
  reader(): HistoryReader {
    try {
      this.flush()
    } catch {
      // The block stays pending; data on disk remains readable.
    }
    const { db } = this.#store
    return new FileReader(db, this.cluster, { name: this.#present?.name ?? '', isOwner: false })
  }

  /** Connection of the file, for reading; pending data is written first if possible. */
  connection(): Database {
    try {
      this.flush()
    } catch {
      // The block stays pending; data on disk remains readable.
    }
    return this.#store.db
  }

  /** Recordings beside the file; undefined for a history in memory. */
  get recordings(): Recordings | undefined {
    return this.file === ':memory:' ? undefined : new Recordings(join(dirname(this.file), 'recordings'))
  }

  /** Writes a range of the current cluster into a separate file. Failures: those of `writeRecording`. */
  async writeRecording(span: Span, file: string): Promise<Result<WrittenRecording>> {
    try {
      this.flush()
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return fail({
        code: 'RECORDING_FAILED',
        what: 'The recording was not written',
        why,
        unaffected: 'Sampling continues.',
        next: 'Free space for the history, and try again.',
      })
    }
    return writeRecording(this.#store.db, this.cluster, span, file)
  }

  /** Runs the background work of the store at once: coarser tiers, retention, quota. */
  settle(): void {
    this.flush()
    this.#store.upkeep.settle()
  }

  /** Number of rows of a table, for reports and tests. */
  count(table: Table): number {
    this.flush()
    return Number(this.#store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
  }

  /** Samples of one job of the current source's cluster in [fromMs, toMs], oldest first. */
  jobSeries(jobId: string, tier: number, fromMs: number, toMs: number): JobRow[] {
    return jobRows(this.reader(), jobId, tierOf(tier), fromMs, toMs)
  }

  /** Samples of one target. */
  targetSeries(target: string, tier: number, fromMs: number, toMs: number): TargetRow[] {
    return targetRows(this.reader(), target, tierOf(tier), fromMs, toMs)
  }

  /** True if all data is written: false between two flushes and while the disk accepts nothing. */
  get isOnDisk(): boolean {
    return this.#pending.isEmpty
  }

  /** Writes all pending data. @throws if the disk does not accept it; it is kept then. */
  flush(): void {
    if (this.#pending.isEmpty) return
    const { db, blocks } = this.#store
    this.#pending.flush(db, blocks, () => this.#store.freeSpace(this.#pending.bytes))
    this.#present?.names.trim()
    this.#present?.planes.trim()
  }

  /** Writes pending data and closes the file. @throws like `flush`; the file is closed in any case. */
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
