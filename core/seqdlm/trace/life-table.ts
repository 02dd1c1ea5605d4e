/**
 * Lives of locks as rows of numbers: the time of every step, and the number of its event, since several events share a
 * time. A step that has not occurred is at Infinity.
 *
 * Rows, not objects: at 100,000 locks a second an object for each would take most of a tracer's time. Rare details
 * (pieces of ranges, absorbed locks, a second downgrade, a second flush) are in the object that readers create for a
 * row.
 */
import type { LockEvent } from '../lock-events.ts'
import { LOCK_MODES, type LockMode } from '../modes.ts'
import { modeNumber } from './counts.ts'
import { DataSteps } from './data-steps.ts'
import { LifeRecord, type AbsorbedLock, type LifeRows } from './life.ts'
import * as c from './life-columns.ts'
import { grownBytes, grownNumbers, NONE } from './slots.ts'
import type { LockLife } from './trace.ts'

/** Modes of a life, two bits each. */
const REQUESTED = 0
const GRANTED = 2
const NOW = 4
const DOWNGRADED = 6

/** Bits of the flags from here on are its ending. */
const ENDING_SHIFT = 4
/** Downgrades kept per lock besides the first; a well-behaved client makes one. */
const MORE_DOWNGRADES = 7
const FIRST_CAPACITY = 1024
const ENDINGS = ['released', 'evicted', 'withdrawn', 'absorbed'] as const
type Ending = NonNullable<LockLife['ending']>

type Requested = LockEvent & { readonly kind: 'asked' }
type Granted = LockEvent & { readonly kind: 'granted' }

export class LifeTable implements LifeRows {
  #rows = new Float64Array(FIRST_CAPACITY * c.WIDTH)
  #modes = new Uint8Array(FIRST_CAPACITY)
  #flags = new Uint8Array(FIRST_CAPACITY)
  readonly #records: (LifeRecord | null)[] = []
  readonly #free: number[] = []
  #used = 0

  get(slot: number, column: number): number {
    return this.#rows[slot * c.WIDTH + column]!
  }

  set(slot: number, column: number, value: number): void {
    this.#rows[slot * c.WIDTH + column] = value
  }

