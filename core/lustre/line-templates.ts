/**
 * The lines of an entry as the entry before had them. All entries of a target list the same counters in the same order, and
 * one that never moved has the same line in each of them, to the byte.
 */
import { NEWLINE, RETURN } from './bytes.ts'
import type { Counter } from './counter-line.ts'

/** One field of an entry. */
export class LineTemplate {
  readonly name: string
  /** The line it was last learnt from, without its end. */
  line: Uint8Array = new Uint8Array()
  /** Bytes before the value. */
  prefix = 0
  /** What that line says: a counter, or the text of a time. */
  counter: Counter | undefined
  time = ''
  /** Number of the last entry that had the field. */
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

  /** How many bytes from `at` on are as in the template. */
  agrees(bytes: Uint8Array, at: number, end: number): number {
    const { line } = this
    const n = Math.min(line.length, end - at)
    let i = 0
    while (i < n && bytes[at + i] === line[i]) i++
    return i
  }
}

/** Index behind the line that ends at `at`; -1 when none ends there. */
export function behindLine(bytes: Uint8Array, at: number): number {
  if (bytes[at] === NEWLINE) return at + 1
  return bytes[at] === RETURN && bytes[at + 1] === NEWLINE ? at + 2 : -1
}

/** Names that are remembered; a text of junk may hold any number of them. */
const MAX_NAMES = 1000

export class LineTemplates {
  readonly #byName = new Map<string, LineTemplate>()
  #order: LineTemplate[] = []
  #next = 0

  /** The field that is expected next. */
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

  /** The expected field came. */
  advance(): void {
    this.#next++
  }

  /** Another field came: what follows it is expected next. */
  jump(t: LineTemplate): void {
    const at = this.#order.indexOf(t)
    if (at < 0) this.#order.splice(this.#next, 0, t)
    this.#next = (at < 0 ? this.#next : at) + 1
  }

  /** An entry begins. */
  rewind(): void {
    this.#next = 0
  }

  /** Another target begins, perhaps of another kind. */
  forgetOrder(): void {
    this.#order = []
    this.#next = 0
  }
}
