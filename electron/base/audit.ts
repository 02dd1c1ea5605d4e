/**
 * Audit: one record per command that may change a server, written before the command is sent, and one for its outcome.
 * Append-only; every record carries the hash of the previous one.
 */
import { createHash } from 'node:crypto'

/** Author of a record: user, login and plan; records of emulated clusters have none. */
export interface AuditContext {
  readonly cluster: string
  /** Plan or change id; empty for none. */
  readonly plan: string
  /** User and host of the console. */
  readonly who: string
  /** SSH login and the fingerprint of its key on that server; empty if the record concerns no server. */
  readonly login: string
  /** Monotonic clock, ms: orders records even if the wall clock was changed. */
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

/** Sink of records; must have them on disk (or fail) before it returns. */
export type AuditSink = (record: AuditRecord) => void

/** Chain shared with other processes: it numbers and hashes the entries given to it. */
export interface SharedChain {
  /** Must have it on disk (or fail) before it returns. */
  append(entry: AuditEntry): AuditRecord
  /** Same without blocking, together with entries of others that are on their way to the disk. */
  appendLater?(entry: AuditEntry): Promise<AuditRecord>
}

/** Author of the records of one console, and its clock. */
export interface AuditAuthor {
  readonly cluster: string
  readonly who: string
  readonly loginOf?: ((server: string) => string) | undefined
  /** Literal text that a command line becomes on a server, which is what gets recorded. */
  readonly literal?: ((server: string, command: string) => string) | undefined
}

/** Hash that the first record of a chain follows from. */
export const GENESIS = '0'.repeat(64)

/** Returns the hash that links a record to the previous one. */
export function chainHash(previous: string, r: Omit<AuditRecord, 'hash'>): string {
  const hashed = [previous, r.number, r.atMs, r.server, r.kind, r.text]
  const by = r.by ? [r.by.cluster, r.by.plan, r.by.who, r.by.login, r.by.monoMs] : []
  return createHash('sha256')
    .update(JSON.stringify([...hashed, ...by]))
    .digest('hex')
}

/** Number of the first record that does not follow from the previous one; undefined if the chain is intact. */
export function firstBrokenRecord(records: readonly AuditRecord[], before = GENESIS): number | undefined {
  let previous = before
  for (const r of records) {
    if (chainHash(previous, r) !== r.hash) return r.number
    previous = r.hash
  }
  return undefined
}

/** Returns the record that follows the newest one of a chain. */
export function nextRecord(last: Pick<AuditRecord, 'number' | 'hash'> | undefined, entry: AuditEntry): AuditRecord {
  // Rounded and defaulted before hashing, so that the hash also matches the stored form.
  const record = { ...entry, number: (last?.number ?? 0) + 1, atMs: Math.round(entry.atMs) }
  return { ...record, hash: chainHash(last?.hash ?? GENESIS, record) }
}

/** Records commands and their outcomes; throws if a command cannot be recorded and so must not be sent. */
export type AuditWriter = Pick<Audit, 'write'>

/** Most records that wait to be written; later ones are only counted. */
const WAITING_MOST = 1_000

/** Records of removals that could not be written yet. */
export interface WaitingRecords {
  readonly records: readonly AuditEntry[]
  /** Records dropped because too many were waiting. */
  readonly dropped: number
  readonly why: string
}

export class Audit {
  readonly #append: (entry: AuditEntry) => AuditRecord
  readonly #appendLater: ((entry: AuditEntry) => Promise<AuditRecord>) | undefined
  readonly #author: AuditAuthor | undefined
  #last: Pick<AuditRecord, 'number' | 'hash'> | undefined
  #waiting: WaitingRecords | undefined

  /**
   * @param to      own sink, or a shared chain.
   * @param last    newest record on disk; an own chain continues from it.
   * @param author  author named in the records.
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
    if (typeof to !== 'function' && to.appendLater) this.#appendLater = (entry) => to.appendLater!(entry)
  }

  get number(): number {
    return this.#last?.number ?? 0
  }

  /**
   * Appends a record.
   *
   * @param plan  plan or change that it belongs to.
   * @throws      the error of the sink: nothing may be sent without a record.
   */
  write(atMs: number, server: string, kind: AuditRecord['kind'], text: string, plan = ''): void {
    this.#writeWaiting()
    this.#last = this.#append(this.#entry(atMs, server, kind, text, plan))
  }

  /**
   * Same as `write`, without blocking: resolves when the record is on disk; undefined if it already is. Records of one caller keep their
   * order if each is awaited.
   *
   * @throws  the error of the sink: nothing may be sent without a record.
   */
  record(atMs: number, server: string, kind: AuditRecord['kind'], text: string, plan = ''): Promise<void> | undefined {
    if (!this.#appendLater) {
      this.write(atMs, server, kind, text, plan)
      return undefined
    }
    this.#writeWaiting()
    return this.#appendLater(this.#entry(atMs, server, kind, text, plan)).then((record) => {
      if (record.number > this.number) this.#last = record
    })
  }

  /**
   * Appends a record of an action that is taken even if it cannot be recorded: the removal of Sluice's rules and
   * timers. The record waits in memory until records can be written again, and is then written before the next one.
   *
   * @returns  reason why it waits; undefined once it is written.
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
      const hasSpace = records.length < WAITING_MOST
      this.#waiting = {
        records: hasSpace ? [...records, { ...entry, text: `${entry.text} (written later: ${why})` }] : records,
        dropped: dropped + (hasSpace ? 0 : 1),
        why,
      }
      return why
    }
  }

  /** Waiting records; undefined for none. */
  get waiting(): WaitingRecords | undefined {
    return this.#waiting
  }

  /** Writes as many waiting records as possible. */
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
