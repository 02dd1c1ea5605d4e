/** Clients and servers whose messages arrive at once or in random order, without loss: for tests of whole files. */
import type { RandomStream } from '#core/base/random.ts'
import { CcpfsClient, type ClientLimits } from '#core/seqdlm/ccpfs-client.ts'
import type { Done } from '#core/seqdlm/operation.ts'
import { MemoryDevice } from '#core/seqdlm/device.ts'
import { ExtentLog } from '#core/seqdlm/extent-log.ts'
import type { LockObserver } from '#core/seqdlm/lock-events.ts'
import { isOrdered, type Message } from '#core/seqdlm/messages.ts'
import type { DlmPolicy } from '#core/seqdlm/policy.ts'
import { ServerNode } from '#core/seqdlm/server-node.ts'

export interface SmallClusterOptions {
  readonly policy: DlmPolicy
  readonly clients: number
  readonly servers: number
  readonly content?: boolean
  /** Random order of arrival; by default the order of sending. */
  readonly random?: RandomStream
  readonly threshold?: number
  readonly limits?: Partial<ClientLimits>
  readonly observe?: LockObserver
}

interface Channel {
  readonly isLoose: boolean
  readonly messages: { readonly message: Message; readonly deliver: () => void }[]
}

export class SmallCluster {
  readonly clients: CcpfsClient[] = []
  readonly servers: ServerNode[] = []
  /** Messages delivered, by kind. */
  readonly delivered = new Map<Message['kind'], number>()
  /** Reasons of messages without effect. */
  readonly failures: string[] = []
  readonly #channels = new Map<string, Channel>()
  readonly #random: RandomStream | undefined

  constructor({ policy, clients, servers, content = true, random, threshold, limits, observe }: SmallClusterOptions) {
    this.#random = random
    for (let s = 0; s < servers; s++) {
      this.servers.push(
        new ServerNode({
          policy,
          threshold,
          observe,
          now: () => 0,
          device: new MemoryDevice(content),
          log: new ExtentLog(),
          send: (client, message) =>
            this.#post(`s${s}c${client}`, message, () => this.clients[client]?.receive(s, message)),
          defer: (task) => this.#put(`defer${s}`, { kind: 'recover-open' }, task),
        }),
      )
    }
    for (let c = 0; c < clients; c++) {
      this.clients.push(
        new CcpfsClient({
          policy,
          content,
          limits,
          serverOf: (resource) => resource % servers,
          send: (server, message) =>
            this.#post(`c${c}s${server}`, message, () => this.servers[server]?.receive(c, message)),
        }),
      )
    }
  }

  count(kind: Message['kind']): number {
    return this.delivered.get(kind) ?? 0
  }

  /** Runs operations and delivers messages until none are left; results in the order of starting. */
  all<T>(operations: readonly ((done: Done<T>) => void)[]): T[] {
    const results: T[] = []
    let remaining = operations.length
    for (const [i, operation] of operations.entries()) {
      operation((result) => {
        if (!result.ok) throw new Error(`${result.error.code}: ${result.error.what}`)
        results[i] = result.value
        remaining--
      })
    }
    this.settle()
    if (remaining > 0) throw new Error(`${remaining} operations never returned`)
    return results
  }

  one<T>(operation: (done: Done<T>) => void): T {
    return this.all([operation])[0] as T
  }

  settle(): void {
    while (this.step());
  }

  /** Delivers one message, except those that `holdBack` selects; false if there is none. */
  step(holdBack: (message: Message) => boolean = () => false): boolean {
    const open = [...this.#channels.values()].filter((c) => c.messages.some((m) => !holdBack(m.message)))
    const channel = open[this.#random?.below(Math.max(open.length, 1)) ?? 0]
    if (channel === undefined) return false
    const first = channel.messages.findIndex((m) => !holdBack(m.message))
    const at = channel.isLoose && this.#random ? this.#random.below(channel.messages.length) : first
    const [taken] = channel.messages.splice(at, 1)
    taken?.deliver()
    return true
  }

  #post(
    pair: string,
    message: Message,
    receive: () => { readonly ok: boolean; readonly error?: { readonly code: string } } | undefined,
  ): void {
    this.#put(isOrdered(message) ? pair : `${pair} data`, message, () => {
      this.delivered.set(message.kind, this.count(message.kind) + 1)
      const result = receive()
      if (result?.error) this.failures.push(result.error.code)
    })
  }

  #put(key: string, message: Message, deliver: () => void): void {
    let channel = this.#channels.get(key)
    if (channel === undefined) this.#channels.set(key, (channel = { isLoose: key.endsWith('data'), messages: [] }))
    channel.messages.push({ message, deliver })
  }
}
