/** Calls of a client to the metadata server, repeated after a reconnection until they are answered. */
import type { Address } from '#electron/wire/address.ts'
import type { PeerSecret } from '#electron/wire/peer-auth.ts'
import { Link } from './link.ts'
import { encoded, OP } from './meta-calls.ts'
import type { Answer } from './meta-store.ts'
import type { Welcome } from './wire/messages.ts'

interface Pending {
  readonly op: number
  readonly body: Buffer
  readonly answered: (answer: Answer) => void
  /** Answer if the client is closed before. */
  readonly onClosed: Answer
}

export interface MetaClientHost {
  readonly address: Address
  readonly secret: PeerSecret | undefined
  readonly name: string
  /** Nodes that are open, which a restarted server is told. */
  readonly openNodes: () => Iterable<number>
  readonly onRefused: (why: string) => void
}

export class MetaClient {
  readonly link: Link
  readonly #pending = new Map<number, Pending>()
  #lastReqId = 0
  #welcome: Welcome | undefined
  #isClosed = false
  readonly #waiting: ((welcome: Welcome | undefined) => void)[] = []

  constructor({ address, secret, name, openNodes, onRefused }: MetaClientHost) {
    this.link = new Link({
      address,
      secret,
      hello: () => ({
        kind: 'hello',
        role: 'client',
        client: this.#welcome?.client ?? 0,
        fileSystem: this.#welcome?.fileSystem ?? 0,
        server: 0,
        servers: 0,
        isReturning: this.#welcome !== undefined,
        name,
      }),
      onWelcome: (welcome) => {
        const isReturning = this.#welcome !== undefined
        this.#welcome = welcome
        const nodes = [...openNodes()]
        if (isReturning && nodes.length > 0) {
          const body = encoded((to) => nodes.forEach((node) => to.u64(node)))
          this.#send(++this.#lastReqId, OP.reopen, body)
        }
        for (const [reqId, { op, body }] of this.#pending) this.#send(reqId, op, body)
        for (const resolve of this.#waiting.splice(0)) resolve(welcome)
      },
      onMessage: (message) => {
        if (message.kind !== 'result') return
        const pending = this.#pending.get(message.reqId)
        this.#pending.delete(message.reqId)
        pending?.answered({ result: message.result, body: Buffer.from(message.body) })
      },
      onDown: () => undefined,
      onRefused: (_code, why) => {
        this.#end()
        onRefused(why)
      },
    })
  }

  /** The welcome of the server once it is reached; undefined if that takes longer than `ms` or it refuses. */
  welcome(ms: number): Promise<Welcome | undefined> {
    if (this.#welcome !== undefined || this.#isClosed) return Promise.resolve(this.#welcome)
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      setTimeout(() => resolve(undefined), ms).unref()
    })
  }

  /** Sends a call; waits while the server is away. A closed client answers with `onClosed`. */
  call(op: number, body: Buffer, onClosed: Answer): Promise<Answer> {
    if (this.#isClosed) return Promise.resolve(onClosed)
    return new Promise((answered) => {
      const reqId = ++this.#lastReqId
      this.#pending.set(reqId, { op, body, answered, onClosed })
      this.#send(reqId, op, body)
    })
  }

  async close(): Promise<void> {
    this.#end()
    await this.link.close()
  }

  #end(): void {
    this.#isClosed = true
    for (const { answered, onClosed } of this.#pending.values()) answered(onClosed)
    this.#pending.clear()
    for (const resolve of this.#waiting.splice(0)) resolve(undefined)
  }

  #send(reqId: number, op: number, body: Buffer): void {
    const answeredBelow = this.#pending.keys().next().value ?? reqId
    this.link.send({ kind: 'call', reqId, answeredBelow, op, body })
  }
}
