/**
 * Byte codec of messages: little-endian numbers and length-prefixed texts. A reader never reads beyond its end; it
 * keeps its first fault and returns zeros and empty texts after it, so that a parser checks once, at its end.
 *
 * Texts are UTF-8. Invalid bytes become U+DC80 to U+DCFF and are written back unchanged: job ids are arbitrary, and two
 * that differ must not become one.
 */
import type { Failure } from '../../base/result.ts'

/** Faults of bytes: too few, a number out of range, an unknown enum value, a text that is too long. */
export type ByteFault = 'W_SHORT' | 'W_NUMBER' | 'W_WORD' | 'W_TEXT' | 'W_COUNT' | 'W_TRAILING'

const REPLACEMENT = 0xfffd
const ESCAPE = 0xdc00
const scratch = new DataView(new ArrayBuffer(8))

export class ByteWriter {
  #bytes = new Uint8Array(256)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Starts over in the same memory. */
  clear(): void {
    this.#length = 0
  }

  /** Returns a copy of the written bytes. */
  get bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  #reserve(n: number): void {
    if (this.#length + n <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + n))
    grown.set(this.#bytes)
    this.#bytes = grown
  }

  u8(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  u16(value: number): void {
    this.u8(value)
    this.u8(value >>> 8)
  }

  u32(value: number): void {
    this.u16(value)
    this.u16(value >>> 16)
  }

  /** Writes a whole number, 0 to 2^53 - 1; others are clamped, fractions are dropped, NaN is 0. */
  u64(value: number): void {
    const integer = Math.min(Math.max(Math.floor(value) || 0, 0), Number.MAX_SAFE_INTEGER)
    this.u32(integer % 0x100000000)
    this.u32(Math.floor(integer / 0x100000000))
  }

  f64(value: number): void {
    scratch.setFloat64(0, value, true)
    for (let i = 0; i < 8; i++) this.u8(scratch.getUint8(i))
  }

  /** Writes a text of at most `most` bytes; a longer one is cut between characters. */
  text(text: string, most: number): void {
    const at = this.#length
    this.u16(0)
    for (const character of text) {
      const before = this.#length
      this.#character(character.codePointAt(0) as number)
      if (this.#length - at - 2 <= most) continue
      this.#length = before
      break
    }
    this.patch16(at, this.#length - at - 2)
  }

  #character(code: number): void {
    if (code < 0x80) this.u8(code)
    else if (code >= ESCAPE + 0x80 && code <= ESCAPE + 0xff) this.u8(code - ESCAPE)
    else if (code < 0x800) this.#tail(0xc0, code, 6)
    else if (code >= 0xd800 && code < 0xe000) this.#tail(0xe0, REPLACEMENT, 12)
    else if (code < 0x10000) this.#tail(0xe0, code, 12)
    else this.#tail(0xf0, code, 18)
  }

  #tail(lead: number, code: number, shift: number): void {
    this.u8(lead | (code >> shift))
    for (let s = shift - 6; s >= 0; s -= 6) this.u8(0x80 | ((code >> s) & 63))
  }

  patch16(at: number, value: number): void {
    this.#bytes[at] = value
    this.#bytes[at + 1] = value >>> 8
  }

  patch32(at: number, value: number): void {
    this.patch16(at, value)
    this.patch16(at + 2, value >>> 16)
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at: number
  readonly #end: number
  #fault: ByteFault | undefined

  constructor(bytes: Uint8Array, from = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = from
    this.#end = end
  }

  /** First fault, or undefined if everything was read without one. */
  get fault(): ByteFault | undefined {
    return this.#fault ?? (this.#at < this.#end ? 'W_TRAILING' : undefined)
  }

  get remaining(): number {
    return this.#end - this.#at
  }

  wrong(fault: ByteFault): void {
    this.#fault ??= fault
    this.#at = this.#end
  }

  /** Returns the position of the next n bytes; -1 and a fault if there are fewer. */
  #take(n: number): number {
    if (this.remaining < n) {
      this.wrong('W_SHORT')
      return -1
    }
    this.#at += n
    return this.#at - n
  }

  u8(): number {
    const at = this.#take(1)
    return at < 0 ? 0 : this.#view.getUint8(at)
  }

  u16(): number {
    const at = this.#take(2)
    return at < 0 ? 0 : this.#view.getUint16(at, true)
  }

  u32(): number {
    const at = this.#take(4)
    return at < 0 ? 0 : this.#view.getUint32(at, true)
  }

  /** Reads a whole number that a double represents exactly; a larger one is a fault. */
  u64(): number {
    const low = this.u32()
    const value = this.u32() * 0x100000000 + low
    if (value <= Number.MAX_SAFE_INTEGER) return value
    this.wrong('W_NUMBER')
    return 0
  }

  /** Reads a rate: finite and not negative. */
  rate(): number {
    const at = this.#take(8)
    const value = at < 0 ? 0 : this.#view.getFloat64(at, true)
    if (value >= 0 && value < Infinity) return value
    this.wrong('W_NUMBER')
    return 0
  }

  flag(): boolean {
    const value = this.u8()
    if (value > 1) this.wrong('W_NUMBER')
    return value === 1
  }

  text(most: number): string {
    const n = this.u16()
    if (n > most) {
      this.wrong('W_TEXT')
      return ''
    }
    const at = this.#take(n)
    return at < 0 ? '' : utf8(this.#bytes, at, at + n)
  }

  /** Reads a count of items, each of at least `least` bytes: more than can follow is a fault. */
  count(least: number): number {
    const n = this.u32()
    if (n * least <= this.remaining) return n
    this.wrong('W_COUNT')
    return 0
  }

  list<T>(least: number, one: () => T): T[] {
    const all: T[] = []
    for (let n = this.count(least); n > 0; n--) all.push(one())
    return all
  }
}

/** Length of the UTF-8 character at `at`, 0 if it is not valid. Overlong forms and surrogates are not. */
function characterLength(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] as number
  if (lead < 0x80) return 1
  const n = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0
  if (n === 0 || at + n > end) return 0
  for (let i = 1; i < n; i++) if (((bytes[at + i] as number) & 0xc0) !== 0x80) return 0
  const second = bytes[at + 1] as number
  if (lead === 0xe0 && second < 0xa0) return 0
  if (lead === 0xed && second >= 0xa0) return 0
  if (lead === 0xf0 && second < 0x90) return 0
  if (lead === 0xf4 && second >= 0x90) return 0
  return n
}

function utf8(bytes: Uint8Array, from: number, end: number): string {
  let text = ''
  for (let at = from; at < end;) {
    const n = characterLength(bytes, at, end)
    const lead = bytes[at] as number
    if (n <= 1) text += String.fromCharCode(n === 1 ? lead : ESCAPE + lead)
    else {
      let code = lead & (0xff >> (n + 1))
      for (let i = 1; i < n; i++) code = (code << 6) | ((bytes[at + i] as number) & 63)
      text += String.fromCodePoint(code)
    }
    at += n || 1
  }
  return text
}

const WHY: Readonly<Record<ByteFault, string>> = {
  W_SHORT: 'it is truncated',
  W_NUMBER: 'a number is out of range',
  W_WORD: 'it contains a value unknown to this protocol',
  W_TEXT: 'a text is too long',
  W_COUNT: 'a list is longer than the message',
  W_TRAILING: 'it has trailing bytes',
}

export const byteFailure = (fault: ByteFault, what: string): Failure => ({ code: fault, what, why: WHY[fault] })
