/**
 * A node's memory as seen by one thread: monitor ownership, its doorbell, mailboxes and counters.
 *
 * Threads share bytes, not objects: each uses the same buffer through its own NodeMemory and its own keys. Clients are confined by
 * the key check in every verb (core/haechi/registered-memory.ts), as by a NIC; a thread that bypasses the verbs is not confined,
 * just as a program that has mapped the node's memory.
 */
import { randomInt } from 'node:crypto'
import { fail, invariant, ok, type Result } from '#core/base/result.ts'
import type { RegisteredMemory, Key } from '#core/haechi/registered-memory.ts'
import { TokenMemory, type ClientKeys } from '#core/haechi/token-memory.ts'
import { RECORD_BYTES } from '#core/haechi/workloads/records.ts'
import { ClientCounters } from './client-counters.ts'
import { COUNTER_BYTES, layoutOf, MAILBOX_BYTES, type NodeLayout, type NodeShape } from './layout.ts'
import { Mailbox } from './mailbox.ts'

const OWNER = 0
const BELL = 1
const SENDS = 2
const TIMER_WAKES = 3
const SEND_WAKES = 4
const DATA_WAKES = 5

/** Wake-ups of the data node's CPU, by cause. */
export interface WakeUps {
  /** The monitor's own checks. */
  readonly timer: number
  /** SENDs to it: join, leave, reserve. */
  readonly send: number
  /** Rings of its doorbell without a SEND: one-sided verbs have none. */
  readonly data: number
}

/** Access of an admitted client: tokens, its slot, the records. */
export interface ClientAccess {
  readonly tokens: TokenMemory
  readonly memory: RegisteredMemory
  readonly keys: ClientKeys
  readonly records: Key
}

export class NodeMemory {
  readonly buffer: SharedArrayBuffer
  readonly layout: NodeLayout
  readonly #control: Int32Array

  private constructor(buffer: SharedArrayBuffer, layout: NodeLayout) {
    this.buffer = buffer
    this.layout = layout
    this.#control = new Int32Array(buffer, layout.control, 8)
  }

  /** Allocates the memory of a new node. */
  static allocate(shape: NodeShape): Result<NodeMemory> {
    const layout = layoutOf(shape)
    if (!layout.ok) return layout
    return ok(new NodeMemory(new SharedArrayBuffer(layout.value.bytes), layout.value))
  }

  /** Wraps the memory of a node in another thread. */
  static of(buffer: SharedArrayBuffer, shape: NodeShape): NodeMemory {
    const layout = layoutOf(shape)
    invariant(layout.ok && layout.value.bytes === buffer.byteLength, 'threads share one shape')
    return new NodeMemory(buffer, layout.value)
  }

  /** Claims the token memory and the only key that refills POOL; one thread at a time can hold it. */
  claimMonitor(): Result<{ tokens: TokenMemory; key: Key }> {
    const tokens = this.#tokens()
    const key = tokens.claimMonitor()
    if (!key.ok) return key
    if (Atomics.compareExchange(this.#control, OWNER, 0, 1) === 0) return ok({ tokens, key: key.value })
    tokens.memory.deregister(key.value)
    // An instance has one monitor, so its own refusal gives the reason.
    const refused = tokens.claimMonitor()
    invariant(!refused.ok, 'the first claim was granted')
    return fail(refused.error)
  }

  releaseMonitor(): void {
    Atomics.store(this.#control, OWNER, 0)
  }

  /** Keys for the thread of a client: POOL, at most `batch` tokens at a time, its own slot, the records. */
  admit(slot: number, batch: number): Result<ClientAccess> {
    const tokens = this.#tokens()
    const keys = tokens.admit(slot, batch)
    if (!keys.ok) return keys
    const { store, records } = this.layout
    const rights = { read: true, write: true }
    const key = tokens.memory.register(newKey() + 2 ** 32, 'records', store, records * RECORD_BYTES, rights)
    return key.ok ? ok({ tokens, memory: tokens.memory, keys: keys.value, records: key.value }) : key
  }

  mailbox(slot: number): Mailbox {
    return new Mailbox(this.buffer, this.layout.mailboxes + slot * MAILBOX_BYTES)
  }

  counters(slot: number): ClientCounters {
    return new ClientCounters(this.buffer, this.layout.counters + slot * COUNTER_BYTES)
  }

  /** Wakes the monitor after a SEND to the node; the monitor then reads its messages. */
  sendToMonitor(): void {
    // Counted before the bell rings, so that every ring has a cause.
    Atomics.add(this.#control, SENDS, 1)
    this.ringMonitor()
  }

  /** Rings without a SEND. Never used by the protocol; the monitor would count it as a wake-up by a data I/O. */
  ringMonitor(): void {
    Atomics.add(this.#control, BELL, 1)
    Atomics.notify(this.#control, BELL)
  }

  get monitorBell(): number {
    return Atomics.load(this.#control, BELL)
  }

  /** Sleeps until the monitor's bell differs from `heard`, `ns` at most; the cause of the wake-up is counted. */
  sleepMonitor(heard: number, ns: number): void {
    const woke = Atomics.wait(this.#control, BELL, heard, ns / 1e6)
    Atomics.add(this.#control, woke === 'timed-out' ? TIMER_WAKES : SEND_WAKES, 1)
    const bell = Atomics.load(this.#control, BELL)
    const unexplained = (bell - Atomics.load(this.#control, SENDS)) | 0
    if (unexplained > Atomics.load(this.#control, DATA_WAKES)) Atomics.store(this.#control, DATA_WAKES, unexplained)
  }

  get wakeUps(): WakeUps {
    const data = Atomics.load(this.#control, DATA_WAKES)
    const rung = Atomics.load(this.#control, SEND_WAKES)
    return { timer: Atomics.load(this.#control, TIMER_WAKES), send: Math.max(0, rung - data), data }
  }

  #tokens(): TokenMemory {
    return new TokenMemory(this.layout.slots, newKey, this.buffer)
  }
}

const newKey = (below = 2 ** 32): number => randomInt(below)
