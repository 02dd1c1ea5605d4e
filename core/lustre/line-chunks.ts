/** Splits chunks of bytes into lines; copies only a line that crosses chunks, with bounded memory for any input. */
import { NEWLINE } from './bytes.ts'

/** Longest line that is processed, bytes without the newline. The longest that servers print has about 1,100. */
export const MAX_LINE = 16_384
export const TOO_LONG = `a line of more than ${MAX_LINE} bytes`

export interface LinesSink {
  /**
   * Receives complete lines.
   *
   * @param bytes   bytes[from, end) are lines; the last byte of them is a newline.
   * @param offset  offset of `from` in the stream.
   * @param isCut   this is the last line of the stream, and its newline was added.
   */
  lines(bytes: Uint8Array, from: number, end: number, offset: number, isCut: boolean): void
  /** Called for a line of more than MAX_LINE bytes, which is skipped. */
  longLine(): void
}

export class LineChunks {
  readonly #sink: LinesSink
  /** Incomplete last line of the chunks so far. */
  readonly #carry = new Uint8Array(MAX_LINE + 1)
  #carried = 0
  #isTooLong = false
  /** Bytes that came before those carried. */
  #offset = 0

  constructor(sink: LinesSink) {
    this.#sink = sink
  }

  /** Bytes of the stream so far. */
  get length(): number {
    return this.#offset + this.#carried
  }

  push(chunk: Uint8Array): void {
    let from = 0
    if (this.#carried > 0 || this.#isTooLong) {
      const newline = chunk.indexOf(NEWLINE)
      from = newline < 0 ? chunk.length : newline + 1
      this.#append(chunk, 0, from)
      if (newline >= 0) this.#flush(false)
    }
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > from) {
      this.#sink.lines(chunk, from, end, this.#offset, false)
      this.#offset += end - from
      from = end
    }
    this.#append(chunk, from, chunk.length)
  }

  /** Emits the last line, which has no newline. */
  end(): void {
    if (this.#carried === 0 && !this.#isTooLong) return
    this.#append(NEWLINES, 0, 1)
    this.#flush(true)
  }

  /** Skips bytes that were read elsewhere; they begin and end at line boundaries. */
  pass(bytes: number): void {
    this.#offset += bytes
  }

  #append(chunk: Uint8Array, from: number, to: number): void {
    if (from >= to) return
    if (this.#isTooLong || this.#carried + to - from > this.#carry.length) {
      this.#isTooLong = true
      this.#offset += this.#carried + to - from
      this.#carried = 0
      return
    }
    this.#carry.set(chunk.subarray(from, to), this.#carried)
    this.#carried += to - from
  }

  /** Emits the carried line, which now ends with a newline. */
  #flush(isCut: boolean): void {
    if (this.#isTooLong) this.#sink.longLine()
    else this.#sink.lines(this.#carry, 0, this.#carried, this.#offset, isCut)
    this.#offset += this.#carried
    this.#carried = 0
    this.#isTooLong = false
  }
}

const NEWLINES = Uint8Array.of(NEWLINE)
