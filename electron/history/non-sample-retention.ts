/**
 * Eviction of data that grows beside the samples of a cluster: decisions, moves between jobs, counters of locks and disks, service
 * estimates, kept convoys; for an emulated cluster also ended rules and the audit. It has its own retention (`prune`); above the
 * quota it is evicted together with the finest samples, so that a controller that makes dozens of decisions a second does not
 * displace the samples they are based on. Events, rules in force and the audit of a live cluster are never evicted.
 */
import type { Database, Statement } from 'better-sqlite3'
import type { AuditTable } from './audit-table.ts'

const OF_CLUSTER = 'source IN (SELECT id FROM source WHERE cluster_id = :cluster)'
const OF_EMULATED = "source IN (SELECT id FROM source WHERE cluster_id = :cluster AND kind = 'EMULATED')"

/** Oldest row of each table by index order, without a full scan. */
const FIRST = `
  SELECT min(at) FROM (
    SELECT (SELECT at_ms FROM adaptbf_moves AS m WHERE m.source = s.id ORDER BY at_ms LIMIT 1) AS at
      FROM source AS s WHERE s.cluster_id = :cluster
    UNION ALL SELECT (SELECT at_ms FROM decision AS d WHERE d.source = s.id AND d.target = t.id ORDER BY at_ms LIMIT 1)
      FROM source AS s JOIN target AS t ON t.cluster = s.cluster_id WHERE s.cluster_id = :cluster
    UNION ALL SELECT (SELECT at_ms FROM ldlm_sample AS l WHERE l.namespace = n.id ORDER BY at_ms LIMIT 1)
      FROM ldlm_namespace AS n WHERE n.${OF_CLUSTER}
    UNION ALL SELECT (SELECT at_ms FROM brw_sample AS b WHERE b.target = t.id ORDER BY at_ms LIMIT 1)
      FROM target AS t WHERE t.cluster = :cluster
    UNION ALL SELECT min(at_ms) FROM service_timeout WHERE cluster = :cluster
    UNION ALL SELECT min(to_ms) FROM convoy WHERE cluster = :cluster)`

const CUT = [
  `DELETE FROM adaptbf_moves WHERE ${OF_CLUSTER} AND at_ms < :before`,
  `DELETE FROM decision WHERE ${OF_CLUSTER} AND target IN (SELECT id FROM target WHERE cluster = :cluster) AND at_ms < :before`,
  `DELETE FROM ldlm_sample WHERE namespace IN (SELECT id FROM ldlm_namespace WHERE ${OF_CLUSTER}) AND at_ms < :before`,
  'DELETE FROM brw_sample WHERE target IN (SELECT id FROM target WHERE cluster = :cluster) AND at_ms < :before',
  'DELETE FROM service_timeout WHERE cluster = :cluster AND at_ms < :before',
  'DELETE FROM convoy WHERE cluster = :cluster AND to_ms < :before',
]
/** Ended rules; those ended by a controller have a decision, from which `first` finds them. */
const CUT_RULES = `DELETE FROM rule WHERE ${OF_EMULATED} AND from_ms < :before AND to_ms < :before`

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export class NonSampleRetention {
  readonly #audit: AuditTable
  readonly #first: Statement<{ cluster: number }[]>
  readonly #cut: readonly Statement<{ cluster: number; before: number }[]>[]
  readonly #isEmulated: Statement<number[]>

  constructor(db: Database, audit: AuditTable) {
    this.#audit = audit
    this.#first = db.prepare(FIRST).pluck()
    this.#cut = [...CUT, CUT_RULES].map((sql) => db.prepare(sql))
    this.#isEmulated = db.prepare("SELECT kind = 'EMULATED' FROM cluster WHERE id = ?").pluck()
  }

  /** Oldest instant with evictable data. */
  first(cluster: number): number | undefined {
    return (this.#first.get({ cluster }) as number | null) ?? undefined
  }

  /** Deletes older data, in the caller's transaction. @returns true if any was deleted */
  cut(cluster: number, beforeMs: number): boolean {
    const before = Math.ceil(beforeMs)
    let rows = 0
    for (const statement of this.#cut) rows += statement.run({ cluster, before }).changes
    if (this.#isEmulated.get(cluster) === 1) this.#audit.cutEmulated(before)
    return rows > 0
  }
}

/**
 * Deletes data that is expired at `atMs`, of the current source or of all others.
 *
 * Kept are counters of locks and disks, service estimates, live decisions and moves for a day; events and ended rules of a live
 * cluster for as long as its coarsest samples. An emulated source's ended rules, decisions, moves between jobs and audit are
 * kept for an hour, because a controller makes dozens of them a second, and its events for a day.
 *
 * @param longMs  retention of the coarsest tier.
 */
export function prune(
  db: Database,
  audit: AuditTable,
  atMs: number,
  source: { readonly id: number; readonly which: 'present' | 'others' },
  longMs: number,
): void {
  const is = source.which === 'present' ? '=' : '!='
  const run = (sql: string, ...values: number[]): void => void db.prepare(sql).run(...values, source.id)
  const of = (kind: string): string => `SELECT id FROM source WHERE kind = '${kind}' AND id ${is} ?`
  // A rule in force has no end yet; sources that have ended have no rules in force.
  const end = source.which === 'present' ? 'to_ms' : 'ifnull(to_ms, from_ms)'
  db.transaction(() => {
    run(
      `DELETE FROM ldlm_sample WHERE at_ms < ? AND namespace IN (SELECT id FROM ldlm_namespace WHERE source ${is} ?)`,
      atMs - DAY_MS,
    )
    const clusters = `SELECT cluster_id FROM source WHERE id ${is} ?`
    run(
      `DELETE FROM brw_sample WHERE at_ms < ? AND target IN (SELECT id FROM target WHERE cluster IN (${clusters}))`,
      atMs - DAY_MS,
    )
    run(`DELETE FROM service_timeout WHERE at_ms < ? AND cluster IN (${clusters})`, atMs - DAY_MS)
    for (const [kind, short, long] of [
      ['EMULATED', HOUR_MS, DAY_MS],
      ['LIVE', DAY_MS, longMs],
    ] as const) {
      // By target, the next column of the table's key after the source: avoids a scan of all decisions.
      run(
        `DELETE FROM decision WHERE at_ms < ? AND target IN (SELECT id FROM target) AND source IN (${of(kind)})`,
        atMs - short,
      )
      run(`DELETE FROM adaptbf_moves WHERE at_ms < ? AND source IN (${of(kind)})`, atMs - short)
      run(`DELETE FROM rule WHERE ${end} < ? AND source IN (${of(kind)})`, atMs - (kind === 'LIVE' ? long : short))
      run(`DELETE FROM event WHERE at_ms < ? AND source IN (${of(kind)})`, atMs - long)
    }
    audit.cutEmulated(atMs - HOUR_MS)
  })()
}
