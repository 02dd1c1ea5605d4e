/** The prepared writes of the history beside samples, rules and names. */
import type { Database, Statement } from 'better-sqlite3'

type Write = Statement<(string | number | null)[]>

export interface Statements {
  readonly source: Write
  readonly decision: Write
  readonly event: Write
  readonly move: Write
  readonly state: Write
  readonly forgetStates: Write
}

export function prepareStatements(db: Database): Statements {
  const prepare = (sql: string): Write => db.prepare(sql)
  return {
    source: prepare('INSERT INTO source (kind, cluster, detail, started_ms, cluster_id) VALUES (?, ?, ?, ?, ?)'),
    decision: prepare('INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?, ?, ?)'),
    // The seconds of two hand-overs may be the same: what moved in it adds up.
    move: prepare(
      `INSERT INTO adaptbf_moves VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens`,
    ),
    state: prepare('INSERT OR REPLACE INTO adaptbf_state VALUES (?, ?, ?, ?)'),
    forgetStates: prepare('DELETE FROM adaptbf_state WHERE cluster = ?'),
    event: prepare('INSERT INTO event (source, at_ms, kind, level, subject, text, place) VALUES (?, ?, ?, ?, ?, ?, ?)'),
  }
}

/** Rules that stood when the last source of a cluster ended: they are known until its newest sample, not longer. */
export function endOpenRules(db: Database, cluster: number, newestMs: number | undefined): void {
  db.prepare(
    `UPDATE rule SET to_ms = max(from_ms, ?) WHERE to_ms IS NULL
     AND source IN (SELECT id FROM source WHERE cluster_id = ?)`,
  ).run(newestMs ?? 0, cluster)
}