  has(slot: number, flag: number): boolean {
    return (this.#flags[slot]! & flag) !== 0
  }

  mark(slot: number, flag: number): void {
    this.#flags[slot]! |= flag
  }

  isGranted(slot: number): boolean {
    return this.get(slot, c.GRANTED_SEQ) < Infinity
  }

  isEnded(slot: number): boolean {
    return this.get(slot, c.ENDED_SEQ) < Infinity
  }

  /** True if it waits in the queue at `to`, as far as known then. */
  isWaitingAt(slot: number, to: number): boolean {
    const at = slot * c.WIDTH
    if (!this.has(slot, c.HAS_WAITED) || this.#rows[at + c.REQUESTED_NS]! > to) return false
    return this.#rows[at + c.GRANTED_NS]! > to && this.#rows[at + c.ENDED_NS]! > to
  }

  isHeldAt(slot: number, to: number): boolean {
    return this.get(slot, c.GRANTED_NS) <= to && this.get(slot, c.ENDED_NS) > to
  }

  /** Numbers of its modes: as requested, as granted (as requested before that), and the server's current one. */
  askedMode(slot: number): number {
    return this.#modes[slot]! & 3
  }

  mode(slot: number): number {
    return (this.#modes[slot]! >> GRANTED) & 3
  }

  modeNow(slot: number): number {
    return (this.#modes[slot]! >> NOW) & 3
  }

  /** Mode of its first downgrade. */
  downgradedTo(slot: number): number {
    return (this.#modes[slot]! >> DOWNGRADED) & 3
  }

  ending(slot: number): Ending {
    return ENDINGS[this.#flags[slot]! >> ENDING_SHIFT]!
  }

  /** Details that do not fit the row, with the row as readers see it. */
  record(slot: number): LifeRecord {
    return (this.#records[slot] ??= new LifeRecord(this, slot))
  }

  /** Number of pieces of its ranges under DLM-datatype. */
  pieces(slot: number): number {
    const record = this.#records[slot] ?? null
    if (record === null) return 0
    const { requiredPieces: required, rangePieces: range } = record
    return (required?.length ?? 0) + (range === required ? 0 : (range?.length ?? 0))
  }

  /** Begins a life in a free row; listed. */
  request(id: number, ns: number, event: Requested): number {
    const slot = this.#take()
    const rows = this.#rows
    const at = slot * c.WIDTH
    const { range } = event
    const mode = modeNumber(event.mode)
    rows[at + c.ID] = id
    rows[at + c.RESOURCE] = event.resource
    rows[at + c.CLIENT] = event.client
    rows[at + c.REQ_ID] = event.reqId
    rows[at + c.REQUESTED_NS] = ns
    rows[at + c.REQUIRED_START] = rows[at + c.START] = range.start
    rows[at + c.REQUIRED_END] = rows[at + c.END] = range.end
    rows[at + c.LOCK_ID] = -1
    rows[at + c.SN] = rows[at + c.MIN_SN] = 0
    rows[at + c.GRANTED_NS] = rows[at + c.GRANTED_SEQ] = Infinity
    rows[at + c.REVOKED_NS] = rows[at + c.REVOKED_SEQ] = Infinity
    rows[at + c.CANCELING_NS] = rows[at + c.CANCELING_SEQ] = Infinity
    rows[at + c.DOWNGRADED_NS] = rows[at + c.DOWNGRADED_SEQ] = Infinity
    rows[at + c.ENDED_NS] = rows[at + c.ENDED_SEQ] = Infinity
    rows[at + c.ARRIVED_NS] = rows[at + c.WRITTEN_NS] = Infinity
    rows[at + c.ARRIVED_BYTES] = rows[at + c.WRITTEN_BYTES] = 0
    this.#modes[slot] = (mode << REQUESTED) | (mode << GRANTED) | (mode << NOW)
    this.#flags[slot] = c.IS_LISTED
    if (range.pieces !== null) this.record(slot).requiredPieces = range.pieces
    return slot
  }

  grant(slot: number, ns: number, seq: number, event: Granted): void {
    const rows = this.#rows
    const at = slot * c.WIDTH
    const { range } = event
    const mode = modeNumber(event.mode)
    rows[at + c.LOCK_ID] = event.lockId
    rows[at + c.GRANTED_NS] = ns
    rows[at + c.GRANTED_SEQ] = seq
    rows[at + c.START] = range.start
    rows[at + c.END] = range.end
    rows[at + c.SN] = event.sn
    rows[at + c.MIN_SN] = event.minSn
    this.#modes[slot] = (this.#modes[slot]! & 3) | (mode << GRANTED) | (mode << NOW)
    if (event.rule === 'early-grant') this.mark(slot, c.IS_EARLY_GRANT)
    if (event.state === 'CANCELING') {
      this.mark(slot, c.IS_EARLY_REVOCATION)
      this.cancel(slot, ns, seq)
    }
    if (range.pieces !== null && this.has(slot, c.IS_LISTED)) this.record(slot).rangePieces = range.pieces
  }

  revoke(slot: number, ns: number, seq: number): void {
    this.#rows[slot * c.WIDTH + c.REVOKED_NS] = ns
    this.#rows[slot * c.WIDTH + c.REVOKED_SEQ] = seq
  }

  cancel(slot: number, ns: number, seq: number): void {
    this.#rows[slot * c.WIDTH + c.CANCELING_NS] = ns
    this.#rows[slot * c.WIDTH + c.CANCELING_SEQ] = seq
  }

  downgrade(slot: number, ns: number, seq: number, mode: LockMode): void {
    const at = slot * c.WIDTH
    const number = modeNumber(mode)
    this.#modes[slot] = (this.#modes[slot]! & ~(3 << NOW)) | (number << NOW)
    if (this.#rows[at + c.DOWNGRADED_SEQ] === Infinity) {
      this.#modes[slot] |= number << DOWNGRADED
      this.#rows[at + c.DOWNGRADED_NS] = ns
      this.#rows[at + c.DOWNGRADED_SEQ] = seq
    } else {
      const more = (this.record(slot).moreDowngrades ??= [])
      if (more.length === MORE_DOWNGRADES) more.pop()
      more.push({ ns, seq, mode })
    }
    if (this.#rows[at + c.CANCELING_SEQ] === Infinity) this.cancel(slot, ns, seq)
  }

  end(slot: number, ns: number, seq: number, ending: Ending): void {
    this.#rows[slot * c.WIDTH + c.ENDED_NS] = ns
    this.#rows[slot * c.WIDTH + c.ENDED_SEQ] = seq
    this.#flags[slot]! |= ENDINGS.indexOf(ending) << ENDING_SHIFT
  }

  arrived(slot: number, ns: number, bytes: number): void {
    const at = slot * c.WIDTH
    if (this.#rows[at + c.ARRIVED_NS] === Infinity) {
      this.#rows[at + c.ARRIVED_NS] = ns
      this.#rows[at + c.ARRIVED_BYTES] = bytes
      return
    }
    const record = this.record(slot)
    record.arrived ??= new DataSteps(this.#rows[at + c.ARRIVED_NS]!, this.#rows[at + c.ARRIVED_BYTES]!)
    record.arrived.add(ns, bytes)
  }

  written(slot: number, ns: number, bytes: number): void {
    const at = slot * c.WIDTH
    if (this.#rows[at + c.WRITTEN_NS] === Infinity) {
      this.#rows[at + c.WRITTEN_NS] = ns
      this.#rows[at + c.WRITTEN_BYTES] = bytes
      return
    }
    const record = this.record(slot)
    record.written ??= new DataSteps(this.#rows[at + c.WRITTEN_NS]!, this.#rows[at + c.WRITTEN_BYTES]!)
    record.written.add(ns, bytes)
  }

  /** Summary of a lock that ends by being absorbed, for the one that replaces it. */
  absorbed(slot: number): AbsorbedLock {
    const { id, mode, range, sn } = this.record(slot)
    return { id, mode, modeNow: LOCK_MODES[this.modeNow(slot)]!, range, sn }
  }

  /** Unlists a life: details outside its row are no longer needed. */
  unlist(slot: number): void {
    this.#flags[slot]! &= ~c.IS_LISTED
    if (this.#records[slot] !== null) this.#records[slot] = null
  }

  /** Removes a life; its row is free. */
  release(slot: number): void {
    this.#rows[slot * c.WIDTH + c.ID] = NONE
    if (this.#records[slot] !== null) this.#records[slot] = null
    this.#free.push(slot)
  }

  #take(): number {
    const free = this.#free.pop()
    if (free !== undefined) return free
    const slot = this.#used++
    this.#records.push(null)
    if (slot === this.#flags.length) {
      this.#rows = grownNumbers(this.#rows, 2 * slot * c.WIDTH)
      this.#modes = grownBytes(this.#modes, 2 * slot)
      this.#flags = grownBytes(this.#flags, 2 * slot)
    }
    return slot
  }
}
