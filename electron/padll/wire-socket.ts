/** Messages over a stream socket: bounded both ways, and any fault of the other side ends the connection with a reason. */
import type { Socket } from 'node:net'
import { formatFailure } from '#core/base/result.ts'
import { FrameDecoder, type Dialect } from '#core/padll/wire/frame.ts'

/** Most that may wait to be taken by the other side, in frames of the largest size. */
const FRAMES_WAITING = 4

export interface WireHandlers<In> {
  readonly onMessage: (message: In) => void
  /** Once; why the connection ended. */
  readonly onEnd: (why: string) => void
}

export class WireSocket<In, Out> {
  readonly #socket: Socket
  readonly #said: Dialect<Out>
  #ended = false
  #why = 'the connection was closed'

  constructor(socket: Socket, heard: Dialect<In>, said: Dialect<Out>, handlers: WireHandlers<In>) {
    this.#socket = socket
    this.#said = said
    const decoder = new FrameDecoder(heard)
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

  /** Whether it was taken; one who does not read is not waited for. */
  send(message: Out): boolean {
    if (this.#ended) return false
    if (this.#socket.writableLength > FRAMES_WAITING * this.#said.maxBytes) {
      this.end('it does not take what it is sent')
      return false
    }
    this.#socket.write(this.#said.encode(message))
    return true
  }

  end(why: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#why = why
    this.#socket.destroy()
  }

  /** Ends after what was sent has gone out, a second later at most. */
  finish(why: string): void {
    if (this.#ended) return
    this.#why = why
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), 1000).unref()
  }
}
