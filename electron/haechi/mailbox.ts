/**
 * Mailbox of a client: T1 and S3 by SEND from the monitor, and orders of the owner of its thread. A ring with one writer and one
 * reader, and a doorbell that wakes an idle client.
 *
 * The monitor never waits for a client: messages for a full ring are dropped and counted, like SENDs to a dead queue pair.
 */
import type { ToEngine } from '#core/haechi/messages.ts'
import { MAILBOX_BYTES, MAILBOX_MESSAGES } from './layout.ts'

const BELL = 0
/** Messages written and read so far; they wrap like any Int32. */
const WRITTEN = 1
const READ = 2
const LOST = 3
const ORDER = 4
const MARK = 5
const RING = 32
const WORDS = 4

/** Orders of the owner to a client's thread. */
export type Order = 'run' | 'pause' | 'leave' | 'stop'
const ORDERS: readonly Order[] = ['run', 'pause', 'leave', 'stop']

const PERIOD_START = 1
const START_REPORT = 2
const NO_LIMIT = -1

export class Mailbox {
  readonly #words: Int32Array

  constructor(buffer: SharedArrayBuffer, at: number) {
    this.#words = new Int32Array(buffer, at, MAILBOX_BYTES / 4)
  }

  /** Appends a message, by the monitor only; false if the ring is full. */
  send(message: ToEngine): boolean {
    const words = this.#words
    const written = Atomics.load(words, WRITTEN)
    if (((written - Atomics.load(words, READ)) | 0) >= MAILBOX_MESSAGES) {
      Atomics.add(words, LOST, 1)
      return false
    }
    const at = RING + (written & (MAILBOX_MESSAGES - 1)) * WORDS
    const isStart = message.kind === 'period-start'
    words[at] = isStart ? PERIOD_START : START_REPORT
    words[at + 1] = message.epoch
    words[at + 2] = isStart ? message.reservation : 0
    words[at + 3] = isStart ? (message.limit ?? NO_LIMIT) : NO_LIMIT
    // Publishes the entry: it is complete once the count is visible.
    Atomics.store(words, WRITTEN, (written + 1) | 0)
    this.ring()
    return true
  }

  /** Removes the oldest unread message, by the client only. */
  receive(): ToEngine | null {
    const words = this.#words
    const read = Atomics.load(words, READ)
    if (read === Atomics.load(words, WRITTEN)) return null
    const at = RING + (read & (MAILBOX_MESSAGES - 1)) * WORDS
    const epoch = words[at + 1] as number
    const limit = words[at + 3] as number
    const message: ToEngine =
      words[at] === START_REPORT
        ? { kind: 'start-report', epoch }
        : {
            kind: 'period-start',
            epoch,
            reservation: words[at + 2] as number,
            limit: limit === NO_LIMIT ? null : limit,
          }
    Atomics.store(words, READ, (read + 1) | 0)
    return message
  }

  get lost(): number {
    return Atomics.load(this.#words, LOST)
  }
  get order(): Order {
    return ORDERS[Atomics.load(this.#words, ORDER)] ?? 'stop'
  }
  give(order: Order): void {
    Atomics.store(this.#words, ORDER, ORDERS.indexOf(order))
    this.ring()
  }
  /** Number of the last requested measurement. */
  get mark(): number {
    return Atomics.load(this.#words, MARK)
  }
  requestMark(mark: number): void {
    Atomics.store(this.#words, MARK, mark)
    this.ring()
  }

  /** Changes with every event for the client. */
  get bell(): number {
    return Atomics.load(this.#words, BELL)
  }
  ring(): void {
    Atomics.add(this.#words, BELL, 1)
    Atomics.notify(this.#words, BELL)
  }
  /** Sleeps until the bell differs from `heard`, `ns` at most. */
  wait(heard: number, ns: number): void {
    Atomics.wait(this.#words, BELL, heard, ns / 1e6)
  }
}
