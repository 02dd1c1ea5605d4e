/**
 * Parser of one counter of job_stats, from bytes: counters are nine tenths of all text that Sluice reads.
 *
 * Source: spec/lustre 4.3. Fields may be in any order, and all but `samples` may be missing: 2.12 prints no sums for requests, 2.15 no
 * histograms.
 */
import { byteText, CLOSE, COLON, COMMA, DASH, NEWLINE, NINE, OPEN, RETURN, SPACE, ZERO } from './bytes.ts'

const FIELDS = ['samples', 'unit', 'min', 'max', 'sum', 'sumsq', 'hist'] as const
export type CounterField = (typeof FIELDS)[number]

/** One counter of one job; numbers missing in the line are 0. */
export interface Counter {
  readonly samples: number
  readonly unit: string
  readonly min: number
  readonly max: number
  readonly sum: number
  /** Servers keep it in 64 bits, and it wraps. */
  readonly sumsq: number
  /** Samples per power-of-two size bin; only read_bytes and write_bytes of 2.16 and later. */
  readonly hist: ReadonlyMap<number, number> | undefined
  /** Fields in the line; one shared list for all counters with the same fields. */
  readonly fields: readonly CounterField[]
  /** Digits of numbers above 2^53, whose numeric values are rounded. */
  readonly exact: ReadonlyMap<CounterField, string> | undefined
}

/** Packs a word of up to ten lower-case letters into one number, so that fields are compared without creating strings. */
const pack = (word: string): number => [...word].reduce((n, c) => n * 32 + c.charCodeAt(0) - 96, 0)
const FIELD_OF = new Map(FIELDS.map((name, i) => [pack(name), i]))
const UNIT = FIELDS.indexOf('unit')
const HIST = FIELDS.indexOf('hist')
const UNIT_OF = new Map(['bytes', 'usecs', 'reqs'].map((unit) => [pack(unit), unit]))
const LONGEST_WORD = 10
const LONGEST_NAME = 32

/** Digits that a double always holds exactly. */
const EXACT_DIGITS = 15
const U64_MAX = '18446744073709551615'
/** K, M, G, T, P by letter. */
const SCALE = new Map([...'KMGTP'].map((letter, i) => [letter.charCodeAt(0), (i + 1) * 10]))

const fieldSets = new Map<number, readonly CounterField[]>()
function fieldsOf(mask: number): readonly CounterField[] {
  let fields = fieldSets.get(mask)
  if (!fields) fieldSets.set(mask, (fields = FIELDS.filter((_, i) => mask & (1 << i))))
  return fields
}

/** Cursor over bytes in which every line ends with a newline; the newline stops it. */
export class CounterReader {
  #bytes: Uint8Array = new Uint8Array()
  readonly #numbers = new Float64Array(FIELDS.length)
  #unit = ''
  #hist: Map<number, number> | undefined
  #exact: Map<CounterField, string> | undefined
  /** Index after the bytes read. */
  at = 0
  /** Reason why there is no counter. */
  fault = ''
  /** Unknown field that was skipped; the counter is valid without it. */
  unknown = ''

  /**
   * Reads `{ samples: 3, unit: usecs, ... }`.
   *
   * @param from  index of the brace.
   * @returns     the counter, also one without samples; undefined if it is incomplete, with the reason in `fault`.
   */
  read(bytes: Uint8Array, from: number): Counter | undefined {
    this.#bytes = bytes
    this.at = from + 1
    this.#numbers.fill(0)
    this.#unit = this.fault = this.unknown = ''
    this.#hist = this.#exact = undefined
    let mask = 0
    for (;;) {
      this.skipSpaces()
      if (this.#take(CLOSE)) break
      const field = this.#field(mask)
      if (field < 0) return undefined
      mask |= field
      this.skipSpaces()
      this.#take(COMMA)
    }
    if (!(mask & 1)) return this.#fail('no samples')
    const n = this.#numbers
    return {
      samples: n[0] as number,
      unit: this.#unit,
      min: n[2] as number,
      max: n[3] as number,
      sum: n[4] as number,
      sumsq: n[5] as number,
      hist: this.#hist,
      fields: fieldsOf(mask),
      exact: this.#exact,
    }
  }

  skipSpaces(): void {
    while (this.#bytes[this.at] === SPACE) this.at++
  }

  #fail(fault: string): undefined {
    this.fault = fault
    return undefined
  }

  #take(code: number): boolean {
    if (this.#bytes[this.at] !== code) return false
    this.at++
    return true
  }

  /** Reads `name: value`; returns the field's bit, 0 for an unknown one, -1 for a fault. */
  #field(mask: number): number {
    const from = this.at
    const word = this.#word()
    const wordEnd = this.at
    if (wordEnd === from || !this.#take(COLON)) {
      const c = this.#bytes[this.at]
      this.fault = c === NEWLINE || c === RETURN ? 'cut off' : 'not a counter'
      return -1
    }
    const field = FIELD_OF.get(word)
    const bit = field === undefined ? 0 : 1 << field
    if (field !== undefined && mask & bit) {
      this.fault = `${FIELDS[field] as string} twice`
      return -1
    }
    this.skipSpaces()
    if (field === UNIT) return this.#readUnit() ? bit : -1
    if (field === HIST) return this.#readHist() ? bit : -1
    const n = this.#number(field)
    if (n < 0) return -1
    if (field === undefined) this.unknown = byteText(this.#bytes, from, Math.min(from + LONGEST_NAME, wordEnd))
    else this.#numbers[field] = n
    return bit
  }

  /** Reads lower-case letters as one number; 0 if there are too many for a known word. */
  #word(): number {
    const bytes = this.#bytes
    const from = this.at
    let word = 0
    let at = from
    for (; ; at++) {
      const letter = (bytes[at] as number) - 96
      if (!(letter >= 1 && letter <= 26)) break
      word = word * 32 + letter
    }
    this.at = at
    return at - from > LONGEST_WORD ? 0 : word
  }

