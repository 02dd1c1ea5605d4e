/**
 * Counters of a client's thread in the node's memory: readable by all threads, even after that thread was killed. Written only by
 * that client, periodically; grants at each FAA.
 */
import { COUNTER_BYTES } from './layout.ts'

const COPIED = 0
const USED = 1
const GRANTED = 2
const GRANT_EPOCH = 3
const GRANTED_IN_EPOCH = 4
const COMPLETED = 5

export class ClientCounters {
  readonly #words: BigInt64Array

  constructor(buffer: SharedArrayBuffer, at: number) {
    this.#words = new BigInt64Array(buffer, at, COUNTER_BYTES / 8)
  }

  /** @param used  tokens that became I/Os. @param copied  I/Os whose record was copied. */
  publish(used: number, copied: number, completed: number): void {
    // Tokens first: a reader in the opposite order never sees an I/O before its token.
    this.#set(USED, used)
    this.#set(COPIED, copied)
    this.#set(COMPLETED, completed)
  }

  /**
   * @param total  all global tokens ever granted by FAAs.
   * @param inEpoch  those of `epoch`.
   */
  publishGrant(total: number, epoch: number, inEpoch: number): void {
    this.#set(GRANTED, total)
    this.#set(GRANT_EPOCH, epoch)
    this.#set(GRANTED_IN_EPOCH, inEpoch)
  }

  get copied(): number {
    return this.#get(COPIED)
  }
  get used(): number {
    return this.#get(USED)
  }
  get completed(): number {
    return this.#get(COMPLETED)
  }
  get granted(): number {
    return this.#get(GRANTED)
  }
  get lastGrants(): { readonly epoch: number; readonly tokens: number } {
    return { epoch: this.#get(GRANT_EPOCH), tokens: this.#get(GRANTED_IN_EPOCH) }
  }

  #set(word: number, value: number): void {
    Atomics.store(this.#words, word, BigInt(value))
  }
  #get(word: number): number {
    return Number(Atomics.load(this.#words, word))
  }
}
