/**
 * Messages about locks and data, in a ring of rows: enough of each to describe it later, without the data it carried.
 *
 * Rows, not objects, as for lives. A request is known before its life; flushes are distinguished by SN. Messages
 * without a resource (recovery) are not kept.
 */
import type { ClientId, Message, ResourceId, ServerId } from '../messages.ts'
import { LOCK_MODES, type LockMode } from '../modes.ts'
import type { LockRange, Range } from '../ranges.ts'
import { modeNumber } from './counts.ts'
import { grownBytes, grownNumbers, hashOf, NONE, SlotIndex } from './slots.ts'

/** Bytes of one SN. */
export interface SnBytes {
  readonly sn: number
  readonly bytes: number
}

/** A lock request that was sent and not processed. */
export interface Unprocessed {
  readonly resource: ResourceId
  readonly sentNs: number
}

/** Content of a flush for its server. */
export interface Flushed {
  readonly resource: ResourceId
  readonly flushed: readonly SnBytes[]
}

/** A message as readers see its row. */
export interface MessageRecord {
  readonly number: number
  readonly resource: ResourceId
  readonly client: ClientId
  readonly server: ServerId
  readonly isUp: boolean
  readonly sentNs: number
  /** Infinity until it has arrived. */
  readonly arrivedNs: number
  readonly kind: Message['kind']
  /** Row and id of its life; -1 for none. */
  readonly life: number
  readonly lifeId: number
  /** Number that it names: a lock, an SN, a size. */
  readonly named: number
  readonly mode: LockMode | null
  readonly range: LockRange | null
  readonly flushed: readonly SnBytes[]
  /** Mode of the lock that it names, if known then. */
  readonly lockMode: LockMode | null
  readonly lockSn: number
}

const SENT = 0
/** Latest send time of all messages up to this one. */
const ORDER = 1
const ARRIVED = 2
const RESOURCE = 3
const CLIENT = 4
const SERVER = 5
const REQUEST = 6
const LIFE = 7
const LIFE_ID = 8
/** SN of a flush that carries only one; its bytes are in `START`. */
const NAMED = 9
const START = 10
const END = 11
const LOCK_SN = 12
const WIDTH = 13

/** Neither mode nor range. */
const NO_MODE = 255
const FIRST_CAPACITY = 1024

export const KINDS = [
  ...(['lock-request', 'lock-grant', 'lock-refusal', 'revoke', 'revoke-reply', 'downgrade', 'release'] as const),
  ...(['flush-request', 'flush-reply', 'read-request', 'read-reply', 'size-request', 'size-reply'] as const),
] satisfies readonly Message['kind'][]
/** Indexes in it. */
export const LOCK_REQUEST = 0
export const LOCK_GRANT = 1
export const LOCK_REFUSAL = 2
export const REVOKE = 3
export const REVOKE_REPLY = 4
export const DOWNGRADE = 5
export const RELEASE = 6
export const FLUSH_REQUEST = 7
export const FLUSH_REPLY = 8
export const READ_REQUEST = 9
export const READ_REPLY = 10
export const SIZE_REQUEST = 11
export const SIZE_REPLY = 12

/** True for kinds that a lock service processes, in order; data go past it. */
const isForLockService = (kind: number): boolean =>
  kind === LOCK_REQUEST || kind === REVOKE_REPLY || kind === DOWNGRADE || kind === RELEASE

