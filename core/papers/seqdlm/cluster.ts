/**
 * ccPFS on the paper's cluster: the clients and servers of core/seqdlm on the event kernel, with every message and every copy
 * charged. Extents only; no bytes are carried.
 *
 * Source: spec/seqdlm 16. The lock service of a server is one CPU that takes messages in order of arrival; data go over both
 * network ports, one after the other, through an IO thread of their own to a device that takes them in order.
 */
import { randomStream, type RandomStream } from '../../base/random.ts'
import { CcpfsClient, type ClientLimits, type WorkKind } from '../../seqdlm/ccpfs-client.ts'
import type { Device } from '../../seqdlm/device.ts'
import type { LockObserver } from '../../seqdlm/lock-events.ts'
import { isOrdered, payloadBytes, type Block, type ToClient, type ToServer } from '../../seqdlm/messages.ts'
import type { DlmPolicy } from '../../seqdlm/policy.ts'
import { ServerNode } from '../../seqdlm/server-node.ts'
import { Simulation } from '../../sim/simulation.ts'
import { COSTS, type Costs } from './costs.ts'
import { Fifo, Line, Pipe } from './pipe.ts'

export const US = 1000
const PAGE = 4096

export interface ClusterOptions {
  readonly policy: DlmPolicy
  readonly clients: number
  readonly servers: number
  readonly seed: number
  readonly costs?: Costs
  /** Whether writers fill pages that are in the caches, or fresh ones. */
  readonly pages: 'hot' | 'cold'
  readonly limits?: Partial<ClientLimits>
  /** Entries of a server's extent cache above which cleaning starts. */
  readonly threshold?: number
  readonly observe?: LockObserver
}

export class Cluster {
  readonly sim = new Simulation()
  readonly costs: Costs
  readonly clients: CcpfsClient[] = []
  readonly servers: ServerNode[] = []
  /** Time between the end of staging and the locks, of every client, ns. */
  readonly lockingNs: Float64Array
  readonly #random: RandomStream
  readonly #stagedAt: Float64Array
  readonly #stageNsPerByte: number
  readonly #ports: Line[]

