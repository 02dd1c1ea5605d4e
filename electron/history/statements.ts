/** The prepared writes of the history. */
import type { Database, Statement } from 'better-sqlite3'

type Write = Statement<(string | number | null)[]>

export interface Statements {
  readonly source: Write
  readonly newJob: Write
  readonly describeJob: Write
  readonly newTarget: Write
  readonly job: Write
  readonly target: Write
  readonly rule: Write
  readonly closeRule: Write
  readonly decision: Write
  readonly event: Write
  readonly move: Write
  readonly state: Write
  readonly forgetStates: Write
}

export function prepareStatements(db: Database): Statements {
  const prepare = (sql: string): Write => db.prepare(sql)
  return {
    source: prepare('INSERT INTO source (kind, cluster, detail, started_ms) VALUES (?, ?, ?, ?)'),
    newJob: prepare('INSERT INTO job (source, job_id, user, account, nodes, first_ms) VALUES (?, ?, ?, ?, ?, ?)'),
    describeJob: prepare('UPDATE job SET user = ?, account = ?, nodes = ? WHERE id = ?'),
    newTarget: prepare('INSERT INTO target (source, name, node) VALUES (?, ?, ?)'),
    job: prepare('INSERT OR REPLACE INTO job_sample VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
    target: prepare('INSERT OR REPLACE INTO target_sample VALUES (?, ?, ?, ?, ?, ?)'),
    rule: prepare(
      `INSERT INTO rule (source, server, queue, cpt, position, name, conditions, rate, from_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    closeRule: prepare('UPDATE rule SET to_ms = ? WHERE id = ?'),
    decision: prepare('INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?, ?, ?)'),
    // The seconds of two hand-overs may be the same: what moved in it adds up.
    move: prepare(
      `INSERT INTO adaptbf_moves VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens`,
    ),
    state: prepare('INSERT OR REPLACE INTO adaptbf_state VALUES (?, ?, ?, ?)'),
    forgetStates: prepare('DELETE FROM adaptbf_state WHERE cluster = ?'),
    event: prepare('INSERT INTO event (source, at_ms, kind, level, subject, text, place) VALUES (?, ?, ?, ?, ?, ?, ?)'),
  }
}
