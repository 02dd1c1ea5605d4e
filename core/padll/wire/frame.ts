/**
 * Frames: length, protocol version, type, request number, content. One decoder per connection; it takes chunks as they
 * arrive and returns whole messages. The first fault is final: a stream out of step cannot be trusted again.
 *
 * Source: docs/stage-protocol.md.
 */
import { fail, ok, type Failure, type Result } from '../../base/result.ts'
import { byteFailure, ByteReader, ByteWriter } from './bytes.ts'

export const WIRE_VERSION = 1
/** Bytes before the content, including the four of the length. */
export const HEAD_BYTES = 12

/** Messages of one direction of a connection. */
export interface Dialect<M> {
  /** Most bytes of a frame after its length. */
  readonly maxBytes: number
  readonly encode: (message: M) => Uint8Array
  readonly decode: (type: number, request: number, body: ByteReader) => M | undefined
}

// Shared: a frame is copied before the next one begins.
const draft = new ByteWriter()

/** Builds a frame with the output of `content`. */
export function frame(type: number, request: number, content: (to: ByteWriter) => void): Uint8Array {
  const to = draft
  to.clear()
  to.u32(0)
  to.u8(WIRE_VERSION)
  to.u8(type)
  to.u16(0)
  to.u32(request)
  content(to)
  to.patch32(0, to.length - 4)
  return to.bytes
}

const NOTHING = new Uint8Array(0)

export class FrameDecoder<M> {
  readonly #dialect: Dialect<M>
  #rest: Uint8Array = NOTHING
  #failure: Failure | undefined

  constructor(dialect: Dialect<M>) {
    this.#dialect = dialect
  }

  /** Bytes of an incomplete frame: never more than one frame. */
  get pending(): number {
    return this.#rest.length
  }

  /**
   * Takes a chunk; its bytes may be overwritten afterwards.
   *
   * @returns the completed messages. Codes: W_VERSION, W_LENGTH, W_TYPE, W_RESERVED and those of `ByteFault`; after a
   *   failure always the same one. Messages before the faulty one in the same chunk are lost with it.
   */
  push(chunk: Uint8Array): Result<M[]> {
    const messages: M[] = []
    if (this.#failure !== undefined) return fail(this.#failure)
    const bytes = this.#rest.length === 0 ? chunk : joined(this.#rest, chunk)
    let at = 0
    while (this.#failure === undefined) {
      const used = this.#one(bytes, at, messages)
      if (used === 0) break
      at += used
    }
    if (this.#failure !== undefined) {
      this.#rest = NOTHING
      return fail(this.#failure)
    }
    this.#rest = bytes.slice(at)
    return ok(messages)
  }

  #wrong(code: string, what: string): number {
    this.#failure = { code, what }
    return 0
  }

  /** Reads one frame; returns the bytes used, 0 if it is incomplete or faulty. */
  #one(bytes: Uint8Array, at: number, messages: M[]): number {
    if (bytes.length - at < 4) return 0
    const head = new ByteReader(bytes, at)
    const length = head.u32()
    if (length < HEAD_BYTES - 4 || length > this.#dialect.maxBytes) {
      return this.#wrong('W_LENGTH', `a frame of ${length} bytes`)
    }
    if (bytes.length - at > 4 && bytes[at + 4] !== WIRE_VERSION) {
      return this.#wrong('W_VERSION', `protocol version ${bytes[at + 4] ?? 0}; this is ${WIRE_VERSION}`)
    }
    if (bytes.length - at < 4 + length) return 0
    head.u8()
    const type = head.u8()
    if (head.u16() !== 0) return this.#wrong('W_RESERVED', 'reserved bytes are not 0')
    const request = head.u32()
    const body = new ByteReader(bytes, at + HEAD_BYTES, at + 4 + length)
    const message = this.#dialect.decode(type, request, body)
    if (message === undefined) return this.#wrong('W_TYPE', `message type ${type}`)
    const { fault } = body
    if (fault !== undefined) {
      this.#failure = byteFailure(fault, `A message of type ${type} cannot be read`)
      return 0
    }
    messages.push(message)
    return 4 + length
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
