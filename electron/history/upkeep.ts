/**
 * Background work of the store, in pieces of a few milliseconds: derives the coarser tiers, deletes expired data, and keeps the
 * file within its quota. All of it resumes after a process was killed.
 */
import type { Database } from 'better-sqlite3'
import type { NonSampleRetention } from './non-sample-retention.ts'
import type { BlockTable } from './block-table.ts'
import type { ConvoyTable } from './convoy-table.ts'
import type { Evictions, Reason } from './evictions.ts'
import { RollUp } from './roll-up.ts'
import type { Settings } from './settings.ts'
import { RAW, SECOND, TIER_COUNT } from './tiers.ts'

/** Work between two yields to the event loop. */
const PIECE_MS = 8
const REST_MS = 1000
/** Pause between two pieces of work. */
const BREATH_MS = 30
const INSTANTS_AT_ONCE = 32
/** Range of a tier that is always kept, ms, however small the quota. */
const LEAST_MS = 60_000
/** Range of the data beside the samples that is deleted at once. */
const BESIDE_AT_ONCE_MS = 10_000
/** A full disk evicts raw samples and seconds only: before the coarser tiers are evicted, new data waits. */
const DISK_TIERS = SECOND + 1
const PAGES_AT_ONCE = 1000
/** Kept convoys are kept as long as the means of ten seconds. */
const CONVOY_TIER = SECOND + 1

export interface UpkeepParts {
  readonly db: Database
  readonly blocks: BlockTable
  readonly beside: NonSampleRetention
  readonly settings: Settings
  readonly evictions: Evictions
  readonly convoys: ConvoyTable
  /** Current time of a cluster, and true if it is being sampled. */
  readonly clock: (cluster: number) => { readonly nowMs: number; readonly isLive: boolean }
  /** Wall clock, Unix ms. */
  readonly nowMs: () => number
}

