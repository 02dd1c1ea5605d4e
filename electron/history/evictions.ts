/**
 * Log of deleted data and the reasons. Retention is one growing row per tier and cluster; deletion before its time, for the quota
 * or a full disk, is one row an hour, so that a long shortage stays readable.
 */
import type { Database, Statement } from 'better-sqlite3'
import type { HistoryFrame, TierId } from '#core/api/history.ts'
import type { Cut } from './block-table.ts'
import { tierOf } from './tiers.ts'

export type Eviction = HistoryFrame['store']['evictions'][number]
export type Reason = Eviction['reason']

const EPISODE_MS = 3_600_000
const ROWS_MAX = 1000

interface Row {
  id: number
  at_ms: number
  tier: number
  from_ms: number
  to_ms: number
  samples: number
  reason: Reason
}

export class Evictions {
  readonly #newest: Statement<(string | number)[]>
  readonly #add: Statement<(string | number)[]>
  readonly #grow: Statement<(string | number)[]>
  readonly #bound: Statement<number[]>
  readonly #list: Statement<number[]>

  constructor(db: Database) {
    this.#newest = db.prepare(
      'SELECT * FROM eviction WHERE cluster = ? AND tier = ? AND reason = ? ORDER BY id DESC LIMIT 1',
    )
    this.#add = db.prepare(
      'INSERT INTO eviction (at_ms, cluster, tier, from_ms, to_ms, samples, reason) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    this.#grow = db.prepare(
      'UPDATE eviction SET at_ms = ?, from_ms = min(from_ms, ?), to_ms = max(to_ms, ?), samples = samples + ? WHERE id = ?',
    )
    this.#bound = db.prepare('DELETE FROM eviction WHERE id <= (SELECT max(id) FROM eviction) - ?')
    this.#list = db.prepare('SELECT * FROM eviction ORDER BY at_ms DESC, id DESC LIMIT ?')
  }

  /** Records a deletion, in the caller's transaction. */
  add(atMs: number, cluster: number, tier: number, cut: Cut, reason: Reason): void {
    const at = Math.round(atMs)
    const last = this.#newest.get(cluster, tier, reason) as Row | undefined
    if (last && (reason === 'retention' || at - last.at_ms < EPISODE_MS)) {
      this.#grow.run(at, cut.fromMs, cut.toMs, cut.samples, last.id)
      return
    }
    this.#add.run(at, cluster, tier, cut.fromMs, cut.toMs, cut.samples, reason)
    this.#bound.run(ROWS_MAX)
  }

  /** Newest first. */
  list(limit = 200): Eviction[] {
    return (this.#list.all(limit) as Row[]).map((r) => ({
      atMs: r.at_ms,
      tier: tierOf(r.tier) satisfies TierId,
      fromMs: r.from_ms,
      toMs: r.to_ms,
      samples: r.samples,
      reason: r.reason,
    }))
  }
}
