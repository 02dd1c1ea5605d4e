/**
 * The enforcement store: audit, plans, changes, rules of ours and leases, in one SQLite file of the data folder that console and
 * command line share.
 *
 * Where the audit was altered or lost, nothing is written to any server until somebody has agreed to go on; the agreement is the
 * next record.
 */
import { join } from 'node:path'
import { hostname, userInfo } from 'node:os'
import type { Database } from 'better-sqlite3'
import { ok, type Failure, type Result } from '#core/base/result.ts'
import { Audit, type AuditAuthor, type AuditEntry, type AuditRecord, type SharedChain } from '../base/audit.ts'
import { AuditChain, AuditRefused, type ChainVerdict } from './audit-chain.ts'
import { headFile, headInMemory } from './audit-head.ts'
import { Documents } from './store-documents.ts'
import { OwnLeases } from './store-leases.ts'
import { headPath, openStoreFile, openStoreForReading } from './store-open.ts'
import { OwnRules } from './store-rules.ts'
import { OwnStops } from './store-stops.ts'

/** Records at the end of the audit that are verified when it is opened; `sluice audit verify` follows all of them. */
const VERIFIED_AT_OPEN = 1_000

/** The store's file in a data folder. */
export const storeFile = (folder: string): string => join(folder, 'enforcement.sqlite')

/** Who works here: user and machine. */
export function thisUser(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // A user number without a name.
    return `${process.getuid?.() ?? 'unknown'}@${hostname()}`
  }
}

export class EnforcementStore implements SharedChain {
  readonly file: string
  readonly rules: OwnRules
  readonly leases: OwnLeases
  readonly stops: OwnStops
  readonly plans: Documents
  readonly changes: Documents
  readonly chain: AuditChain
  readonly #db: Database

  private constructor(db: Database, file: string) {
    this.#db = db
    this.file = file
    this.rules = new OwnRules(db)
    this.leases = new OwnLeases(db)
    this.stops = new OwnStops(db)
    this.plans = new Documents(db, 'plan')
    this.changes = new Documents(db, 'change')
    const head = file === ':memory:' ? headInMemory() : headFile(headPath(file))
    this.chain = new AuditChain(db, head, () => this.#openFault())
  }

  /**
   * Opens (or makes) the store and looks at the end of its audit.
   *
   * @param file  path, or `:memory:`.
   * Failures: STORE_FOREIGN, STORE_NEWER, STORE_BUSY, STORE_UNREADABLE.
   */
  static open(file: string, nowMs: number): Result<EnforcementStore> {
    const opened = openStoreFile(file, nowMs)
    if (!opened.ok) return opened
    const { db, aside } = opened.value
    const store = new EnforcementStore(db, file)
    if (aside !== undefined) store.#note(`the store was damaged; it was kept as ${aside}`, nowMs)
    else store.#look(nowMs)
    return ok(store)
  }

  /** Opens it to look at its records and nothing else. Failures: those of `open`. */
  static openForReading(file: string): Result<EnforcementStore> {
    const opened = openStoreForReading(file)
    return opened.ok ? ok(new EnforcementStore(opened.value, file)) : opened
  }

  /** Why nothing may be written to any server; undefined when it may. */
  get refusal(): Failure | undefined {
    const why = this.#openFault()
    if (why === undefined) return undefined
    return {
      code: 'AUDIT_BROKEN',
      what: 'The audit is not as it was written, so nothing is sent to any server',
      why,
      unaffected: 'Clusters can be watched. Rules on servers end by their timers.',
      next: 'Find out who changed it: sluice audit verify. To go on all the same: sluice audit accept.',
    }
  }

  /**
   * An audit for one cluster.
   *
   * @param loginOf  SSH login and fingerprint of its key on a server.
   */
  audit(author: Omit<AuditAuthor, 'who'> & { readonly who?: string }): Audit {
    return new Audit(this, this.chain.last, { ...author, who: author.who ?? thisUser() })
  }

  append(entry: AuditEntry): AuditRecord {
    try {
      return this.chain.append(entry)
    } catch (e) {
      // Kept, so that no other process writes either.
      if (e instanceof AuditRefused) this.#note(e.message, entry.atMs)
      throw e
    }
  }

  /** Whether every record is as it was written. */
  verify(): ChainVerdict {
    return this.chain.verify()
  }

  /** Goes on although the audit was altered; that is the next record. @throws when it cannot be written. */
  agree(who: string, nowMs: number): void {
    this.#db
      .transaction(() => {
        const why = this.#openFault()
        if (why === undefined) return
        const by = { cluster: '', plan: '', who, login: '', monoMs: Number(process.hrtime.bigint() / 1_000_000n) }
        const text = `agreed to go on although ${why}`
        const { number } = this.chain.appendRegardless({ atMs: nowMs, server: '', kind: 'mode', text, by })
        this.#db
          .prepare('UPDATE fault SET agreed_ms = ?, agreed_by = ?, upto = ? WHERE agreed_ms IS NULL')
          .run(Math.round(nowMs), who, number)
      })
      .immediate()
    this.chain.confirm()
  }

  /** Whether it can be asked: what still waits for a server when the console ends has nobody to tell. */
  get isOpen(): boolean {
    return this.#db.open
  }

  close(): void {
    this.#db.close()
  }

  #openFault(): string | undefined {
    const sql = 'SELECT why FROM fault WHERE agreed_ms IS NULL ORDER BY id LIMIT 1'
    return this.#db.prepare(sql).pluck().get() as string | undefined
  }

  #note(why: string, nowMs: number): void {
    if (this.#openFault() !== undefined) return
    this.#db.prepare('INSERT INTO fault (at_ms, why) VALUES (?, ?)').run(Math.round(nowMs), why)
  }

  /** Follows the newest records that nobody has agreed to yet. */
  #look(nowMs: number): void {
    if (this.#openFault() !== undefined) return
    const agreed = Number(this.#db.prepare('SELECT max(upto) FROM fault').pluck().get() ?? 0)
    const newest = this.chain.last?.number ?? 0
    const { bad } = this.chain.verify(Math.max(1, agreed, newest - VERIFIED_AT_OPEN + 1))
    if (bad) this.#note(`record ${bad.number} of the audit: ${bad.why}`, nowMs)
  }
}