  /** Reads digits as a number; -1 for a fault. */
  #number(field: number | undefined): number {
    const bytes = this.#bytes
    const from = this.at
    let n = 0
    let at = from
    for (; ; at++) {
      const digit = (bytes[at] as number) - ZERO
      if (!(digit >= 0 && digit <= 9)) break
      n = n * 10 + digit
    }
    this.at = at
    if (at === from) return this.#noNumber()
    return at - from <= EXACT_DIGITS ? n : this.#longNumber(from, field)
  }

  #noNumber(): number {
    const c = this.#bytes[this.at]
    this.fault = c === DASH ? 'a negative number' : c === NEWLINE || c === RETURN ? 'cut off' : 'not a number'
    return -1
  }

  #longNumber(from: number, field: number | undefined): number {
    let first = from
    while (first < this.at - 1 && this.#bytes[first] === ZERO) first++
    const length = this.at - first
    const digits = length > U64_MAX.length ? '' : byteText(this.#bytes, first, this.at)
    if (digits === '' || (length === U64_MAX.length && digits > U64_MAX)) {
      this.fault = 'a number beyond 64 bits'
      return -1
    }
    const n = Number(digits)
    if (!Number.isSafeInteger(n) && field !== undefined) {
      this.#exact ??= new Map()
      this.#exact.set(FIELDS[field] as CounterField, digits)
    }
    return n
  }

  #readUnit(): boolean {
    const from = this.at
    const word = this.#word()
    const known = UNIT_OF.get(word)
    if (known !== undefined) {
      this.#unit = known
      return true
    }
    const isWord = this.at > from && this.at - from <= LONGEST_WORD
    if (isWord) this.#unit = byteText(this.#bytes, from, this.at)
    else this.fault = 'no unit'
    return isWord
  }

  /** Reads `{ 4K: 3, 1M: 100 }`. */
  #readHist(): boolean {
    const bins = new Map<number, number>()
    if (!this.#take(OPEN)) return this.#fail('no histogram') ?? false
    for (;;) {
      this.skipSpaces()
      if (this.#take(CLOSE)) break
      const bin = this.#bin()
      if (bin < 0) return this.#fail('not a histogram') ?? false
      if (bins.has(bin)) return this.#fail('a bin twice') ?? false
      this.skipSpaces()
      const n = this.#number(undefined)
      if (n < 0) return false
      if (!Number.isSafeInteger(n)) return this.#fail('a bin beyond 2^53') ?? false
      bins.set(bin, n)
      this.skipSpaces()
      this.#take(COMMA)
    }
    this.#hist = bins
    return true
  }

  /** Reads `4K:` as its bin; -1 if it is not a bin. */
  #bin(): number {
    let size = 0
    for (let c = this.#bytes[this.at] as number; c >= ZERO && c <= NINE; c = this.#bytes[this.at] as number) {
      size = size * 10 + c - ZERO
      this.at++
    }
    const scale = SCALE.get(this.#bytes[this.at] as number) ?? 0
    if (scale > 0) this.at++
    // Bins are powers of two; 512 is the largest number at the beginning of a label.
    const isBin = size >= 1 && size <= 512 && (size & (size - 1)) === 0
    return isBin && this.#take(COLON) ? scale + 31 - Math.clz32(size) : -1
  }
}
