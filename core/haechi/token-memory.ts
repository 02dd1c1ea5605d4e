/**
 * Memory shared by engines and monitor: POOL and one report slot per client, each with its own keys.
 *
 * Engines hold a POOL key that only allows taking, at most a batch at a time, and a key of their own slot; the key for refilling POOL by
 * CAS is issued once, so that a node has one monitor (spec/haechi 1, 10). Layout: POOL at byte 0, slot i at 64 + 8 i.
 */
import { fail, invariant, ok, type Result } from '../base/result.ts'
import type { ClientReport } from './messages.ts'
import { packPool, unpackPool, type Pool } from './pool-word.ts'
import { RegisteredMemory, type Key } from './registered-memory.ts'
import { packReport, unpackReport, type SlotReport, type Word } from './report-word.ts'

const SLOTS_AT = 64
const SLOT_BYTES = 8
/** Keys are drawn from far more than are ever issued, so that a guessed one is almost certainly refused. */
const KEY_SPACE = 2 ** 32

/** Bytes that a node with this many slots registers for tokens. */
export const tokenMemoryBytes = (slots: number): number => SLOTS_AT + slots * SLOT_BYTES

/** Keys of one engine, issued at admission. */
export interface ClientKeys {
  readonly pool: Key
  readonly slot: Key
}

export class TokenMemory {
  readonly memory: RegisteredMemory
  readonly #slots: number
  readonly #newKey: () => Key
  #isMonitored = false

  /**
   * @param below  draws a whole number below its argument; keys must not be guessable by clients.
   * @param buffer  zeroed, of `tokenMemoryBytes(slots)` at least.
   */
  constructor(slots: number, below: (n: number) => number, buffer: ArrayBuffer | SharedArrayBuffer) {
    this.memory = new RegisteredMemory(buffer)
    this.#slots = slots
    const used = new Set<Key>()
    this.#newKey = () => {
      let key = below(KEY_SPACE)
      while (used.has(key)) key = below(KEY_SPACE)
      used.add(key)
      return key
    }
  }

  /** Returns the key that may change POOL by CAS; a second monitor is refused. */
  claimMonitor(): Result<Key> {
    if (this.#isMonitored) {
      return fail({
        code: 'E_MONITOR',
        what: 'A second QoS monitor on one data node is refused',
        why: 'two would each refill the pool',
        unaffected: 'The first monitor continues.',
      })
    }
    this.#isMonitored = true
    return this.memory.register(this.#newKey(), 'POOL', 0, 8, { read: true, cas: true })
  }

  /** Returns the keys for the client of a slot. */
  admit(slot: number, batch: number): Result<ClientKeys> {
    if (!(Number.isInteger(slot) && slot >= 0 && slot < this.#slots)) {
      return fail({
        code: 'E_SLOTS',
        what: 'The data node has no report slot left',
        next: `End a client first: it has ${this.#slots} slots.`,
      })
    }
    const pool = this.memory.register(this.#newKey(), 'POOL', 0, 8, { read: true, takeUpTo: batch })
    if (!pool.ok) return pool
    const at = SLOTS_AT + slot * SLOT_BYTES
    const report = this.memory.register(this.#newKey(), `REPORT[${slot}]`, at, SLOT_BYTES, { write: true })
    return report.ok ? ok({ pool: pool.value, slot: report.value }) : report
  }

  /** Revokes a client's keys and clears its reports. */
  release(keys: ClientKeys): void {
    this.memory.writeWord(keys.slot, 0, 0n)
    this.memory.deregister(keys.pool)
    this.memory.deregister(keys.slot)
  }

  /** FAA(POOL, -take) of a client; returns the pool before it and the epoch (low 8 bits). */
  take(keys: ClientKeys, take: number): Result<Pool> {
    const word = this.memory.takeFrom(keys.pool, 0, take)
    return word.ok ? ok(unpackPool(word.value)) : word
  }

  /** WRITE of a report: one word. */
  report(keys: ClientKeys, report: ClientReport): Result<void> {
    return this.memory.writeWord(keys.slot, 0, bits(packReport(report)))
  }

  /**
   * CAS of POOL by the monitor, over the token count: the word becomes `desired` in `epoch` if it held `expected` tokens.
   *
   * @returns the tokens found; equal to `expected` when it was written.
   */
  swapPool(monitor: Key, expected: number, desired: number, epoch: number): number {
    for (;;) {
      const word = this.memory.ownWord(0)
      const { tokens } = unpackPool(word)
      if (tokens !== expected) return tokens
      const found = this.memory.compareAndSwap(monitor, 0, word, packPool(desired, epoch))
      invariant(found.ok, 'the monitor holds the key of POOL')
      if (found.value === word) return tokens
    }
  }

  /** The pool as read locally by the data node. */
  pool(): Pool {
    return unpackPool(this.memory.ownWord(0))
  }

  /** A slot as read locally by the data node. */
  slot(slot: number): SlotReport {
    return unpackReport(halves(this.memory.ownWord(SLOTS_AT + slot * SLOT_BYTES)))
  }
}

const bits = ({ hi, lo }: Word): bigint => BigInt.asIntN(64, (BigInt(hi) << 32n) | BigInt(lo))

const halves = (word: bigint): Word => ({
  hi: Number(BigInt.asUintN(32, word >> 32n)),
  lo: Number(BigInt.asUintN(32, word)),
})
