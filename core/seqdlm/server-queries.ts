/** What a client node asks data servers and waits for: reads and sizes, repeated when a server comes back. */
import { fail, ok, type Result } from '../base/result.ts'
import type { FromDataServer, ResourceId, ServerId, ToDataServer } from './messages.ts'
import type { Extent } from './ranges.ts'

export interface QueriesHost {
  readonly serverOf: (resource: ResourceId) => ServerId
  readonly send: (resource: ResourceId, message: ToDataServer) => void
}

type Query = Extract<ToDataServer, { reqId: number }>
type Reply = Exclude<FromDataServer, { kind: 'flush-reply' }>

interface Asked {
  readonly query: Query
  readonly answered: (reply: Reply) => void
}

export class ServerQueries {
  readonly #host: QueriesHost
  readonly #asked = new Map<number, Asked>()
  readonly #down = new Set<ServerId>()
  #lastReqId = 0

  constructor(host: QueriesHost) {
    this.#host = host
  }

  isDown(server: ServerId): boolean {
    return this.#down.has(server)
  }

  read(resource: ResourceId, { start, end }: Extent, done: (data: Uint8Array | null) => void): void {
    this.#ask({ kind: 'read-request', resource, reqId: ++this.#lastReqId, start, end }, (reply) => {
      if (reply.kind === 'read-reply') done(reply.data)
    })
  }

  size(resource: ResourceId, done: (size: number) => void): void {
    this.#ask({ kind: 'size-request', resource, reqId: ++this.#lastReqId }, (reply) => {
      if (reply.kind === 'size-reply') done(reply.size)
    })
  }

  /** Takes one reply in; a failure says why it changed nothing. */
  receive(reply: Reply): Result<void> {
    const asked = this.#asked.get(reply.reqId)
    if (asked === undefined) return fail({ code: 'E_REPEATED', what: `Query ${reply.reqId} was answered before` })
    this.#asked.delete(reply.reqId)
    asked.answered(reply)
    return ok(undefined)
  }

  down(server: ServerId): void {
    this.#down.add(server)
  }

  up(server: ServerId): void {
    this.#down.delete(server)
    for (const { query } of this.#asked.values()) {
      if (this.#host.serverOf(query.resource) === server) this.#host.send(query.resource, query)
    }
  }

  #ask(query: Query, answered: (reply: Reply) => void): void {
    this.#asked.set(query.reqId, { query, answered })
    if (!this.isDown(this.#host.serverOf(query.resource))) this.#host.send(query.resource, query)
  }
}
