/** Proxy between clients and a ccPFS server that can end its connections in the middle of a message. */
import { connect, createServer, type Server, type Socket } from 'node:net'

class Pair {
  readonly #near: Socket
  readonly #far: Socket
  readonly #onEnd: (pair: Pair) => void
  /** Bytes until the end, both directions together. */
  remaining = Infinity

  constructor(near: Socket, far: Socket, onEnd: (pair: Pair) => void) {
    this.#near = near
    this.#far = far
    this.#onEnd = onEnd
    this.#pass(near, far)
    this.#pass(far, near)
  }

  end(): void {
    this.#onEnd(this)
    this.#near.destroy()
    this.#far.destroy()
  }

  #pass(from: Socket, to: Socket): void {
    from.on('error', () => this.end())
    from.on('close', () => this.end())
    from.on('data', (chunk: Buffer) => {
      this.remaining -= chunk.length
      if (this.remaining > 0) to.write(chunk)
      else if (this.remaining > -chunk.length) to.write(chunk.subarray(0, this.remaining), () => this.end())
    })
  }
}

export class CutProxy {
  readonly #server: Server
  readonly #pairs = new Set<Pair>()

  private constructor(target: () => string) {
    this.#server = createServer((near) => {
      const [host, port] = target().split(':')
      this.#pairs.add(new Pair(near, connect(Number(port), host), (pair) => this.#pairs.delete(pair)))
    })
  }

  /** @param target  address of the server, read for each connection. */
  static async listen(target: () => string): Promise<CutProxy> {
    const proxy = new CutProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get address(): string {
    const at = this.#server.address()
    if (at === null || typeof at === 'string') throw new Error('the proxy does not listen')
    return `127.0.0.1:${at.port}`
  }

  /** Ends the connections of now after further bytes of each. */
  cutAfter(bytes: number): void {
    for (const pair of this.#pairs) pair.remaining = bytes
  }

  close(): void {
    this.#server.close()
    for (const pair of this.#pairs) pair.end()
  }
}
