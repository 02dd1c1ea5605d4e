/**
 * Counters of lock namespaces by second: writing and reading them. Sampled once a second and kept as long as the means of a
 * second; a server that did not answer has no row, which is a gap.
 */
import type { Database, Statement } from 'better-sqlite3'

/** One reading of a namespace; null where its server does not report it. Grants and cancels are locks a second. */
export interface LdlmRecord {
  /** Empty for the total of a server's namespaces: then only `granted` is set. */
  readonly namespace: string
  readonly locks: number | null
  readonly unused: number | null
  readonly resources: number | null
  readonly granted: number | null
  readonly grants: number | null
  readonly cancels: number | null
  readonly limit: number | null
  readonly timeouts: number | null
  readonly contentions: number | null
}

export interface LdlmSample extends LdlmRecord {
  readonly atMs: number
  readonly node: string
}

type Value = string | number | null
type Row = Omit<LdlmSample, 'atMs' | 'limit'> & { at_ms: number; pool_limit: number | null }

export class LdlmTable {
  readonly #namespace: Statement<Value[]>
  readonly #sample: Statement<Value[]>
  readonly #series: Statement<Record<string, Value>>

  constructor(db: Database) {
    this.#namespace = db.prepare('INSERT OR IGNORE INTO ldlm_namespace (source, node, name) VALUES (?, ?, ?)')
    this.#sample = db.prepare(
      `INSERT OR REPLACE INTO ldlm_sample
       SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM ldlm_namespace WHERE source = ? AND node = ? AND name = ?`,
    )
    // A live cluster is the same across starts of the console; an emulated one is new each time.
    const sources = `SELECT id FROM source WHERE id = :source OR kind = 'LIVE' AND (kind, cluster) =
      (SELECT kind, cluster FROM source WHERE id = :source)`
    this.#series = db.prepare(
      `SELECT at_ms, node, name AS namespace, locks, unused, resources, granted, grants, cancels, pool_limit, timeouts,
       contentions FROM ldlm_sample JOIN ldlm_namespace ON id = namespace
       WHERE source IN (${sources}) AND name = :name AND at_ms BETWEEN :from AND :to ORDER BY at_ms, node LIMIT :limit`,
    )
  }

  write(source: number, atMs: number, node: string, r: LdlmRecord): void {
    this.#namespace.run(source, node, r.namespace)
    const counts = [r.locks, r.unused, r.resources, r.granted, r.grants, r.cancels, r.limit, r.timeouts, r.contentions]
    this.#sample.run(atMs, ...counts, source, node, r.namespace)
  }

  /** Readings of a namespace in [fromMs, toMs], from any server, oldest first. */
  series(source: number, namespace: string, fromMs: number, toMs: number, limit: number): LdlmSample[] {
    const from = Math.floor(fromMs)
    const to = Math.ceil(toMs)
    const rows = this.#series.all({ source, name: namespace, from, to, limit }) as Row[]
    return rows.map(({ at_ms: atMs, pool_limit, ...r }) => ({ ...r, atMs, limit: pool_limit }))
  }
}
