/**
 * Splits a stream into frames: a length of 4 bytes (little-endian, not counting itself) and that many bytes. A frame within one
 * chunk is passed on without a copy; a longer one is collected in a buffer of its own.
 */

/** Called with the bytes of one frame after its length; false to stop. */
export type OnFrame = (buffer: Buffer, start: number, end: number) => boolean

const LENGTH_BYTES = 4

export class FrameSplitter {
  readonly #maxBytes: number
  readonly #minBytes: number
  /** Bytes of a length that a chunk ended in. */
  readonly #head = Buffer.alloc(LENGTH_BYTES)
  #headBytes = 0
  /** Frame that is being collected. */
  #frame: Buffer | null = null
  #filled = 0
  #isOver = false

  /** @param maxBytes  longest frame after its length. */
  constructor(minBytes: number, maxBytes: number) {
    this.#minBytes = minBytes
    this.#maxBytes = maxBytes
  }

  /**
   * Takes a chunk.
   *
   * @returns the reason for which the stream cannot continue; undefined otherwise.
   */
  push(chunk: Buffer, onFrame: OnFrame): string | undefined {
    let at = 0
    while (at < chunk.length && !this.#isOver) {
      if (this.#frame !== null) {
        const taken = Math.min(this.#frame.length - this.#filled, chunk.length - at)
        chunk.copy(this.#frame, this.#filled, at, at + taken)
        this.#filled += taken
        at += taken
        if (this.#filled < this.#frame.length) return undefined
        const frame = this.#frame
        this.#frame = null
        if (!onFrame(frame, 0, frame.length)) this.#isOver = true
        continue
      }
      let length: number
      if (this.#headBytes === 0 && chunk.length - at >= LENGTH_BYTES) {
        length = chunk.readUInt32LE(at)
        at += LENGTH_BYTES
      } else {
        while (at < chunk.length && this.#headBytes < LENGTH_BYTES)
          this.#head[this.#headBytes++] = chunk[at++] as number
        if (this.#headBytes < LENGTH_BYTES) return undefined
        length = this.#head.readUInt32LE(0)
        this.#headBytes = 0
      }
      if (length < this.#minBytes || length > this.#maxBytes) {
        this.#isOver = true
        return `a frame of ${length} bytes is announced; ${this.#minBytes} to ${this.#maxBytes} are possible`
      }
      if (chunk.length - at >= length) {
        if (!onFrame(chunk, at, at + length)) this.#isOver = true
        at += length
        continue
      }
      this.#frame = Buffer.allocUnsafeSlow(length)
      this.#filled = 0
    }
    return undefined
  }
}
