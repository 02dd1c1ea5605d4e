/**
 * One counter line of job_stats, read by character codes: it is nine tenths of all text that Sluice reads.
 *
 * Source: spec/lustre 4.3. Fields may come in any order and any may be missing but `samples`.
 */
import { parseBinLabel } from './size-histogram.ts'
import type { ByteText } from './text.ts'

/** One counter of one job. Sums are exact up to 2^53; sums of squares beyond that are rounded to a double. */
export interface Counter {
  readonly samples: number
  readonly unit: string
  readonly min: number
  readonly max: number
  readonly sum: number
  readonly sumsq: number
  /** Samples per power-of-two size bin; only read_bytes and write_bytes of 2.16 and later. */
  readonly hist: ReadonlyMap<number, number> | undefined
}

const SPACE = 32
const COMMA = 44
const ZERO = 48
const NINE = 57
const COLON = 58
const OPEN = 123
const CLOSE = 125

const NONE: Counter = { samples: 0, unit: '', min: 0, max: 0, sum: 0, sumsq: 0, hist: undefined }

/** A cursor over one line; every read leaves it behind what was read. */
class Scanner {
  readonly #text: string
  readonly #end: number
  at: number

  constructor(text: string, from: number, end: number) {
    this.#text = text
    this.at = from
    this.#end = end
  }

  skipSpaces(): void {
    while (this.at < this.#end && this.#text.charCodeAt(this.at) === SPACE) this.at++
  }

  /** Takes the character if it is next. */
  take(code: number): boolean {
    if (this.at >= this.#end || this.#text.charCodeAt(this.at) !== code) return false
    this.at++
    return true
  }

  /** Digits as a number; undefined when there is none. */
  number(): number | undefined {
    const from = this.at
    let n = 0
    for (; this.at < this.#end; this.at++) {
      const c = this.#text.charCodeAt(this.at)
      if (c < ZERO || c > NINE) break
      n = n * 10 + (c - ZERO)
    }
    return this.at === from ? undefined : n
  }

  /** Text up to a blank, comma, colon or brace. */
  word(): string {
    const from = this.at
    for (; this.at < this.#end; this.at++) {
      const c = this.#text.charCodeAt(this.at)
      if (c === SPACE || c === COMMA || c === COLON || c === OPEN || c === CLOSE) break
    }
    return this.#text.slice(from, this.at)
  }

  /** `{ 4K: 3, 1M: 100 }`; undefined when it is not that. */
  histogram(): Map<number, number> | undefined {
    const bins = new Map<number, number>()
    if (!this.take(OPEN)) return undefined
    for (;;) {
      this.skipSpaces()
      if (this.take(CLOSE)) return bins
      const bin = parseBinLabel(this.word())
      if (bin === undefined || !this.take(COLON)) return undefined
      this.skipSpaces()
      const n = this.number()
      if (n === undefined) return undefined
      bins.set(bin, n)
      this.take(COMMA)
    }
  }
}

/**
 * Reads the part of a line from its `{` on.
 *
 * @param from  index of the brace.
 * @param end   index behind the line.
 * @returns     the counter, also one without samples; undefined when the line is not a whole counter.
 */
export function parseCounter(text: ByteText, from: number, end: number): Counter | undefined {
  const s = new Scanner(text, from, end)
  if (!s.take(OPEN)) return undefined
  let samples: number | undefined
  let unit = ''
  let hist: Map<number, number> | undefined
  const sums = { min: 0, max: 0, sum: 0, sumsq: 0 }
  for (;;) {
    s.skipSpaces()
    if (s.take(CLOSE)) break
    const key = s.word()
    if (!s.take(COLON)) return undefined
    s.skipSpaces()
    if (key === 'unit') unit = s.word()
    else if (key === 'hist') {
      hist = s.histogram()
      if (!hist) return undefined
    } else {
      const n = s.number()
      if (n === undefined) return undefined
      if (key === 'samples') {
        samples = n
        // Most counters of most jobs never moved; whatever else their line says is zero too.
        if (n === 0 && text.charCodeAt(end - 1) === CLOSE) return NONE
      } else if (key === 'min' || key === 'max' || key === 'sum' || key === 'sumsq') sums[key] = n
    }
    s.skipSpaces()
    s.take(COMMA)
  }
  s.skipSpaces()
  return samples === undefined || s.at !== end ? undefined : { samples, unit, ...sums, hist }
}