  constructor(options: ClusterOptions) {
    const { clients, servers, seed, policy, costs = COSTS, pages, limits } = options
    this.costs = costs
    this.#random = randomStream(seed, `seqdlm/${policy.name}`)
    this.lockingNs = new Float64Array(clients)
    this.#stagedAt = new Float64Array(clients)
    this.#stageNsPerByte = US / (pages === 'hot' ? costs.hotMBps : costs.coldMBps)
    this.#ports = Array.from({ length: clients + servers }, () => new Line())
    for (let s = 0; s < servers; s++) this.servers.push(this.#server(s, options))
    for (let c = 0; c < clients; c++) this.clients.push(this.#client(c, servers, policy, limits))
  }

  /** A cost in ns with its variation. */
  vary(us: number): number {
    const { jitter } = this.costs
    return us * US * (1 + jitter * (2 * this.#random.uniform() - 1))
  }

  /** Goes on after a time. */
  wait(us: number, then: () => void): void {
    this.sim.after(this.vary(us), then)
  }

  /** An instant within the start skew, ns. */
  skew(): number {
    return Math.ceil(this.#random.uniform() * this.costs.skewUs * US)
  }

  #client(c: number, servers: number, policy: DlmPolicy, limits: Partial<ClientLimits> | undefined): CcpfsClient {
    const { sim, costs } = this
    const up: Pipe<ToServer>[] = []
    for (let s = 0; s < servers; s++) {
      const cpu = this.#cpus[s] as LockCpu
      up.push(new Pipe<ToServer>(sim, (message) => cpu.take(c, message)))
    }
    return new CcpfsClient({
      ...{ policy, limits, content: false, serverOf: (resource) => resource % servers },
      send: (s, message) => {
        if (isOrdered(message)) (up[s] as Pipe<ToServer>).send(sim.now + this.vary(costs.rttUs / 2), message)
        else this.#dataUp(c, s, message)
      },
      work: (kind, bytes, then) => {
        const ns = this.#workNs(kind, bytes)
        if (kind === 'stage') this.#stagedAt[c] = sim.now + ns
        else if (kind === 'insert') this.lockingNs[c]! += sim.now - (this.#stagedAt[c] as number)
        sim.after(ns, then)
      },
    })
  }

  readonly #cpus: LockCpu[] = []

  #server(s: number, { clients, policy, observe, threshold }: ClusterOptions): ServerNode {
    const { sim, costs } = this
    const down: Pipe<ToClient>[] = []
    for (let c = 0; c < clients; c++) {
      down.push(new Pipe<ToClient>(sim, (message) => void this.clients[c]?.receive(s, message)))
    }
    const cpu: LockCpu = new LockCpu(this, (client, message) => void server.receive(client, message))
    this.#cpus.push(cpu)
    const server = new ServerNode({
      ...{
        policy,
        observe,
        threshold,
        now: () => sim.now,
        device: this.#device(),
        defer: (task) => sim.after(10 * US, task),
      },
      send: (c, message) => {
        if (!isOrdered(message)) {
          this.#dataDown(s, c, message)
          return
        }
        if (message.kind === 'revoke') cpu.spend(this.vary(costs.revokeUs))
        ;(down[c] as Pipe<ToClient>).send(cpu.leavesAt + this.vary(costs.rttUs / 2 + costs.clientUs), message)
      },
    })
    return server
  }

  #workNs(kind: WorkKind, bytes: number): number {
    const { stageUs, insertUs, insertMBps } = this.costs
    const factor = this.vary(1) / US
    if (kind === 'insert') return factor * (insertUs + bytes / insertMBps) * US
    return factor * (stageUs * US + bytes * this.#stageNsPerByte)
  }

  /** From a client's port to the server's, one after the other, then an IO thread. */
  #dataUp(c: number, s: number, message: ToServer): void {
    const { sim, costs } = this
    const wireNs = (payloadBytes(message) / costs.netMBps) * US
    const serverPort = this.#ports[this.lockingNs.length + s] as Line
    const sentAt = (this.#ports[c] as Line).take(sim.now, wireNs)
    sim.at(Math.ceil(sentAt + this.vary(costs.verbsUs / 2)), () => {
      const arrivedAt = serverPort.take(sim.now, wireNs)
      sim.at(Math.ceil(arrivedAt + this.vary(costs.ioUs)), () => void this.servers[s]?.receive(c, message))
    })
  }

  #dataDown(s: number, c: number, message: ToClient): void {
    const { sim, costs } = this
    const wireNs = (payloadBytes(message) / costs.netMBps) * US
    const sentAt = (this.#ports[this.lockingNs.length + s] as Line).take(sim.now, wireNs)
    sim.at(Math.ceil(sentAt + this.vary(costs.verbsUs / 2)), () => void this.clients[c]?.receive(s, message))
  }

  #device(): Device {
    const { sim, costs } = this
    const line = new Line()
    const sizes = new Map<number, number>()
    const deviceNs = (bytes: number): number => (this.vary(1) * bytes) / costs.deviceMBps
    return {
      write: (resource, blocks, done) => {
        let ns = 0
        let size = sizes.get(resource) ?? 0
        for (const block of blocks) {
          ns += this.#extentNs(block) + deviceNs(block.end - block.start)
          size = Math.max(size, block.end)
        }
        sizes.set(resource, size)
        sim.at(line.take(sim.now, ns), done)
      },
      read: (_, start, end, done) =>
        sim.at(line.take(sim.now, costs.extentUs * US + deviceNs(end - start)), () => done(null)),
      size: (resource) => sizes.get(resource) ?? 0,
    }
  }

  #extentNs({ start, end }: Block): number {
    const { extentUs, unalignedUs } = this.costs
    return (start % PAGE === 0 && end % PAGE === 0 ? extentUs : unalignedUs) * US
  }
}

/** The CPU of a lock service: one message after the other; what it sends costs time that the next one waits for. */
class LockCpu {
  readonly #cluster: Cluster
  readonly #receive: (client: number, message: ToServer) => void
  readonly #clients = new Fifo<number>()
  readonly #messages = new Fifo<ToServer>()
  #isBusy = false
  /** End of what is being done now, ns. */
  doneAt = 0

  constructor(cluster: Cluster, receive: (client: number, message: ToServer) => void) {
    this.#cluster = cluster
    this.#receive = receive
  }

  take(client: number, message: ToServer): void {
    this.#clients.push(client)
    this.#messages.push(message)
    if (!this.#isBusy) this.#begin(message)
  }

  /** Work that a message brings about, ns. */
  spend(ns: number): void {
    this.doneAt = this.leavesAt + ns
  }

  /** When what is sent now leaves, ns. */
  get leavesAt(): number {
    return Math.max(this.doneAt, this.#cluster.sim.now)
  }

  #begin(message: ToServer): void {
    const { sim, costs } = this.#cluster
    this.#isBusy = true
    const { rpcUs, lockUs, revokeReplyUs } = costs
    const us =
      message.kind === 'lock-request' ? rpcUs + lockUs : message.kind === 'revoke-reply' ? revokeReplyUs : rpcUs
    this.doneAt = this.leavesAt + this.#cluster.vary(us)
    sim.at(Math.ceil(this.doneAt), this.#end)
  }

  readonly #end = (): void => {
    const message = this.#messages.shift()
    this.doneAt = this.#cluster.sim.now
    this.#receive(this.#clients.shift(), message)
    this.#isBusy = false
    if (this.#messages.length > 0) this.#begin(this.#messages.first)
  }
}
