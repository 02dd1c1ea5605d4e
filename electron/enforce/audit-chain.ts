/** Audit table of the enforcement store: one hash chain that all processes append to, each under the write lock. */
import type { Database, Statement } from 'better-sqlite3'
import { GENESIS, chainHash, nextRecord, type AuditEntry, type AuditRecord, type SharedChain } from '../base/audit.ts'
import { headFault, type AuditHeadStore, type HeadMark } from './audit-head.ts'

interface Row {
  number: number
  at_ms: number
  server: string
  kind: AuditRecord['kind']
  text: string
  hash: string
  cluster: string | null
  plan: string | null
  who: string | null
  login: string | null
  mono_ms: number | null
}

const recordOf = (r: Row): AuditRecord => ({
  number: r.number,
  atMs: r.at_ms,
  server: r.server,
  kind: r.kind,
  text: r.text,
  hash: r.hash,
  ...(r.cluster === null
    ? {}
    : {
        by: {
          cluster: r.cluster,
          plan: r.plan ?? '',
          who: r.who ?? '',
          login: r.login ?? '',
          monoMs: r.mono_ms ?? 0,
        },
      }),
})

/** Result of a verification. */
export interface ChainVerdict {
  readonly records: number
  /** First record that does not match its hash; undefined if all match. */
  readonly bad: { readonly number: number; readonly why: string } | undefined
  /** Newest record. */
  readonly last: { readonly number: number; readonly hash: string } | undefined
}

/** Verifies a chain from its first record, or from a known one. */
export function followChain(records: Iterable<AuditRecord>, from?: { number: number; hash: string }): ChainVerdict {
  let last = from
  let count = 0
  for (const r of records) {
    const due = (last?.number ?? 0) + 1
    const bad = (why: string): ChainVerdict => ({ records: count, bad: { number: Math.min(due, r.number), why }, last })
    if (r.number > due) return bad(`${r.number - due === 1 ? 'it is' : `${r.number - due} records are`} missing`)
    if (r.number < due) return bad('it comes a second time')
    if (chainHash(last?.hash ?? GENESIS, r) !== r.hash) return bad('its hash does not match')
    last = { number: r.number, hash: r.hash }
    count++
  }
  return { records: count, bad: undefined, last }
}

/** Thrown when a record may not be written; its message is shown to the operator. */
export class AuditRefused extends Error {
  override readonly name = 'AuditRefused'
}

const LOOKS = 5

export class AuditChain implements SharedChain {
  readonly #db: Database
  readonly #head: AuditHeadStore
  readonly #refusal: () => string | undefined
  readonly #insert: Statement<(string | number | null)[]>
  readonly #last: Statement<[]>

  /** @param refusal  reason why nothing may be written; evaluated under the lock. */
  constructor(db: Database, head: AuditHeadStore, refusal: () => string | undefined) {
    this.#db = db
    this.#head = head
    this.#refusal = refusal
    this.#insert = db.prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    this.#last = db.prepare('SELECT * FROM audit ORDER BY number DESC LIMIT 1')
  }

  get last(): AuditRecord | undefined {
    const row = this.#last.get() as Row | undefined
    return row && recordOf(row)
  }

  /**
   * Numbers, hashes and writes one record; it is on disk when this returns.
   *
   * @throws AuditRefused if the chain was altered or an operator has to accept it first; SQLite errors if the write
   *         fails.
   */
  append(entry: AuditEntry): AuditRecord {
    const [record] = this.appendGroup([entry])
    this.confirm()
    return record!
  }

  /**
   * Same for several records: all of them are on disk, or none. The head names the last one; until it is confirmed, or the next group
   * is written, it would not expose that this group was cut off.
   */
  appendGroup(entries: readonly AuditEntry[]): AuditRecord[] {
    return this.#db
      .transaction(() => {
        const refusal = this.#refusal() ?? this.endFault()
        if (refusal !== undefined) throw new AuditRefused(refusal)
        return this.#put(entries)
      })
      .immediate()
  }

  /**
   * Appends regardless of the chain's state, inside a transaction: for the record with which an operator accepts an
   * altered chain.
   */
  appendRegardless(entry: AuditEntry): AuditRecord {
    return this.#put([entry])[0]!
  }

  /**
   * Fault at the end of the chain. Checked several times, as outside the write lock another process may write in
   * between.
   */
  endFault(): string | undefined {
    let fault: string | undefined
    for (let i = 0; i < LOOKS; i++) {
      fault = headFault(this.#head.read(), this.last)
      if (fault === undefined || this.#db.inTransaction) return fault
    }
    return fault
  }

  #put(entries: readonly AuditEntry[]): AuditRecord[] {
    const before = this.last
    let last = before
    const records = entries.map((entry) => {
      const r = nextRecord(last, entry)
      const by = r.by
      const context = by ? [by.cluster, by.plan, by.who, by.login, by.monoMs] : [null, null, null, null, null]
      this.#insert.run(r.number, r.atMs, r.server, r.kind, r.text, r.hash, ...context)
      return (last = r)
    })
    const mark = (r: AuditRecord | undefined): HeadMark | null => (r ? { number: r.number, hash: r.hash } : null)
    this.#head.write({ last: mark(before), next: mark(last) })
    return records
  }

  /** Makes the announced record the head if it was committed. Another process may already have done so. */
  confirm(): void {
    try {
      this.#db
        .transaction(() => {
          const last = this.last
          if (last && this.endFault() === undefined) {
            this.#head.write({ last: { number: last.number, hash: last.hash }, next: null })
          }
        })
        .immediate()
    } catch {
      // The announcement remains valid until the next record.
    }
  }

  /** Records from a number on, oldest first. */
  read(from: number, limit: number): AuditRecord[] {
    const sql = 'SELECT * FROM audit WHERE number >= ? ORDER BY number LIMIT ?'
    return (this.#db.prepare(sql).all(from, limit) as Row[]).map(recordOf)
  }

  /** Iterates over all records from a number on. */
  *each(from = 1): Generator<AuditRecord> {
    const rows = this.#db.prepare('SELECT * FROM audit WHERE number >= ? ORDER BY number').iterate(from)
    for (const row of rows as IterableIterator<Row>) yield recordOf(row)
  }

  /**
   * Verifies that no record was altered, cut off or appended.
   *
   * @param first  number of the first record that is checked; the one before it is trusted.
   */
  verify(first = 1): ChainVerdict {
    const before = first > 1 ? this.read(first - 1, 1)[0] : undefined
    const verdict = followChain(this.each(first), before && { number: before.number, hash: before.hash })
    if (verdict.bad) return verdict
    const fault = this.endFault()
    return fault === undefined ? verdict : { ...verdict, bad: { number: verdict.last?.number ?? 0, why: fault } }
  }
}
