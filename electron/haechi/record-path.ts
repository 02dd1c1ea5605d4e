/**
 * Data path of a real client: READs and WRITEs of 4 KB records, copied by one-sided verbs. Nothing else in a client's thread
 * accesses a record, and nothing here wakes the data node.
 */
import { invariant } from '#core/base/result.ts'
import { RECORD_BYTES, type RecordAccess } from '#core/haechi/workloads/records.ts'
import type { ClientAccess } from './node-memory.ts'

const LAST = RECORD_BYTES / 4 - 1

export class RecordPath {
  readonly #access: ClientAccess
  readonly #records: RecordAccess
  readonly #writer: number
  readonly #into = new Uint8Array(RECORD_BYTES)
  readonly #from = new Uint8Array(RECORD_BYTES)
  readonly #read = new Uint32Array(this.#into.buffer)
  readonly #written = new Uint32Array(this.#from.buffer)
  copied = 0
  torn = 0

  /** @param writer  > 0: id stored in every record it writes. */
  constructor(access: ClientAccess, records: RecordAccess, writer: number) {
    this.#access = access
    this.#records = records
    this.#writer = writer
  }

  /** Performs one I/O. */
  copy(): void {
    const { memory, records: key } = this.#access
    const { updates } = this.#records
    const at = this.#records.next() * RECORD_BYTES
    this.copied++
    if (this.#records.updates === updates) {
      invariant(memory.read(key, at, this.#into).ok, 'a client reads records of its node')
      const words = this.#read
      if (words[0] !== words[LAST - 1] || words[1] !== words[LAST]) this.torn++
      return
    }
    // Writer and sequence are stored at both ends, so that a READ can tell if it saw a single WRITE.
    const words = this.#written
    words[0] = words[LAST - 1] = this.#writer
    words[1] = words[LAST] = this.#records.updates >>> 0
    invariant(memory.write(key, at, this.#from).ok, 'a client writes records of its node')
  }
}
