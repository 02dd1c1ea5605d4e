/** Tables of instants and blocks, with accounting of their size; all changes are made in the caller's transaction. */
import type { Database, Statement } from 'better-sqlite3'
import { ALL_KINDS, deflated, isPlane, KINDS, type Kind, type Packed } from './block.ts'
import { SECOND, TIER_COUNT } from './tiers.ts'

export interface StoredBlock extends Packed {
  readonly cluster: number
  readonly kind: Kind
  readonly tier: number
  readonly atMs: number
}

/** Data deleted from a tier: instants in [fromMs, toMs], and the number of samples of series. */
export interface Cut {
  readonly fromMs: number
  readonly toMs: number
  readonly samples: number
  readonly bytes: number
}

type Value = string | number | Buffer | null

interface Row {
  readonly id: number
  readonly n: number
  readonly bytes: number
}

export class BlockTable {
  readonly #isStore: boolean
  readonly #sql: Readonly<
    Record<
      | ('find' | 'insert' | 'replace' | 'findSums' | 'insertSums' | 'account')
      | ('nth' | 'last' | 'end' | 'before' | 'delete' | 'sumsBefore' | 'deleteSums'),
      Statement<Value[]>
    >
  >

  /** @param isStore  set for the history, whose bytes count; a copy is compressed as a whole. */
  constructor(db: Database, isStore = false) {
    this.#isStore = isStore
    const prepare = (sql: string): Statement<Value[]> => db.prepare(sql)
    const instants = 'FROM instant WHERE cluster = ? AND tier = ?'
    this.#sql = {
      find: prepare(
        `SELECT id, n, length(lead) + length(rest) AS bytes FROM block WHERE cluster = ? AND kind = ? AND tier = ? AND at_ms = ?`,
      ),
      insert: prepare('INSERT INTO block (cluster, kind, tier, at_ms, n, lead, rest) VALUES (?, ?, ?, ?, ?, ?, ?)'),
      replace: prepare('UPDATE block SET n = ?, lead = ?, rest = ? WHERE id = ?'),
      findSums: prepare(`SELECT 0 AS id, 1 AS n, length(data) AS bytes ${instants} AND at_ms = ?`),
      insertSums: prepare('INSERT OR REPLACE INTO instant VALUES (?, ?, ?, ?)'),
      account: prepare(
        `INSERT INTO block_use VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET blocks = blocks + excluded.blocks,
         samples = samples + excluded.samples, bytes = bytes + excluded.bytes`,
      ),
      nth: prepare(`SELECT at_ms ${instants} ORDER BY at_ms LIMIT 1 OFFSET ?`).pluck(),
      last: prepare(`SELECT at_ms ${instants} ORDER BY at_ms DESC LIMIT 1`).pluck(),
      end: prepare(`SELECT max(at_ms) ${instants} AND at_ms < ?`).pluck(),
      before: prepare(
        `SELECT id, n, length(lead) + length(rest) AS bytes FROM block WHERE cluster = ? AND kind = ? AND tier = ? AND at_ms < ?`,
      ),
      delete: prepare('DELETE FROM block WHERE id = ?'),
      sumsBefore: prepare(`SELECT count(*) AS n, ifnull(sum(length(data)), 0) AS bytes ${instants} AND at_ms < ?`),
      deleteSums: prepare(`DELETE ${instants} AND at_ms < ?`),
    }
  }

  /**
   * Writes a block, replacing an existing one. Those of planes are deflated, except in the coarsest tier, where they are few and all
   * of them are read for a chart of a day; so are the seconds of jobs in a store, which are most of a day's bytes.
   */
  put(block: StoredBlock): void {
    const { cluster, kind, tier, atMs } = block
    const isDeflated = isPlane(kind) ? tier < TIER_COUNT - 1 : this.#isStore && kind === KINDS.jobs && tier === SECOND
    const { n, lead, rest } = isDeflated ? deflated(block) : block
    const sql = this.#sql
    const isSums = kind === KINDS.cluster
    const at = isSums ? [cluster, tier, atMs] : [cluster, kind, tier, atMs]
    const old = (isSums ? sql.findSums : sql.find).get(...at) as Row | undefined
    if (isSums) sql.insertSums.run(cluster, tier, atMs, lead)
    else if (old) sql.replace.run(n, lead, rest, old.id)
    else sql.insert.run(cluster, kind, tier, atMs, n, lead, rest)
    const bytes = lead.length + rest.length
    sql.account.run(cluster, kind, tier, old ? 0 : 1, n - (old?.n ?? 0), bytes - (old?.bytes ?? 0))
  }

  /** First instant of a tier, or the one that has `skip` before it. */
  first(cluster: number, tier: number, skip = 0): number | undefined {
    return this.#sql.nth.get(cluster, tier, skip) as number | undefined
  }

  last(cluster: number, tier: number): number | undefined {
    return this.#sql.last.get(cluster, tier) as number | undefined
  }

  /** Deletes the oldest instants before `beforeMs`, at most `limit`; undefined if there are none. */
  cut(cluster: number, tier: number, beforeMs: number, limit: number): Cut | undefined {
    const sql = this.#sql
    const fromMs = this.first(cluster, tier)
    if (fromMs === undefined || fromMs >= beforeMs) return undefined
    const before = Math.ceil(Math.min(beforeMs, this.first(cluster, tier, limit) ?? Infinity, Number.MAX_SAFE_INTEGER))
    const toMs = Number(sql.end.get(cluster, tier, before))
    const sums = sql.sumsBefore.get(cluster, tier, before) as { n: number; bytes: number }
    sql.deleteSums.run(cluster, tier, before)
    sql.account.run(cluster, KINDS.cluster, tier, -sums.n, -sums.n, -sums.bytes)
    let samples = sums.n
    let bytes = sums.bytes
    for (const kind of ALL_KINDS) {
      if (kind === KINDS.cluster) continue
      const rows = sql.before.all(cluster, kind, tier, before) as Row[]
      let n = 0
      let size = 0
      for (const r of rows) {
        sql.delete.run(r.id)
        n += r.n
        size += r.bytes
      }
      sql.account.run(cluster, kind, tier, -rows.length, -n, -size)
      samples += n
      bytes += size
    }
    return { fromMs, toMs, samples, bytes }
  }
}
