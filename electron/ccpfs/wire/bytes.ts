/**
 * Bytes of messages, little-endian: a writer that collects the frames of one turn, and a reader that never reads beyond its frame.
 * Offsets, SNs and ids are 64-bit on the wire and integers below 2^53 here; 2^64 - 1 is EOF.
 */
import { EOF } from '#core/seqdlm/ranges.ts'

const TWO_32 = 2 ** 32
const HIGH_MAX = 2 ** 21 - 1
const U32_MAX = TWO_32 - 1

/** Data at least this long are sent from where they are; shorter ones are copied, as one more buffer in a write costs more. */
const APART_BYTES = 8192

export class WireWriter {
  #buffer: Buffer
  #at = 0
  /** Start of the bytes that are not yet in `#parts`. */
  #from = 0
  #parts: Uint8Array[] = []
  #length = 0

  constructor(capacity = 1 << 16) {
    this.#buffer = Buffer.allocUnsafe(capacity)
  }

  /** Bytes written since the last `take`. */
  get length(): number {
    return this.#length
  }

  /**
   * Begins a frame, or any part whose length precedes it. At most `endLength` may follow before more than `reserve` bytes.
   *
   * @returns mark for `endLength`.
   */
  beginLength(): { readonly buffer: Buffer; readonly at: number; readonly length: number } {
    this.u32(0)
    return { buffer: this.#buffer, at: this.#at - 4, length: this.#length }
  }

  /** Writes the number of bytes since `beginLength` to its place. */
  endLength({ buffer, at, length }: { readonly buffer: Buffer; readonly at: number; readonly length: number }): void {
    buffer.writeUInt32LE(this.#length - length, at)
  }

  u8(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#at++] = value
    this.#length++
  }

  u16(value: number): void {
    this.#reserve(2)
    this.#at = this.#buffer.writeUInt16LE(value, this.#at)
    this.#length += 2
  }

  u32(value: number): void {
    this.#reserve(4)
    this.#at = this.#buffer.writeUInt32LE(value, this.#at)
    this.#length += 4
  }

  i32(value: number): void {
    this.u32(value >>> 0)
  }

  u64(value: number): void {
    this.#reserve(8)
    const isEof = value === EOF
    this.#at = this.#buffer.writeUInt32LE(isEof ? U32_MAX : value % TWO_32, this.#at)
    this.#at = this.#buffer.writeUInt32LE(isEof ? U32_MAX : Math.floor(value / TWO_32), this.#at)
    this.#length += 8
  }

  /** Writes a number of nanoseconds since 1970, which is beyond 2^53. */
  u64Ns(microseconds: number): void {
    const ns = BigInt(microseconds) * 1000n
    this.u32(Number(ns & 0xffff_ffffn))
    this.u32(Number(ns >> 32n))
  }

  /** Writes a text with its length, at most 65,535 bytes; a longer one is cut. */
  text(value: string): void {
    const bytes = Buffer.from(value, 'utf8').subarray(0, 0xffff)
    this.u16(bytes.length)
    this.bytes(bytes)
  }

  /** Long data must not change until they are sent. */
  bytes(data: Uint8Array): void {
    if (data.length < APART_BYTES) {
      this.#reserve(data.length)
      this.#buffer.set(data, this.#at)
      this.#at += data.length
    } else {
      this.#cut()
      this.#parts.push(data)
    }
    this.#length += data.length
  }

  /** Removes and returns what was written. */
  take(): readonly Uint8Array[] {
    this.#cut()
    const parts = this.#parts
    this.#parts = []
    this.#length = 0
    return parts
  }

  #cut(): void {
    if (this.#at > this.#from) this.#parts.push(this.#buffer.subarray(this.#from, this.#at))
    this.#from = this.#at
  }

  /** Sent bytes are never overwritten: a full buffer is replaced. */
  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return
    this.#cut()
    this.#buffer = Buffer.allocUnsafe(Math.max(this.#buffer.length, bytes))
    this.#at = 0
    this.#from = 0
  }
}

/** Reader of one frame. The first fault is kept; after it every value is 0. */
export class WireReader {
  readonly #buffer: Buffer
  readonly #end: number
  #at: number
  #fault: string | undefined

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.#buffer = buffer
    this.#at = start
    this.#end = end
  }

  get remaining(): number {
    return this.#end - this.#at
  }

  get fault(): string | undefined {
    return this.#fault
  }

  /** Records a fault of the content, unless there was one before. */
  refuse(why: string): void {
    this.#fault ??= why
    this.#at = this.#end
  }

  /** Records a fault if bytes remain. */
  finish(): void {
    if (this.remaining > 0) this.refuse('bytes follow the message')
  }

  u8(): number {
    return this.#has(1) ? (this.#buffer[this.#at++] as number) : 0
  }

  u16(): number {
    if (!this.#has(2)) return 0
    this.#at += 2
    return this.#buffer.readUInt16LE(this.#at - 2)
  }

  u32(): number {
    if (!this.#has(4)) return 0
    this.#at += 4
    return this.#buffer.readUInt32LE(this.#at - 4)
  }

  i32(): number {
    return this.u32() | 0
  }

  /** Reads an integer below 2^53; EOF is a fault. */
  u64(): number {
    const value = this.u64OrEof()
    if (value === EOF) this.refuse('a value is beyond its range')
    return value === EOF ? 0 : value
  }

  u64OrEof(): number {
    if (!this.#has(8)) return 0
    const low = this.#buffer.readUInt32LE(this.#at)
    const high = this.#buffer.readUInt32LE(this.#at + 4)
    this.#at += 8
    if (high <= HIGH_MAX) return high * TWO_32 + low
    if (high === U32_MAX && low === U32_MAX) return EOF
    this.refuse('a value is beyond its range')
    return 0
  }

  text(most: number): string {
    const length = this.u16()
    if (length > most) this.refuse('a text is too long')
    return this.bytes(length).toString('utf8')
  }

  /** Reads bytes where they are: they share the memory of the frame. */
  bytes(length: number): Buffer {
    if (!this.#has(length)) return this.#buffer.subarray(this.#end, this.#end)
    this.#at += length
    return this.#buffer.subarray(this.#at - length, this.#at)
  }

  rest(): Buffer {
    return this.bytes(this.remaining)
  }

  /** Reads the number of entries of a list; each takes at least `entryBytes`. */
  count(most: number, entryBytes: number): number {
    const n = this.u32()
    if (n <= most && n * entryBytes <= this.remaining) return n
    this.refuse('a list is longer than its frame')
    return 0
  }

  #has(bytes: number): boolean {
    if (bytes <= this.#end - this.#at) return true
    this.refuse('it is shorter than its content')
    return false
  }
}
