/**
 * Parser of one field of a job_stats entry: a counter or one of its times. Each line is first compared with the line at the same position
 * of the previous entry (line-templates.ts), which is usually sufficient.
 */
import { byteText, bytesOf, COLON, DASH, DOT, NEWLINE, OPEN, RETURN, SPACE, startsWith, ZERO } from './bytes.ts'
import { CounterReader, type Counter } from './counter-line.ts'
import { MAX_LINE, TOO_LONG } from './line-chunks.ts'
import { behindLine, LineTemplates, type LineTemplate } from './line-templates.ts'

const TIMES: readonly string[] = ['snapshot_time', 'start_time', 'elapsed_time']
const LONGEST_NAME = 40
const LONGEST_TIME = 32
const COUNTER_START = bytesOf('{ samples:')

const isDigit = (c: number | undefined): boolean => c !== undefined && c >= ZERO && c < ZERO + 10
const isWord = (c: number): boolean => isDigit(c) || (c >= 97 && c <= 122) || c === 95 || (c >= 65 && c <= 90)

/** Index after a skipped line, newline included. */
const nextLine = (bytes: Uint8Array, at: number): number => bytes.indexOf(NEWLINE, at) + 1

export class FieldLine {
  readonly templates = new LineTemplates()
  readonly #reader = new CounterReader()
  /** Field of the line; undefined if it is not a field. */
  template: LineTemplate | undefined
  counter: Counter | undefined
  time = ''
  /** Reason why the line could not be read; empty if it could. */
  fault = ''
  /** Part of the counter that no release has; the rest is valid. */
  unknown = ''

  /**
   * Reads the line at `at`, whose newline is before `end`.
   *
   * @param isCut  the newline was added: the line may be truncated.
   * @returns      index after the line.
   */
  read(bytes: Uint8Array, at: number, end: number, isCut: boolean): number {
    const t = this.templates.next
    if (t !== undefined && !isCut) {
      const same = t.agrees(bytes, at, end)
      if (same === t.line.length) {
        const next = behindLine(bytes, at + same)
        if (next > 0) {
          this.template = t
          this.counter = t.counter
          this.time = t.time
          this.fault = this.unknown = ''
          this.templates.advance()
          return next
        }
      }
      if (same >= t.prefix) {
        const next = this.#value(t, bytes, at, t.prefix, false)
        if (next > 0) {
          this.templates.advance()
          return next
        }
      }
    }
    return this.#unexpected(bytes, at, isCut)
  }

  /** Handles a line that was not expected here, or is faulty. */
  #unexpected(bytes: Uint8Array, at: number, isCut: boolean): number {
    this.template = undefined
    this.unknown = ''
    const next = nextLine(bytes, at)
    if (next - at > MAX_LINE + 1) return this.#no(TOO_LONG, next)
    const { name, value } = fieldAt(bytes, at)
    if (name === '' && behindLine(bytes, value) > 0) return this.#no('', next)
    if (name === '') return this.#no(isCut ? 'cut off' : 'neither a counter nor a time', next)
    const isTime = TIMES.includes(name)
    if (!isTime && bytes[value] !== OPEN) {
      const isEmpty = value >= next - 2
      return this.#no(isCut && isEmpty ? `${name}: cut off` : `unknown field ${name}`, next)
    }
    const t = this.templates.named(name)
    if (this.#value(t, bytes, at, value - at, isCut) < 0) return this.#no(`${name}: ${this.fault}`, next)
    this.templates.jump(t)
    return next
  }

  #no(fault: string, next: number): number {
    this.fault = fault
    return next
  }

  /** Reads the part after the name; returns the index after the line, -1 for a fault. */
  #value(t: LineTemplate, bytes: Uint8Array, at: number, prefix: number, isCut: boolean): number {
    const isTime = bytes[at + prefix] !== OPEN
    this.fault = this.unknown = ''
    this.counter = undefined
    this.time = ''
    const next = isTime ? this.#readTime(bytes, at + prefix, isCut) : this.#readCounter(bytes, at + prefix)
    if (next < 0) return -1
    if (next - at > MAX_LINE + 1) {
      this.fault = TOO_LONG
      return -1
    }
    this.template = t
    // Idle counters repeat exactly; for the others the bytes before the value suffice.
    const { counter } = this as { counter: Counter | undefined }
    if (this.unknown === '' && (t.line.length === 0 || counter?.samples === 0)) {
      const to = bytes[next - 2] === RETURN ? next - 2 : next - 1
      t.learn(bytes.slice(at, to), prefix, counter, this.time)
    }
    return next
  }

  #readCounter(bytes: Uint8Array, from: number): number {
    const reader = this.#reader
    this.counter = reader.read(bytes, from)
    this.unknown = reader.unknown
    if (!this.counter) {
      this.fault = reader.fault
      return -1
    }
    reader.skipSpaces()
    const next = behindLine(bytes, reader.at)
    if (next < 0) this.fault = 'text after the counter'
    return next
  }

  /** `1763676486.123456789 secs.nsecs`, or whole seconds without a unit. */
  #readTime(bytes: Uint8Array, from: number, isCut: boolean): number {
    let at = from
    if (bytes[at] === DASH) at++
    const digits = at
    while (isDigit(bytes[at])) at++
    const isNumber = at > digits
    if (bytes[at] === DOT) {
      at++
      while (isDigit(bytes[at])) at++
    }
    const to = at
    while (bytes[at] === SPACE) at++
    const unit = at
    while (isWord(bytes[at] as number) || bytes[at] === DOT) at++
    const next = behindLine(bytes, at)
    const isTime = isNumber && bytes[to - 1] !== DOT && to - from <= LONGEST_TIME && (at === unit || unit > to)
    if (isCut && at === unit) this.fault = 'cut off'
    else if (next < 0 || !isTime) this.fault = 'not a time'
    else this.time = byteText(bytes, from, to)
    return this.fault === '' ? next : -1
  }
}

/** Parts of `  name:   value`. */
interface Field {
  /** '' if the line has another form. */
  readonly name: string
  /** Index of the value; without a name, of the text after the blanks. */
  readonly value: number
}

/** Returns name and value of the line at `from`. */
export function fieldAt(bytes: Uint8Array, from: number): Field {
  let at = from
  while (bytes[at] === SPACE) at++
  const start = at
  while (isWord(bytes[at] as number)) at++
  const length = at - start
  if (length === 0 || length > LONGEST_NAME || bytes[at] !== COLON) return { name: '', value: start }
  const name = byteText(bytes, start, at++)
  while (bytes[at] === SPACE) at++
  return { name, value: at }
}

/** True if the line at `from` is a counter of job_stats; no other parameter has one. */
export function isCounterAt(bytes: Uint8Array, from: number): boolean {
  const { name, value } = fieldAt(bytes, from)
  return name !== '' && startsWith(bytes, value, bytes.length, COUNTER_START)
}
