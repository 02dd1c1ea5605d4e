/**
 * Audit tables of the history: appended record by record, read in order, and truncated at the front only where permitted. They
 * hold the audit of emulated clusters; that of live clusters is in the enforcement store, and here for the time before that store
 * existed.
 */
import type { Database, Statement } from 'better-sqlite3'
import { GENESIS, type AuditRecord } from '../base/audit.ts'

export type Chain = 'LIVE' | 'EMULATED'

interface Row {
  number: number
  at_ms: number
  server: string
  kind: AuditRecord['kind']
  text: string
  hash: string
}

const recordOf = (r: Row): AuditRecord => ({
  number: r.number,
  atMs: r.at_ms,
  server: r.server,
  kind: r.kind,
  text: r.text,
  hash: r.hash,
})

export class AuditTable {
  readonly #db: Database
  #append: Statement<(string | number)[]> | undefined

  constructor(db: Database) {
    this.#db = db
  }

  /** Appends one record; it is on disk on return. @throws if it cannot be written: then nothing may be sent. */
  append(chain: Chain, r: AuditRecord): void {
    this.#append ??= this.#db.prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?)')
    this.#append.run(chain, r.number, Math.round(r.atMs), r.server, r.kind, r.text, r.hash)
  }

  last(chain: Chain): AuditRecord | undefined {
    const sql = 'SELECT * FROM audit WHERE chain = ? ORDER BY number DESC LIMIT 1'
    const row = this.#db.prepare(sql).get(chain) as Row | undefined
    return row && recordOf(row)
  }

  /** Records starting at a number, oldest first. */
  read(chain: Chain, from: number, limit: number): AuditRecord[] {
    const sql = 'SELECT * FROM audit WHERE chain = ? AND number >= ? ORDER BY number LIMIT ?'
    return (this.#db.prepare(sql).all(chain, from, limit) as Row[]).map(recordOf)
  }

  /** Hash that the first remaining record chains to. */
  anchor(chain: Chain): string {
    const sql = 'SELECT hash FROM audit_anchor WHERE chain = ?'
    return (this.#db.prepare(sql).pluck().get(chain) as string | undefined) ?? GENESIS
  }

  /**
   * Truncates records older than `beforeMs` from the front of the emulated chain. The newest record is kept, so that numbering
   * continues. The live chain is never truncated.
   */
  cutEmulated(beforeMs: number): void {
    const last = this.#db
      .prepare(
        `SELECT number, hash FROM audit WHERE chain = 'EMULATED' AND at_ms < ?
         AND number < (SELECT max(number) FROM audit WHERE chain = 'EMULATED') ORDER BY number DESC LIMIT 1`,
      )
      .get(beforeMs) as { number: number; hash: string } | undefined
    if (!last) return
    this.#db.prepare("DELETE FROM audit WHERE chain = 'EMULATED' AND number <= ?").run(last.number)
    this.#db.prepare("INSERT OR REPLACE INTO audit_anchor VALUES ('EMULATED', ?, ?)").run(last.number, last.hash)
  }
}
