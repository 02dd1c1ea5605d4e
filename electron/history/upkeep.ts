/**
 * What the store does in the background, in pieces of a few milliseconds: it makes the coarser tiers, takes out what had its time, and
 * keeps the file within its quota. Everything goes on after a process ended in the middle.
 */
import type { Database } from 'better-sqlite3'
import type { BesideSamples } from './beside-samples.ts'
import type { BlockTable } from './block-table.ts'
import type { Evictions, Reason } from './evictions.ts'
import type { KeptFrames } from './kept-frames.ts'
import { RollUp } from './roll-up.ts'
import type { Settings } from './settings.ts'
import { RAW, SECOND, TIER_COUNT } from './tiers.ts'

/** Of work between two turns of the event loop. */
const PIECE_MS = 8
const REST_MS = 1000
/** The event loop is left alone for so long between two pieces. */
const BREATH_MS = 30
const INSTANTS_AT_ONCE = 32
/** What is always left of a tier, ms, however small the quota. */
const LEAST_MS = 60_000
/** Of what stands beside the samples, so much time goes at once. */
const BESIDE_AT_ONCE_MS = 10_000
/** A full disk takes of raw samples and seconds; before the long past goes, what is new waits. */
const DISK_TIERS = SECOND + 1
const PAGES_AT_ONCE = 1000

export interface UpkeepParts {
  readonly db: Database
  readonly blocks: BlockTable
  readonly beside: BesideSamples
  readonly settings: Settings
  readonly evictions: Evictions
  readonly frames: KeptFrames
  /** The present instant of a cluster, and whether it is being sampled. */
  readonly clock: (cluster: number) => { readonly nowMs: number; readonly isLive: boolean }
  /** Wall clock, Unix ms. */
  readonly nowMs: () => number
}

export class Upkeep {
  readonly #parts: UpkeepParts
  readonly rollUp: RollUp
  readonly #clusters
  readonly #forgetJobs
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
    this.#later(REST_MS)
  }

  stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }

  /** Does everything that there is to do now. */
  settle(): void {
    while (this.#piece(Infinity));
  }

  /**
   * Takes the oldest samples of the finest tier out until so many bytes are free.
   *
   * @returns  the bytes that were taken out.
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

  /** Bytes of the file that are in use. */
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
        // A disk that takes nothing takes it later: nothing is half done.
        if (!(e instanceof Error && 'code' in e && String(e.code).startsWith('SQLITE_'))) throw e
      } finally {
        this.#later(hasMore ? BREATH_MS : REST_MS)
      }
    }, ms).unref()
  }

  /** Works for about `forMs`. Returns whether there is more to do. */
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

  /** Takes a piece of what had its time out; what is not in the coarser tier yet stays until it is. */
  #retain(cluster: number): boolean {
    const { blocks, settings, evictions, frames, clock, nowMs } = this.#parts
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
    if (frames.tidy(cluster, now)) hasMore = true
    const gone = this.#forgetJobs.run(cluster, Math.round(now - settings.keepOf(TIER_COUNT - 1)))
    return hasMore || gone.changes > 0
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

  /** A piece of what stands beside the samples and is older than the oldest of the finest. @returns whether something went */
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

  /** A piece of the finest tier's oldest; 0 when nothing is left that may go. */
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
