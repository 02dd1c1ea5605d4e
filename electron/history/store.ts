/**
 * The history file while it is open for writing, shared by all sources that write to it. Every source has its own writer
 * (`History`); they share one connection, and their writes are serialized.
 */
import type { Database } from 'better-sqlite3'
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { HistoryFrame } from '#core/api/history.ts'
import { ok, type Failure, type Result } from '#core/base/result.ts'
import { AuditTable } from './audit-table.ts'
import { NonSampleRetention, prune } from './non-sample-retention.ts'
import { BlockTable } from './block-table.ts'
import { ConvoyTable } from './convoy-table.ts'
import { Evictions } from './evictions.ts'
import { openHistory, type OpenedHistory } from './open.ts'
import { freeKeys, type FreeKeys } from './series-names.ts'
import { Settings } from './settings.ts'
import { KEEP, TIER_COUNT, tierOf } from './tiers.ts'
import { Upkeep } from './upkeep.ts'

/** Commit interval, ms: a killed process loses at most the data since the last commit. */
const COMMIT_MS = 500
/** Bytes freed in addition to the pending ones: the next second needs room too. */
const RESERVE_BYTES = 4 * 2 ** 20

export type StoreUsage = Omit<HistoryFrame['store'], 'evictions'>

/** Writer of one source, as the store needs it. */
export interface Writer {
  readonly cluster: number
  readonly source: number
  /** Time of its newest sample, or of its start before the first one. */
  readonly atMs: number
  /** Writes pending data. @throws if the disk does not accept it. */
  flush(): void
}

/** Quota of a history in memory. */
const MEMORY_BYTES = 256 * 2 ** 20

export class HistoryStore {
  readonly db: Database
  readonly file: string
  readonly notice: Failure | undefined
  readonly blocks: BlockTable
  readonly audit: AuditTable
  readonly settings: Settings
  readonly evictions: Evictions
  readonly convoys: ConvoyTable
  readonly upkeep: Upkeep
  readonly freeKeys: FreeKeys
  readonly #writers = new Set<Writer>()
  readonly #commits: NodeJS.Timeout
  readonly #close: () => void
  readonly #openedMs: number
  readonly #openedAt = performance.now()

  private constructor({ db, notice, close }: OpenedHistory, file: string, nowMs: number) {
    this.#close = close
    this.db = db
    this.file = file
    this.notice = notice
    this.#openedMs = nowMs
    this.blocks = new BlockTable(db, true)
    this.audit = new AuditTable(db)
    this.settings = new Settings(db)
    this.evictions = new Evictions(db)
    this.convoys = new ConvoyTable(db)
    this.freeKeys = freeKeys(db)
    this.upkeep = new Upkeep({
      db,
      blocks: this.blocks,
      settings: this.settings,
      evictions: this.evictions,
      convoys: this.convoys,
      beside: new NonSampleRetention(db, this.audit),
      clock: (cluster) => this.#clock(cluster),
      nowMs: () => this.nowMs,
    })
    this.#commits = setInterval(() => this.#commit(), COMMIT_MS).unref()
  }

  /** Opens the file; failures are those of `openHistory`. */
  static open(file: string, nowMs: number): Result<HistoryStore> {
    const opened = openHistory(file, nowMs)
    if (!opened.ok) return opened
    const store = new HistoryStore(opened.value, file, nowMs)
    // No source of this session exists yet: all sources are `others`.
    store.prune({ id: 0, which: 'others' }, nowMs)
    return ok(store)
  }

  /** Opens a store in memory if the file cannot be used; `why` is the message for the operator. */
  static openInMemory(why: Failure, nowMs: number): Result<HistoryStore> {
    const opened = openHistory(':memory:', nowMs)
    if (!opened.ok) return opened
    const store = new HistoryStore({ ...opened.value, notice: why }, ':memory:', nowMs)
    store.settings.setQuota(MEMORY_BYTES)
    return ok(store)
  }

  /** Wall clock, Unix ms. */
  get nowMs(): number {
    return this.#openedMs + performance.now() - this.#openedAt
  }

