/**
 * Line templates learned from the previous entry. All entries of a target list the same counters in the same order, and an idle counter
 * has an identical line in each of them.
 */
import { NEWLINE, RETURN } from './bytes.ts'
import type { Counter } from './counter-line.ts'

/** One field of an entry. */
export class LineTemplate {
  readonly name: string
  /** Line from which it was last learned, without its end. */
  line: Uint8Array = new Uint8Array()
  /** Bytes before the value. */
  prefix = 0
  /** Value of that line: a counter, or the text of a time. */
  counter: Counter | undefined
  time = ''
  /** Number of the last entry with the field. */
  seen = 0

  constructor(name: string) {
    this.name = name
  }

  learn(line: Uint8Array, prefix: number, counter: Counter | undefined, time: string): void {
    this.line = line
    this.prefix = prefix
    this.counter = counter
    this.time = time
  }

  /** Returns the number of bytes from `at` on that match the template. */
  agrees(bytes: Uint8Array, at: number, end: number): number {
    const { line } = this
    const n = Math.min(line.length, end - at)
    let i = 0
    while (i < n && bytes[at + i] === line[i]) i++
    return i
  }
}

/** Returns the index after the line that ends at `at`; -1 if none ends there. */
export function behindLine(bytes: Uint8Array, at: number): number {
  if (bytes[at] === NEWLINE) return at + 1
  return bytes[at] === RETURN && bytes[at + 1] === NEWLINE ? at + 2 : -1
}

/** Names remembered; junk text may contain any number of them. */
const MAX_NAMES = 1000

export class LineTemplates {
  readonly #byName = new Map<string, LineTemplate>()
  #order: LineTemplate[] = []
  #next = 0

  /** The field expected next. */
  get next(): LineTemplate | undefined {
    return this.#order[this.#next]
  }

  named(name: string): LineTemplate {
    let t = this.#byName.get(name)
    if (t) return t
    if (this.#byName.size >= MAX_NAMES) {
      this.#byName.clear()
      this.forgetOrder()
    }
    t = new LineTemplate(name)
    this.#byName.set(name, t)
    return t
  }

  /** The expected field was found. */
  advance(): void {
    this.#next++
  }

  /** Another field was found: its successor is expected next. */
  jump(t: LineTemplate): void {
    const at = this.#order.indexOf(t)
    if (at < 0) this.#order.splice(this.#next, 0, t)
    this.#next = (at < 0 ? this.#next : at) + 1
  }

  /** Begins an entry. */
  rewind(): void {
    this.#next = 0
  }

  /** Begins another target, perhaps of another kind. */
  forgetOrder(): void {
    this.#order = []
    this.#next = 0
  }
}