export class MessageLog {
  readonly #most: number
  #rows = new Float64Array(FIRST_CAPACITY * WIDTH)
  #kind = new Uint8Array(FIRST_CAPACITY)
  #isUp = new Uint8Array(FIRST_CAPACITY)
  #mode = new Uint8Array(FIRST_CAPACITY)
  #lockMode = new Uint8Array(FIRST_CAPACITY)
  /** Rare details: pieces of a range, further SNs of a flush. */
  readonly #pieces = new Map<number, readonly Range[]>()
  readonly #flushed = new Map<number, readonly SnBytes[]>()
  /** Unanswered messages. */
  readonly #pending = new SlotIndex()
  /**
   * Flushes that were dropped before they arrived, by number: their data still count when they do. At most as many as
   * messages, the latest; nothing reports those that never arrive.
   */
  readonly #underWay = new Map<number, Flushed>()
  #next = 0
  #nextSlot = 0
  #orderNs = -Infinity
  /** Longest delay of a message's report after one that was sent later, ns. */
  #lateNs = 0
  /** Every message sent later is kept, ns. */
  #since = -Infinity

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return Math.min(this.#next, this.#most)
  }

  get since(): number {
    return this.#since
  }

  /** Number of the next message. */
  get next(): number {
    return this.#next
  }

