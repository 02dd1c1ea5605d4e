/**
 * The audit: one record a command that may change a server, written before the command is sent, and one for what came of
 * it. Append-only; every record carries the hash of the one before it.
 */
import { createHash } from 'node:crypto'

/** Who wrote a record, and in whose name; records of emulated clusters have none. */
export interface AuditContext {
  readonly cluster: string
  /** Plan or change that it belongs to; empty for none. */
  readonly plan: string
  /** User and host of the console. */
  readonly who: string
  /** SSH login and fingerprint of its key on that server; empty where no server is meant. */
  readonly login: string
  /** A clock that nobody sets, ms: it tells the order where the wall clock was moved. */
  readonly monoMs: number
}

export interface AuditEntry {
  readonly atMs: number
  readonly server: string
  /** intent: about to be sent; outcome: what the server answered; mode: an operator's choice. */
  readonly kind: 'intent' | 'outcome' | 'mode'
  readonly text: string
  readonly by?: AuditContext | undefined
}

export interface AuditRecord extends AuditEntry {
  readonly number: number
  /** SHA-256 over the previous hash and this record, hex. */
  readonly hash: string
}

/** Where records go; must have them on disk (or fail) before it returns. */
export type AuditSink = (record: AuditRecord) => void

/** A chain that other processes append to as well: it numbers and hashes what it is given. */
export interface SharedChain {
  /** Must have it on disk (or fail) before it returns. */
  append(entry: AuditEntry): AuditRecord
}

/** What is known of who writes. */
export interface AuditAuthor {
  readonly cluster: string
  readonly who: string
  readonly loginOf?: ((server: string) => string) | undefined
  /** What a command line becomes on a server: that is what stands on record. */
  readonly literal?: ((server: string, command: string) => string) | undefined
}

/** What the first record of a chain follows from. */
export const GENESIS = '0'.repeat(64)

/** The hash that binds a record to the one before it. */
export function chainHash(previous: string, r: Omit<AuditRecord, 'hash'>): string {
  const own = [previous, r.number, r.atMs, r.server, r.kind, r.text]
  const by = r.by ? [r.by.cluster, r.by.plan, r.by.who, r.by.login, r.by.monoMs] : []
  return createHash('sha256')
    .update(JSON.stringify([...own, ...by]))
    .digest('hex')
}

/** Number of the first record that does not follow from the one before; undefined when the chain holds. */
export function firstBrokenRecord(records: readonly AuditRecord[], before = GENESIS): number | undefined {
  let previous = before
  for (const r of records) {
    if (chainHash(previous, r) !== r.hash) return r.number
    previous = r.hash
  }
  return undefined
}

/** The record that follows a chain's newest one. */
export function nextRecord(last: Pick<AuditRecord, 'number' | 'hash'> | undefined, entry: AuditEntry): AuditRecord {
  // Whole, as it is kept: the hash must hold for what is read back.
  const record = { ...entry, number: (last?.number ?? 0) + 1, atMs: Math.round(entry.atMs) }
  return { ...record, hash: chainHash(last?.hash ?? GENESIS, record) }
}

/** Puts commands and what came of them on record before and after they are sent; throws where nothing may be sent then. */
export type AuditWriter = Pick<Audit, 'write'>

/** Records that may wait to be written; what comes after them is only counted. */
const WAITING_MOST = 1_000

/** Records of removals that could not be written when they were made. */
export interface WaitingRecords {
  readonly records: readonly AuditEntry[]
  /** Records beyond those that are kept. */
  readonly dropped: number
  readonly why: string
}

export class Audit {
  readonly #append: (entry: AuditEntry) => AuditRecord
  readonly #author: AuditAuthor | undefined
  #last: Pick<AuditRecord, 'number' | 'hash'> | undefined
  #waiting: WaitingRecords | undefined

  /**
   * @param to      a sink of its own, or a chain that is shared.
   * @param last    newest record on disk; a chain of its own goes on from it.
   * @param author  whose name is on the records.
   */
  constructor(to: AuditSink | SharedChain, last?: AuditRecord, author?: AuditAuthor) {
    this.#last = last
    this.#author = author
    this.#append =
      typeof to === 'function'
        ? (entry) => {
            const record = nextRecord(this.#last, entry)
            to(record)
            return record
          }
        : (entry) => to.append(entry)
  }

  get number(): number {
    return this.#last?.number ?? 0
  }

  /**
   * Appends a record.
   *
   * @param plan  plan or change that it belongs to.
   * @throws      whatever the sink throws: nothing may be sent that is not on record.
   */
  write(atMs: number, server: string, kind: AuditRecord['kind'], text: string, plan = ''): void {
    this.#writeWaiting()
    this.#last = this.#append(this.#entry(atMs, server, kind, text, plan))
  }

  /**
   * Appends a record of what is done whether or not it can be written: the removal of rules and timers of Sluice. It waits in memory
   * until records can be written again, and then comes before the next one.
   *
   * @returns  why it waits; undefined: it is written.
   */
  note(atMs: number, server: string, kind: AuditRecord['kind'], text: string, plan = ''): string | undefined {
    const entry = this.#entry(atMs, server, kind, text, plan)
    try {
      this.#writeWaiting()
      this.#last = this.#append(entry)
      return undefined
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      const { records = [], dropped = 0 } = this.#waiting ?? {}
      const isKept = records.length < WAITING_MOST
      this.#waiting = {
        records: isKept ? [...records, { ...entry, text: `${entry.text} (written later: ${why})` }] : records,
        dropped: dropped + (isKept ? 0 : 1),
        why,
      }
      return why
    }
  }

  /** Records that wait; undefined for none. */
  get waiting(): WaitingRecords | undefined {
    return this.#waiting
  }

  /** Writes what waits, as far as that is possible. */
  settle(): void {
    try {
      this.#writeWaiting()
    } catch {
      // The record stays queued.
    }
  }

  #writeWaiting(): void {
    while (this.#waiting) {
      const { records, dropped, why } = this.#waiting
      const [first, ...rest] = records
      if (first) this.#last = this.#append(first)
      else if (dropped > 0) {
        const text = `${dropped} more records of removals could not be kept: ${why}`
        this.#last = this.#append(this.#entry(Date.now(), '', 'mode', text, ''))
      }
      this.#waiting = first && (rest.length > 0 || dropped > 0) ? { records: rest, dropped, why } : undefined
    }
  }

  #entry(atMs: number, server: string, kind: AuditRecord['kind'], text: string, plan: string): AuditEntry {
    const a = this.#author
    const login = a?.loginOf?.(server) ?? ''
    const monoMs = Number(process.hrtime.bigint() / 1_000_000n)
    const by = a && { cluster: a.cluster, plan, who: a.who, login, monoMs }
    const sent = kind === 'intent' ? this.#literal(server, text) : text
    return { atMs, server, kind, text: sent, ...(by ? { by } : {}) }
  }

  #literal(server: string, commands: string): string {
    const literal = this.#author?.literal
    if (!literal) return commands
    return commands
      .split('\n')
      .map((c) => literal(server, c))
      .join('\n')
  }
}
