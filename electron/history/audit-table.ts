/**
 * The audit's tables in the history: appended to record by record, read in order, and cut at the front only where that is allowed.
 * Emulated clusters are on record here; live ones are in the enforcement store, and here as far as they were before there was one.
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

  /**
   * Written when it returns. @throws when it cannot be written: then nothing may
   * be sent.
   */
  append(chain: Chain, r: AuditRecord): void {
    this.#append ??= this.#db.prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?)')
    this.#append.run(chain, r.number, Math.round(r.atMs), r.server, r.kind, r.text, r.hash)
  }

  last(chain: Chain): AuditRecord | undefined {
    const sql = 'SELECT * FROM audit WHERE chain = ? ORDER BY number DESC LIMIT 1'
    const row = this.#db.prepare(sql).get(chain) as Row | undefined
    return row && recordOf(row)
  }

  /** Records from a number on, oldest first. */
  read(chain: Chain, from: number, limit: number): AuditRecord[] {
    const sql = 'SELECT * FROM audit WHERE chain = ? AND number >= ? ORDER BY number LIMIT ?'
    return (this.#db.prepare(sql).all(chain, from, limit) as Row[]).map(recordOf)
  }

  /** The hash that the first remaining record follows from. */
  anchor(chain: Chain): string {
    const sql = 'SELECT hash FROM audit_anchor WHERE chain = ?'
    return (this.#db.prepare(sql).pluck().get(chain) as string | undefined) ?? GENESIS
  }

  /**
   * Cuts what is older than `beforeMs` off the front of the emulated chain; its newest record stays, so that the numbers
   * go on. The live chain is never cut.
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
