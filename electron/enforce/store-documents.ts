/**
 * Plans and changes as documents, stored so that another process can apply, show and undo them. Their content is
 * defined by their writers.
 */
import type { Database } from 'better-sqlite3'

export interface StoredDocument {
  readonly id: string
  readonly cluster: string
  readonly atMs: number
  readonly state: string
  /** Stored JSON; parse it with a schema. undefined if damaged. */
  readonly document: unknown
}

interface Row {
  id: string
  cluster: string
  at_ms: number
  state: string
  document: string
}

/** A damaged document has no content. */
function contentOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const documentOf = (r: Row): StoredDocument => ({
  id: r.id,
  cluster: r.cluster,
  atMs: r.at_ms,
  state: r.state,
  document: contentOf(r.document),
})

/** Stored documents of one kind per cluster; older ones are deleted. */
const DOCUMENTS_MAX = 1_000

export class Documents {
  readonly #db: Database
  readonly #table: 'plan' | 'change'

  constructor(db: Database, table: 'plan' | 'change') {
    this.#db = db
    this.#table = table
  }

  keep(d: StoredDocument): void {
    const t = this.#table
    this.#db
      .transaction(() => {
        this.#db
          .prepare(`INSERT OR REPLACE INTO ${t} VALUES (?, ?, ?, ?, ?)`)
          .run(d.id, d.cluster, Math.round(d.atMs), d.state, JSON.stringify(d.document))
        this.#db
          .prepare(
            `DELETE FROM ${t} WHERE cluster = ? AND id NOT IN
             (SELECT id FROM ${t} WHERE cluster = ? ORDER BY at_ms DESC, id LIMIT ${DOCUMENTS_MAX})`,
          )
          .run(d.cluster, d.cluster)
      })
      .immediate()
  }

  find(id: string): StoredDocument | undefined {
    const row = this.#db.prepare(`SELECT * FROM ${this.#table} WHERE id = ?`).get(id)
    return row === undefined ? undefined : documentOf(row as Row)
  }

  /**
   * Changes a document's state if it has the expected one: two processes cannot both take a plan.
   *
   * @returns  true if it had the expected state.
   */
  transition(id: string, from: string, to: string): boolean {
    return (
      this.#db.prepare(`UPDATE ${this.#table} SET state = ? WHERE id = ? AND state = ?`).run(to, id, from).changes > 0
    )
  }

  /** Newest first. */
  of(cluster: string, limit = 100): StoredDocument[] {
    const sql = `SELECT * FROM ${this.#table} WHERE cluster = ? ORDER BY at_ms DESC, id LIMIT ?`
    return (this.#db.prepare(sql).all(cluster, limit) as Row[]).map(documentOf)
  }
}
