/** Messages over a stream socket: bounded in both directions; any protocol error of the peer ends the connection with a reason. */
import type { Socket } from 'node:net'
import { formatFailure } from '#core/base/result.ts'
import { FrameDecoder, type Dialect } from '#core/padll/wire/frame.ts'

/** Largest backlog of unsent data, in frames of the largest size. */
const FRAMES_WAITING = 4

export interface WireHandlers<In> {
  readonly onMessage: (message: In) => void
  /** Called once, with the reason for the end of the connection. */
  readonly onEnd: (why: string) => void
}

export class WireSocket<In, Out> {
  readonly #socket: Socket
  readonly #outgoing: Dialect<Out>
  #ended = false
  #why = 'the connection was closed'

  constructor(socket: Socket, incoming: Dialect<In>, outgoing: Dialect<Out>, handlers: WireHandlers<In>) {
    this.#socket = socket
    this.#outgoing = outgoing
    const decoder = new FrameDecoder(incoming)
    socket.on('data', (chunk: Buffer) => {
      const messages = decoder.push(chunk)
      if (!messages.ok) return this.end(formatFailure(messages.error))
      for (const message of messages.value) if (!this.#ended) handlers.onMessage(message)
    })
    socket.on('error', (e) => (this.#why = e.message))
    socket.on('close', () => {
      this.#ended = true
      handlers.onEnd(this.#why)
    })
  }

  get isEnded(): boolean {
    return this.#ended
  }

  /** Returns true if the message was accepted; a peer that does not read is disconnected. */
  send(message: Out): boolean {
    if (this.#ended) return false
    if (this.#socket.writableLength > FRAMES_WAITING * this.#outgoing.maxBytes) {
      this.end('it does not read its messages')
      return false
    }
    this.#socket.write(this.#outgoing.encode(message))
    return true
  }

  end(why: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#why = why
    this.#socket.destroy()
  }

  /** Ends the connection after pending data was sent, at most a second later. */
  finish(why: string): void {
    if (this.#ended) return
    this.#why = why
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), 1000).unref()
  }
}
