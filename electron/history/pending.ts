/**
 * What waits to be written: names, blocks and everything else, written together in one transaction. While the disk takes none it goes
 * on waiting, up to a bound; the oldest samples are given up first, names never.
 */
import type { Database } from 'better-sqlite3'
import type { BlockTable, StoredBlock } from './block-table.ts'

const WRITES_MAX = 20_000
const BLOCK_BYTES_MAX = 64 * 2 ** 20

export const isFull = (e: unknown): boolean => e instanceof Error && 'code' in e && e.code === 'SQLITE_FULL'

const bytesOf = (b: StoredBlock | undefined): number => (b ? b.lead.length + b.rest.length : 0)

export class Pending {
  readonly #names: (() => void)[] = []
  readonly #writes: (() => void)[] = []
  readonly #blocks: StoredBlock[] = []
  #bytes = 0
  #isWriting = false

  /** A name's row; one that is met while everything is written is written at once, and again should that be undone. */
  name(write: () => void): void {
    this.#names.push(write)
    if (this.#isWriting) write()
  }

  write(write: () => void): void {
    this.#writes.push(write)
    if (this.#writes.length > WRITES_MAX) this.#writes.shift()
  }

  block(block: StoredBlock): void {
    this.#blocks.push(block)
    this.#bytes += bytesOf(block)
    while (this.#bytes > BLOCK_BYTES_MAX) this.#bytes -= bytesOf(this.#blocks.shift())
  }

  get isEmpty(): boolean {
    return this.#names.length === 0 && this.#writes.length === 0 && this.#blocks.length === 0
  }

  /** Bytes of the blocks that wait. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Writes everything.
   *
   * @param makeRoom  called when the disk is full; whether it was of any use.
   * @throws          when the disk does not take it.
   */
  flush(db: Database, table: BlockTable, makeRoom: () => boolean): void {
    if (this.isEmpty) return
    const all = db.transaction(() => {
      for (const write of [...this.#names]) write()
      for (const block of this.#blocks) table.put(block)
      for (const write of this.#writes) write()
    })
    this.#isWriting = true
    try {
      all()
    } catch (e) {
      if (!isFull(e) || !makeRoom()) throw e
      all()
    } finally {
      this.#isWriting = false
    }
    this.#names.length = 0
    this.#writes.length = 0
    this.#blocks.length = 0
    this.#bytes = 0
  }
}
