/**
 * Eviction of data that grows beside the samples of a cluster: decisions, moves between jobs, counters of locks and disks, service
 * estimates, kept frames; for an emulated cluster also ended rules and the audit. It has its own retention (`prune`); above the
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
    UNION ALL SELECT min(at_ms) FROM kept_frame WHERE cluster = :cluster)`

const CUT = [
  `DELETE FROM adaptbf_moves WHERE ${OF_CLUSTER} AND at_ms < :before`,
  `DELETE FROM decision WHERE ${OF_CLUSTER} AND target IN (SELECT id FROM target WHERE cluster = :cluster) AND at_ms < :before`,
  `DELETE FROM ldlm_sample WHERE namespace IN (SELECT id FROM ldlm_namespace WHERE ${OF_CLUSTER}) AND at_ms < :before`,
  'DELETE FROM brw_sample WHERE target IN (SELECT id FROM target WHERE cluster = :cluster) AND at_ms < :before',
  'DELETE FROM service_timeout WHERE cluster = :cluster AND at_ms < :before',
  'DELETE FROM kept_frame WHERE cluster = :cluster AND at_ms < :before',
]
/** Ended rules; those ended by a controller have a decision, from which `first` finds them. */
const CUT_RULES = `DELETE FROM rule WHERE ${OF_EMULATED} AND from_ms < :before AND to_ms < :before`

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
