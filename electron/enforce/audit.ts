/**
 * The audit: one record a command that may change a server, written before the command is sent, and one for what came of
 * it. Append-only; every record carries the hash of the one before it.
 */
import { createHash } from 'node:crypto'

export interface AuditRecord {
  readonly number: number
  readonly atMs: number
  readonly server: string
  /** intent: about to be sent; outcome: what the server answered; mode: an operator's choice. */
  readonly kind: 'intent' | 'outcome' | 'mode'
  readonly text: string
  /** SHA-256 over the previous hash and this record, hex. */
  readonly hash: string
}

/** Where records go; must have them on disk (or fail) before it returns. */
export type AuditSink = (record: AuditRecord) => void

/** What the first record of a chain follows from. */
export const GENESIS = '0'.repeat(64)

/** The hash that binds a record to the one before it. */
export const chainHash = (previous: string, r: Omit<AuditRecord, 'hash'>): string =>
  createHash('sha256')
    .update(JSON.stringify([previous, r.number, r.atMs, r.server, r.kind, r.text]))
    .digest('hex')

/** Number of the first record that does not follow from the one before; undefined when the chain holds. */
export function firstBrokenRecord(records: readonly AuditRecord[], before = GENESIS): number | undefined {
  let previous = before
  for (const r of records) {
    if (chainHash(previous, r) !== r.hash) return r.number
    previous = r.hash
  }
  return undefined
}

export class Audit {
  readonly #sink: AuditSink
  #number: number
  #hash: string

  /** @param last  newest record on disk; the chain goes on from it. */
  constructor(sink: AuditSink, last?: AuditRecord) {
    this.#sink = sink
    this.#number = last?.number ?? 0
    this.#hash = last?.hash ?? GENESIS
  }

  get number(): number {
    return this.#number
  }

  /** Appends a record. @throws whatever the sink throws: nothing may be sent that is not on record. */
  write(atMs: number, server: string, kind: AuditRecord['kind'], text: string): void {
    // Whole, as it is kept: the hash must hold for what is read back.
    const record = { number: this.#number + 1, atMs: Math.round(atMs), server, kind, text }
    const hash = chainHash(this.#hash, record)
    this.#sink({ ...record, hash })
    this.#number = record.number
    this.#hash = hash
  }
}