  /** Adds a message; returns its row; its resource and kind must be set next. */
  push(sentNs: number, isUp: boolean): number {
    if (sentNs > this.#orderNs) this.#orderNs = sentNs
    else if (this.#orderNs - sentNs > this.#lateNs) this.#lateNs = this.#orderNs - sentNs
    const slot = this.#nextSlot
    this.#nextSlot = slot + 1 === this.#most ? 0 : slot + 1
    const number = this.#next++
    if (number >= this.#most) this.#forget(slot, number - this.#most)
    else if (slot === this.#kind.length) this.#grow()
    const rows = this.#rows
    const at = slot * WIDTH
    rows[at + SENT] = sentNs
    rows[at + ORDER] = this.#orderNs
    rows[at + ARRIVED] = Infinity
    rows[at + LIFE] = rows[at + LIFE_ID] = NONE
    rows[at + NAMED] = 0
    this.#isUp[slot] = isUp ? 1 : 0
    this.#mode[slot] = this.#lockMode[slot] = NO_MODE
    return slot
  }

  setPlace(slot: number, resource: ResourceId, server: ServerId, client: ClientId): void {
    const rows = this.#rows
    const at = slot * WIDTH
    rows[at + RESOURCE] = resource
    rows[at + SERVER] = server
    rows[at + CLIENT] = client
  }

  /** @param request  number of the request or flush that it is or answers; -1 for none. */
  setKind(slot: number, kind: number, request: number): void {
    this.#kind[slot] = kind
    this.#rows[slot * WIDTH + REQUEST] = request
  }

  setLife(slot: number, life: number, id: number): void {
    const rows = this.#rows
    rows[slot * WIDTH + LIFE] = life
    rows[slot * WIDTH + LIFE_ID] = id
  }

  setNamed(slot: number, named: number): void {
    this.#rows[slot * WIDTH + NAMED] = named
  }

  setMode(slot: number, mode: LockMode): void {
    this.#mode[slot] = modeNumber(mode)
  }

  setRange(slot: number, range: LockRange, mode: LockMode): void {
    this.setMode(slot, mode)
    this.setBytes(slot, range.start, range.end)
    if (range.pieces !== null) this.#pieces.set(slot, range.pieces)
  }

  /** @param end  inclusive. */
  setBytes(slot: number, start: number, end: number): void {
    const rows = this.#rows
    rows[slot * WIDTH + START] = start
    rows[slot * WIDTH + END] = end
  }

  /** Sets the lock that it names, as granted. */
  setLock(slot: number, mode: number, sn: number): void {
    this.#lockMode[slot] = mode
    this.#rows[slot * WIDTH + LOCK_SN] = sn
  }

  setFlushed(slot: number, flushed: readonly SnBytes[]): void {
    this.#flushed.set(slot, flushed)
  }

  /** Sets all of its data to one SN. */
  setFlushedOne(slot: number, sn: number, bytes: number): void {
    this.setNamed(slot, sn)
    this.setBytes(slot, bytes, NONE)
  }

  /** Marks it as unanswered; replaces an unanswered one of the same key. */
  expectReply(slot: number): void {
    const rows = this.#rows
    const at = slot * WIDTH
    const client = rows[at + CLIENT]!
    const request = rows[at + REQUEST]!
    const before = this.findUnanswered(this.#kind[slot]!, rows[at + RESOURCE], rows[at + SERVER]!, client, request)
    if (before !== NONE) this.#pending.remove(before)
    this.#pending.add(slot, hashOf(request, client))
  }

  /**
   * Returns the row of an unanswered message, `NONE` for none.
   *
   * @param resource  undefined for a read or a size request, whose answer names none.
   */
  findUnanswered(
    kind: number,
    resource: ResourceId | undefined,
    server: ServerId,
    client: ClientId,
    request: number,
  ): number {
    const rows = this.#rows
    for (let s = this.#pending.first(hashOf(request, client)); s !== NONE; s = this.#pending.next(s)) {
      const at = s * WIDTH
      if (rows[at + REQUEST] !== request || rows[at + CLIENT] !== client || this.#kind[s] !== kind) continue
      if (resource === undefined ? rows[at + SERVER] === server : rows[at + RESOURCE] === resource) return s
    }
    return NONE
  }

  /** No effect on an answered message, nor on `NONE`. */
  answered(slot: number): void {
    if (slot !== NONE) this.#pending.remove(slot)
  }

  kindOf(slot: number): number {
    return this.#kind[slot]!
  }

  resourceOf(slot: number): ResourceId {
    return this.#rows[slot * WIDTH + RESOURCE]!
  }

  placeOf(slot: number): { resource: ResourceId; server: ServerId; client: ClientId; request: number } {
    const rows = this.#rows
    const at = slot * WIDTH
    const resource = rows[at + RESOURCE]!
    const server = rows[at + SERVER]!
    return { resource, server, client: rows[at + CLIENT]!, request: rows[at + REQUEST]! }
  }

  lifeOf(slot: number): number {
    return this.#rows[slot * WIDTH + LIFE]!
  }

  lifeIdOf(slot: number): number {
    return this.#rows[slot * WIDTH + LIFE_ID]!
  }

  /** Returns the bytes of each SN of a flush. */
  flushedOf(slot: number): readonly SnBytes[] {
    const at = slot * WIDTH
    return this.#flushed.get(slot) ?? [{ sn: this.#rows[at + NAMED]!, bytes: this.#rows[at + START]! }]
  }

  /** Marks a message as arrived; returns its row, or `NONE` if it is not kept or had arrived before. */
  arrive(number: number, at: number): number {
    if (!(number >= 0) || number >= this.#next || number < this.#next - this.#most) return NONE
    const slot = number % this.#most
    if (this.#rows[slot * WIDTH + ARRIVED]! < Infinity) return NONE
    this.#rows[slot * WIDTH + ARRIVED] = at
    return slot
  }

  /**
   * Returns a flush that was dropped before it arrived, and now has; undefined for every other message, and the next
   * time.
   */
  arriveForgotten(number: number): Flushed | undefined {
    const flush = this.#underWay.get(number)
    if (flush !== undefined) this.#underWay.delete(number)
    return flush
  }

  /** Numbers of the messages of a resource that were sent in [from, to], in order of sending. */
  sentIn(resource: ResourceId, from: number, to: number): number[] {
    const found: number[] = []
    const rows = this.#rows
    const last = to + this.#lateNs
    for (let n = this.#first(from); n < this.#next; n++) {
      const at = (n % this.#most) * WIDTH
      if (rows[at + ORDER]! > last) break
      const sentNs = rows[at + SENT]!
      if (rows[at + RESOURCE] === resource && sentNs >= from && sentNs <= to) found.push(n)
    }
    if (this.#lateNs === 0) return found
    const sentNs = (n: number): number => rows[(n % this.#most) * WIDTH + SENT]!
    return found.sort((a, b) => sentNs(a) - sentNs(b) || a - b)
  }

  /** First lock request to each server after the last message that its lock service processed: resource and send time. */
  unprocessed(): Unprocessed[] {
    const rows = this.#rows
    const processedNs = new Map<ServerId, number>()
    const first = new Map<ServerId, Unprocessed>()
    // The newest first: an older message that never arrives, as of an evicted client, does not count.
    for (let n = this.#next - 1; n >= this.#next - this.size; n--) {
      const slot = n % this.#most
      const at = slot * WIDTH
      if (this.#isUp[slot] === 0 || !isForLockService(this.#kind[slot]!)) continue
      const server = rows[at + SERVER]!
      const arrivedNs = rows[at + ARRIVED]!
      if (arrivedNs < Infinity) processedNs.set(server, Math.max(arrivedNs, processedNs.get(server) ?? -Infinity))
      else if (this.#kind[slot] === LOCK_REQUEST && !(rows[at + SENT]! < (processedNs.get(server) ?? -Infinity))) {
        first.set(server, { resource: rows[at + RESOURCE]!, sentNs: rows[at + SENT]! })
      }
    }
    return [...first.values()]
  }

  /** @param number  number of a stored message. */
  read(number: number): MessageRecord {
    const slot = number % this.#most
    const rows = this.#rows
    const at = slot * WIDTH
    const kind = this.#kind[slot]!
    const mode = this.#mode[slot]!
    const lockMode = this.#lockMode[slot]!
    const hasRange = kind === LOCK_REQUEST || kind === LOCK_GRANT || kind === READ_REQUEST || kind === READ_REPLY
    const start = rows[at + START]!
    const end = rows[at + END]!
    return {
      number,
      resource: rows[at + RESOURCE]!,
      client: rows[at + CLIENT]!,
      server: rows[at + SERVER]!,
      isUp: this.#isUp[slot] === 1,
      sentNs: rows[at + SENT]!,
      arrivedNs: rows[at + ARRIVED]!,
      kind: KINDS[kind]!,
      life: rows[at + LIFE]!,
      lifeId: rows[at + LIFE_ID]!,
      named: rows[at + NAMED]!,
      mode: mode === NO_MODE ? null : LOCK_MODES[mode]!,
      range: hasRange ? { start, end, pieces: this.#pieces.get(slot) ?? null } : null,
      flushed: kind === FLUSH_REQUEST ? this.flushedOf(slot) : [],
      lockMode: lockMode === NO_MODE ? null : LOCK_MODES[lockMode]!,
      lockSn: rows[at + LOCK_SN]!,
    }
  }

  #first(from: number): number {
    let low = this.#next - this.size
    let high = this.#next
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (this.#rows[(middle % this.#most) * WIDTH + ORDER]! < from) low = middle + 1
      else high = middle
    }
    return low
  }

  #forget(slot: number, number: number): void {
    const sentNs = this.#rows[slot * WIDTH + SENT]!
    if (this.#kind[slot] === FLUSH_REQUEST && this.#rows[slot * WIDTH + ARRIVED] === Infinity) {
      this.#underWay.set(number, { resource: this.resourceOf(slot), flushed: this.flushedOf(slot) })
      if (this.#underWay.size > this.#most) this.#underWay.delete(this.#underWay.keys().next().value as number)
    }
    if (sentNs > this.#since) this.#since = sentNs
    this.#pending.remove(slot)
    if (this.#pieces.size > 0) this.#pieces.delete(slot)
    if (this.#flushed.size > 0) this.#flushed.delete(slot)
  }

  #grow(): void {
    const capacity = Math.min(this.#most, 2 * this.#kind.length)
    this.#rows = grownNumbers(this.#rows, capacity * WIDTH)
    this.#kind = grownBytes(this.#kind, capacity)
    this.#isUp = grownBytes(this.#isUp, capacity)
    this.#mode = grownBytes(this.#mode, capacity)
    this.#lockMode = grownBytes(this.#lockMode, capacity)
  }
}
