/**
 * Connection of a client to one server that is made again when it breaks: hello, welcome, then messages. What was sent on a broken
 * connection may be lost; its owner repeats it.
 */
import type { Socket } from 'node:net'
import { formatFailure } from '#core/base/result.ts'
import { printAddress, type Address } from '#electron/wire/address.ts'
import { connectAuthenticated } from '#electron/wire/connect.ts'
import type { PeerSecret } from '#electron/wire/peer-auth.ts'
import { PURPOSE } from './places.ts'
import type { Hello, Welcome, WireMessage } from './wire/messages.ts'
import { Peer } from './wire/peer.ts'

const RETRY_MS = 100
const RETRY_MAX_MS = 2000
const CLOSE_MS = 1000

export interface LinkHost {
  readonly address: Address
  readonly secret: PeerSecret | undefined
  readonly hello: () => Hello
  readonly onWelcome: (welcome: Welcome) => void
  readonly onMessage: (message: WireMessage) => void
  /** Called when an established connection ended; it is made again. */
  readonly onDown: (why: string) => void
  /** Called when the server refuses this client: the link is not made again. */
  readonly onRefused: (code: string, why: string) => void
}

/** Reasons of a server to refuse a client for good. */
const FINAL = new Set(['E_EVICTED', 'E_PLACE', 'E_REPLACED'])

export class Link {
  readonly #host: LinkHost
  #socket: Socket | undefined
  #peer: Peer | undefined
  #retryMs = RETRY_MS
  #timer: NodeJS.Timeout | undefined
  #isUp = false
  #isClosed = false
  #trouble = 'it was not reached yet'

  constructor(host: LinkHost) {
    this.#host = host
    this.#connect()
  }

  get isUp(): boolean {
    return this.#isUp
  }

  get address(): string {
    return printAddress(this.#host.address)
  }

  /** Reason of the last failure. */
  get trouble(): string {
    return this.#trouble
  }

  /** Sends a message; false if the server is not connected, and nothing was sent. */
  send(message: WireMessage): boolean {
    if (!this.#isUp || this.#peer === undefined) return false
    this.#peer.send(message)
    return true
  }

  /** Ends the connection; done when the server has ended it, too, or after a second. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#peer?.flush()
    const socket = this.#socket
    if (socket === undefined || socket.destroyed) return
    await new Promise<void>((resolve) => {
      const late = setTimeout(() => socket.destroy(), CLOSE_MS)
      socket.once('close', () => {
        clearTimeout(late)
        resolve()
      })
      if (this.#isUp) socket.end()
      else socket.destroy()
    })
  }

  #connect(): void {
    if (this.#isClosed) return
    const { address, secret } = this.#host
    const opened = connectAuthenticated(
      address,
      { purpose: PURPOSE, secret },
      {
        onOpen: (socket) => this.#opened(socket),
        onTrouble: (why) => (this.#trouble = why),
        onClose: () => {
          if (this.#peer === undefined) this.#again()
        },
      },
    )
    if (opened.ok) this.#socket = opened.value
    else {
      this.#trouble = formatFailure(opened.error)
      this.#again()
    }
  }

  #opened(socket: Socket): void {
    const peer = new Peer(socket, {
      onMessage: (message) => this.#receive(message),
      onEnd: (why) => {
        this.#peer = undefined
        const wasUp = this.#isUp
        this.#isUp = false
        if (this.#isClosed) return
        if (wasUp || this.#trouble === '') this.#trouble = why
        if (wasUp) this.#host.onDown(why)
        this.#again()
      },
    })
    this.#peer = peer
    peer.send(this.#host.hello())
  }

  #receive(message: WireMessage): void {
    if (this.#isClosed) return
    if (message.kind === 'bye') {
      this.#trouble = message.why
      if (!FINAL.has(message.code)) return
      void this.close()
      this.#host.onRefused(message.code, message.why)
    } else if (message.kind === 'welcome') {
      this.#isUp = true
      this.#retryMs = RETRY_MS
      this.#host.onWelcome(message)
    } else if (this.#isUp) this.#host.onMessage(message)
  }

  #again(): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#connect(), this.#retryMs)
    this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MAX_MS)
  }
}
