/**
 * Messages over a stream socket. Frames of one turn leave in one write; the bytes of received data share the memory of their frame. Any
 * fault of the other end closes the connection with a reason; bounds hold in both directions.
 */
import type { Socket } from 'node:net'
import { payloadBytes, type Message } from '#core/seqdlm/messages.ts'
import { WireReader, WireWriter } from './bytes.ts'
import { FrameSplitter } from './frames.ts'
import { FRAME_MAX, HEAD_BYTES, readMessage, writeMessage, type WireMessage } from './messages.ts'

/** Largest backlog of unsent bytes to one peer. */
const BACKLOG_MAX = 256 << 20
/** Unsent bytes above which file data wait, so that messages about locks pass them. */
const DATA_AHEAD = 128 << 10

export interface PeerHandlers {
  readonly onMessage: (message: WireMessage) => void
  /** Called once, with the reason for the end of the connection. */
  readonly onEnd: (why: string) => void
  /** Stores state on which frames rely, before they leave; false if that failed, and they must not leave. */
  readonly beforeSend?: (() => boolean) | undefined
}

export class Peer {
  readonly #socket: Socket
  readonly #out = new WireWriter()
  /** Messages with file data that wait for the socket; they may arrive in any order. */
  readonly #data: Message[] = []
  #dataBytes = 0
  readonly #handlers: PeerHandlers
  #isScheduled = false
  #isReceiving = false
  #isOver = false
  #why = 'the connection was closed'
  received = 0
  sent = 0

  constructor(socket: Socket, handlers: PeerHandlers) {
    this.#socket = socket
    this.#handlers = handlers
    const frames = new FrameSplitter(HEAD_BYTES, FRAME_MAX)
    const onFrame = (buffer: Buffer, start: number, end: number): boolean => {
      const message = readMessage(new WireReader(buffer, start, end))
      if (typeof message === 'string') this.end(message)
      else {
        this.received++
        handlers.onMessage(message)
      }
      return !this.#isOver
    }
    socket.on('data', (chunk: Buffer) => {
      if (this.#isOver) return
      this.#isReceiving = true
      const why = frames.push(chunk, onFrame)
      this.#isReceiving = false
      if (why !== undefined) this.end(why)
      else this.flush()
    })
    socket.on('drain', () => this.flush())
    socket.on('error', (e) => (this.#why = e.message))
    socket.on('close', () => this.#over(this.#why))
  }

  /** True once nothing more is sent or received. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Sends a message at the end of this turn. */
  send(message: WireMessage): void {
    if (this.#isOver) return
    if (message.kind === 'flush-request' || message.kind === 'read-reply') {
      this.#data.push(message)
      this.#dataBytes += payloadBytes(message)
    } else writeMessage(this.#out, message)
    this.sent++
    if (this.#isScheduled || this.#isReceiving) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.flush()
    })
  }

  /** Writes what was sent so far to the socket. */
  flush(): void {
    if (this.#isOver) return
    let ahead = this.#socket.writableLength
    while (this.#data.length > 0 && ahead < DATA_AHEAD) {
      const message = this.#data.shift() as Message
      const bytes = payloadBytes(message)
      writeMessage(this.#out, message)
      ahead += bytes
      this.#dataBytes -= bytes
    }
    if (this.#out.length > 0) this.#write()
    if (this.#socket.writableLength + this.#dataBytes > BACKLOG_MAX) this.end('it does not read its messages')
  }

  #write(): void {
    if (this.#handlers.beforeSend?.() === false) {
      this.#socket.destroy()
      return
    }
    const parts = this.#out.take()
    this.#socket.cork()
    for (const part of parts) this.#socket.write(part)
    this.#socket.uncork()
  }

  /** Ends the connection at once, after a last message with the reason. */
  end(why: string, code = 'E_PROTOCOL'): void {
    if (this.#isOver) return
    writeMessage(this.#out, { kind: 'bye', code, why })
    this.#write()
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), 1000).unref()
    this.#over(why)
  }

  #over(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#handlers.onEnd(why)
  }
}