  enter(writer: Writer): void {
    this.#writers.add(writer)
  }

  leave(writer: Writer): void {
    this.#writers.delete(writer)
  }

  prune(source: { readonly id: number; readonly which: 'present' | 'others' }, atMs: number): void {
    prune(this.db, this.audit, atMs, source, this.settings.keepOf(TIER_COUNT - 1))
  }

  /**
   * Cluster that a source belongs to. A live one is the same across starts of the console; so is an emulated one, unless its clock
   * starts before the end of the stored data: then it is a new cluster.
   */
  clusterOf(kind: 'LIVE' | 'EMULATED', name: string, startedMs: number): number {
    const known = this.db
      .prepare('SELECT id FROM cluster WHERE kind = ? AND name = ? ORDER BY id DESC LIMIT 1')
      .pluck()
      .get(kind, name) as number | undefined
    if (known !== undefined) {
      const newest = this.newest(known)
      if (newest === undefined || newest < startedMs) return known
      if (kind === 'LIVE') {
        this.upkeep.rollUp.reopen(known, startedMs)
        return known
      }
    }
    return Number(this.db.prepare('INSERT INTO cluster (kind, name) VALUES (?, ?)').run(kind, name).lastInsertRowid)
  }

  /** Latest instant of a cluster. */
  newest(cluster: number): number | undefined {
    let newest: number | undefined
    for (let tier = 0; tier < TIER_COUNT; tier++) {
      const last = this.blocks.last(cluster, tier)
      if (last !== undefined && last > (newest ?? -Infinity)) newest = last
    }
    return newest
  }

  /** Frees space on a full disk by evicting raw samples early. Returns true if any were evicted. */
  freeSpace(bytes: number): boolean {
    const evict = (): boolean => this.upkeep.evict(bytes + RESERVE_BYTES, 'disk') > 0
    try {
      return evict()
    } catch {
      // Not even the deletion fits: the log is checkpointed and truncated first.
      this.db.pragma('wal_checkpoint(TRUNCATE)')
      return evict()
    }
  }

  usage(): StoreUsage {
    const rows = this.db
      .prepare('SELECT tier, sum(samples) AS samples, sum(bytes) AS bytes FROM block_use GROUP BY tier')
      .all() as { tier: number; samples: number; bytes: number }[]
    const clusters = this.db.prepare('SELECT id FROM cluster').pluck().all() as number[]
    const tiers = KEEP.map(({ leastMs, mostMs }, tier) => {
      const use = rows.find((r) => r.tier === tier)
      const oldest = clusters.flatMap((c) => this.blocks.first(c, tier) ?? [])
      return {
        id: tierOf(tier),
        keepMs: this.settings.keepOf(tier),
        leastMs,
        mostMs,
        oldestMs: oldest.length > 0 ? Math.min(...oldest) : null,
        samples: use?.samples ?? 0,
        bytes: use?.bytes ?? 0,
      }
    })
    const bytes = this.upkeep.used()
    return {
      file: this.file,
      bytes,
      quotaBytes: this.settings.quotaBytes,
      freeBytes: this.#free(),
      tiers,
      otherBytes: Math.max(0, bytes - tiers.reduce((n, t) => n + t.bytes, 0)),
    }
  }

  close(): void {
    clearInterval(this.#commits)
    this.upkeep.stop()
    this.#close()
  }

  #free(): number | null {
    if (this.file === ':memory:') return null
    try {
      const { bavail, bsize } = statfsSync(dirname(this.file))
      return bavail * bsize
    } catch {
      return null
    }
  }

  #clock(cluster: number): { nowMs: number; isLive: boolean } {
    for (const w of this.#writers) {
      if (w.cluster === cluster) return { nowMs: w.atMs, isLive: true }
    }
    return { nowMs: this.nowMs, isLive: false }
  }

  #commit(): void {
    for (const w of this.#writers) {
      try {
        w.flush()
      } catch {
        // The data stays pending; the next sample reports the failure.
      }
    }
  }
}
