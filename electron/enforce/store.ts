/**
 * Enforcement store: audit, plans, changes, rules of Sluice and leases, in one SQLite file of the data folder that
 * console and command line share.
 *
 * While the audit is altered or lost, nothing is written to any server until an operator accepts it; the acceptance is
 * the next record.
 */
import { join } from 'node:path'
import { hostname, userInfo } from 'node:os'
import type { Database } from 'better-sqlite3'
import { ok, type Failure, type Result } from '#core/base/result.ts'
import { Audit, type AuditAuthor, type AuditEntry, type AuditRecord, type SharedChain } from '../base/audit.ts'
import { AuditChain, AuditRefused, type ChainVerdict } from './audit-chain.ts'
import { headFile, headInMemory } from './audit-head.ts'
import { AuditWriterThread } from './audit-writer.ts'
import { Documents } from './store-documents.ts'
import { LeaseRecords } from './store-leases.ts'
import { headPath, openStoreFile, openStoreForReading } from './store-open.ts'
import { ManagedRuleStore } from './store-rules.ts'
import { StopLog } from './store-stops.ts'

/** Records at the end of the audit that are verified on opening; `sluice audit verify` verifies all of them. */
const VERIFIED_AT_OPEN = 1_000

/** File of the store in a data folder. */
export const storeFile = (folder: string): string => join(folder, 'enforcement.sqlite')

/** Current user and machine, `user@host`. */
export function thisUser(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // uid without a user name.
    return `${process.getuid?.() ?? 'unknown'}@${hostname()}`
  }
}

export class EnforcementStore implements SharedChain {
  readonly file: string
  readonly rules: ManagedRuleStore
  readonly leases: LeaseRecords
  readonly stops: StopLog
  readonly plans: Documents
  readonly changes: Documents
  readonly chain: AuditChain
  readonly #db: Database
  #writer: AuditWriterThread | undefined

  private constructor(db: Database, file: string) {
    this.#db = db
    this.file = file
    this.rules = new ManagedRuleStore(db)
    this.leases = new LeaseRecords(db)
    this.stops = new StopLog(db)
    this.plans = new Documents(db, 'plan')
    this.changes = new Documents(db, 'change')
    const head = file === ':memory:' ? headInMemory() : headFile(headPath(file))
    this.chain = new AuditChain(db, head, () => this.#openFault())
  }

  /**
   * Opens (or creates) the store and verifies the end of its audit.
   *
   * @param file  path, or `:memory:`. Failures: STORE_FOREIGN, STORE_NEWER, STORE_BUSY, STORE_UNREADABLE.
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

  /** Opens it read-only. Failures: those of `open`. */
  static openForReading(file: string): Result<EnforcementStore> {
    const opened = openStoreForReading(file)
    return opened.ok ? ok(new EnforcementStore(opened.value, file)) : opened
  }

  /** Reason why nothing may be written to any server; undefined if allowed. */
  get refusal(): Failure | undefined {
    const why = this.#openFault()
    if (why === undefined) return undefined
    return {
      code: 'AUDIT_BROKEN',
      what: 'The audit was altered, so nothing is sent to any server',
      why,
      unaffected: 'Monitoring continues. Rules on servers end by their timers.',
      next: 'Find out who changed it: sluice audit verify. To continue anyway: sluice audit accept.',
    }
  }

  /**
   * Audit writer of one cluster.
   *
   * @param loginOf  SSH login and fingerprint of its key on a server.
   */
  audit(author: Omit<AuditAuthor, 'who'> & { readonly who?: string }): Audit {
    return new Audit(this, this.chain.last, { ...author, who: author.who ?? thisUser() })
  }

  append(entry: AuditEntry): AuditRecord {
    return this.#noting(entry.atMs, () => this.chain.append(entry))
  }

  /** Appends records together, see `AuditChain.appendGroup`. */
  appendGroup(entries: readonly AuditEntry[]): AuditRecord[] {
    return this.#noting(entries[0]?.atMs ?? 0, () => this.chain.appendGroup(entries))
  }

  appendLater(entry: AuditEntry): Promise<AuditRecord> {
    if (this.file === ':memory:') return Promise.resolve(this.append(entry))
    return (this.#writer ??= new AuditWriterThread(this.file)).append(entry)
  }

  /** Stores a refusal, so that no other process writes either. */
  #noting<T>(atMs: number, append: () => T): T {
    try {
      return append()
    } catch (e) {
      if (e instanceof AuditRefused) this.#note(e.message, atMs)
      throw e
    }
  }

  /** Verifies every record. */
  verify(): ChainVerdict {
    return this.chain.verify()
  }

  /** Accepts an altered audit; the acceptance is the next record. @throws if it cannot be written. */
  agree(who: string, nowMs: number): void {
    this.#db
      .transaction(() => {
        const why = this.#openFault()
        if (why === undefined) return
        const by = { cluster: '', plan: '', who, login: '', monoMs: Number(process.hrtime.bigint() / 1_000_000n) }
        const text = `accepted although ${why}`
        const { number } = this.chain.appendRegardless({ atMs: nowMs, server: '', kind: 'mode', text, by })
        this.#db
          .prepare('UPDATE fault SET agreed_ms = ?, agreed_by = ?, upto = ? WHERE agreed_ms IS NULL')
          .run(Math.round(nowMs), who, number)
      })
      .immediate()
    this.chain.confirm()
  }

  /** True until the store is closed, which may be before pending commands of the console end. */
  get isOpen(): boolean {
    return this.#db.open
  }

  close(): void {
    this.#writer?.close()
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

  /** Verifies the newest records that were not accepted yet. */
  #look(nowMs: number): void {
    if (this.#openFault() !== undefined) return
    const agreed = Number(this.#db.prepare('SELECT max(upto) FROM fault').pluck().get() ?? 0)
    const newest = this.chain.last?.number ?? 0
    const { bad } = this.chain.verify(Math.max(1, agreed, newest - VERIFIED_AT_OPEN + 1))
    if (bad) this.#note(`record ${bad.number} of the audit: ${bad.why}`, nowMs)
  }
}
