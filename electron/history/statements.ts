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
    event: prepare('INSERT INTO event (source, at_ms, kind, level, subject, text, place) VALUES (?, ?, ?, ?, ?, ?, ?)'),
  }
}