export class Upkeep {
  readonly #parts: UpkeepParts
  readonly rollUp: RollUp
  readonly #clusters
  readonly #forgetJobs
  readonly #forgetSeries
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(parts: UpkeepParts) {
    this.#parts = parts
    this.rollUp = new RollUp(parts.db, parts.blocks)
    this.#clusters = parts.db.prepare('SELECT id FROM cluster ORDER BY id').pluck()
    this.#forgetJobs = parts.db.prepare(
      `DELETE FROM job WHERE id IN (SELECT id FROM job WHERE cluster = ? AND last_ms < ?
       AND NOT EXISTS (SELECT 1 FROM adaptbf_moves WHERE lender = job.id)
       AND NOT EXISTS (SELECT 1 FROM adaptbf_moves WHERE borrower = job.id) LIMIT 500)`,
    )
    this.#forgetSeries = parts.db.prepare(
      'DELETE FROM plane_series WHERE id IN (SELECT id FROM plane_series WHERE cluster = ? AND last_ms < ? LIMIT 500)',
    )
    this.#later(REST_MS)
  }

  stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }

  /** Does all outstanding work. */
  settle(): void {
    while (this.#piece(Infinity));
  }

  /**
   * Evicts the oldest samples of the finest tier until so many bytes are free.
   *
   * @returns  bytes that were freed.
   */
  evict(bytes: number, reason: Reason): number {
    let out = 0
    while (out < bytes) {
      const piece = this.#evictPiece(reason)
      if (piece === 0) break
      out += piece
    }
    return out
  }

  /** Bytes in use in the file. */
  used(): number {
    const { db } = this.#parts
    const pragma = (name: string): number => Number(db.pragma(name, { simple: true }))
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
  }

  #later(ms: number): void {
    if (this.#isOver) return
    this.#timer = setTimeout(() => {
      let hasMore = false
      try {
        hasMore = this.#piece(PIECE_MS)
      } catch (e) {
        // A disk that accepts nothing may accept it later: transactions leave nothing half done.
        if (!(e instanceof Error && 'code' in e && String(e.code).startsWith('SQLITE_'))) throw e
      } finally {
        this.#later(hasMore ? BREATH_MS : REST_MS)
      }
    }, ms).unref()
  }

  /** Works for about `forMs`. Returns true if there is more to do. */
  #piece(forMs: number): boolean {
    const until = performance.now() + forMs
    const isTime = (): boolean => performance.now() < until
    const { db } = this.#parts
    const work = (step: () => boolean): boolean => db.transaction(step)()
    let hasMore = false
    const all = this.#clusters.all() as number[]
    for (const cluster of all) {
      for (let tier = SECOND + 1; tier < TIER_COUNT; tier++) {
        let goesOn = true
        const { nowMs, isLive } = this.#parts.clock(cluster)
        const until = isLive ? nowMs : undefined
        while (goesOn && isTime())
          goesOn = work(() => this.rollUp.advance(cluster, tier, until, this.#hasEnded(cluster)))
        hasMore ||= goesOn
      }
    }
    for (const cluster of all) {
      let goesOn = true
      while (goesOn && isTime()) goesOn = work(() => this.#retain(cluster))
      hasMore ||= goesOn
    }
    let goesOn = true
    while (goesOn && isTime()) goesOn = this.#shrink()
    return hasMore || goesOn
  }

  #hasEnded(cluster: number): boolean {
    const { nowMs, isLive } = this.#parts.clock(cluster)
    const newest = this.#parts.blocks.last(cluster, RAW) ?? this.#parts.blocks.last(cluster, SECOND)
    return !isLive && newest !== undefined && nowMs - newest > 2 * LEAST_MS
  }

  /** Deletes a batch of expired data; samples that are not in the coarser tier yet are kept. */
  #retain(cluster: number): boolean {
    const { blocks, settings, evictions, convoys, clock, nowMs } = this.#parts
    const now = clock(cluster).nowMs
    let hasMore = false
    for (let tier = RAW; tier < TIER_COUNT; tier++) {
      const rolled = tier === RAW || tier === TIER_COUNT - 1 ? Infinity : this.rollUp.rolledTo(cluster, tier + 1)
      const before = Math.min(now - settings.keepOf(tier), rolled ?? -Infinity)
      const cut = blocks.cut(cluster, tier, before, INSTANTS_AT_ONCE)
      if (!cut) continue
      evictions.add(nowMs(), cluster, tier, cut, 'retention')
      hasMore = true
    }
    if (convoys.cut(cluster, Math.round(now - settings.keepOf(CONVOY_TIER)))) hasMore = true
    const before = Math.round(now - settings.keepOf(TIER_COUNT - 1))
    const gone = this.#forgetJobs.run(cluster, before).changes + this.#forgetSeries.run(cluster, before).changes
    return hasMore || gone > 0
  }

  #shrink(): boolean {
    const { db, settings } = this.#parts
    const over = this.used() - settings.quotaBytes
    if (over > 0) return this.#evictBeside() || this.#evictPiece('quota') > 0
    const pragma = (name: string): number => Number(db.pragma(name, { simple: true }))
    const isOver = pragma('page_count') * pragma('page_size') > settings.quotaBytes
    if (!isOver || pragma('auto_vacuum') !== 2 || pragma('freelist_count') === 0) return false
    db.pragma(`incremental_vacuum(${PAGES_AT_ONCE})`)
    return true
  }

  /** Evicts a batch of the data beside the samples that is older than the oldest raw sample. @returns true if any was deleted */
  #evictBeside(): boolean {
    const { db, blocks, beside, clock } = this.#parts
    for (const cluster of this.#clusters.all() as number[]) {
      const fromMs = beside.first(cluster)
      const endMs = Math.min(clock(cluster).nowMs - LEAST_MS, blocks.first(cluster, RAW) ?? Infinity)
      if (fromMs === undefined || fromMs >= endMs) continue
      if (db.transaction(() => beside.cut(cluster, Math.min(endMs, fromMs + BESIDE_AT_ONCE_MS)))()) return true
    }
    return false
  }

  /** Evicts a batch of the oldest samples of the finest tier; 0 if nothing evictable is left. */
  #evictPiece(reason: Reason): number {
    const { db, blocks, evictions, nowMs } = this.#parts
    const clusters = this.#clusters.all() as number[]
    const [tiers, leastMs] = reason === 'disk' ? [DISK_TIERS, 0] : [TIER_COUNT, LEAST_MS]
    for (let tier = RAW; tier < tiers; tier++) {
      let oldest: { cluster: number; atMs: number; endMs: number } | undefined
      for (const cluster of clusters) {
        const atMs = blocks.first(cluster, tier)
        const endMs = (blocks.last(cluster, tier) ?? 0) - leastMs
        if (atMs !== undefined && atMs < endMs && atMs < (oldest?.atMs ?? Infinity)) oldest = { cluster, atMs, endMs }
      }
      if (!oldest) continue
      const { cluster, endMs } = oldest
      const cut = db.transaction(() => {
        const piece = blocks.cut(cluster, tier, endMs, INSTANTS_AT_ONCE)
        if (piece) evictions.add(nowMs(), cluster, tier, piece, reason)
        return piece
      })()
      if (cut) return cut.bytes + 1
    }
    return 0
  }
}
