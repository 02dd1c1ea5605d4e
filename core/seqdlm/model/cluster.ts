/**
 * ccPFS on a cluster: its clients and servers on the event kernel, with every message and every copy charged. Extents
 * only; no bytes are carried.
 *
 * Source: spec/seqdlm 16. The lock service of a server is one CPU that takes messages in order of arrival; data go over
 * both network ports, one after the other, through a dedicated IO thread to a device that takes them in order.
 */
import { randomStream, type RandomStream } from '../../base/random.ts'
import { Simulation } from '../../sim/simulation.ts'
import { CcpfsClient, type ClientLimits, type WorkKind } from '../ccpfs-client.ts'
import type { Device } from '../device.ts'
import { isOrdered, payloadBytes, type Block, type ClientId, type ToClient, type ToServer } from '../messages.ts'
import type { DlmPolicy } from '../policy.ts'
import { ServerNode } from '../server-node.ts'
import type { TraceFeed } from '../trace/trace.ts'
import { Connection } from './connection.ts'
import { COSTS, type Costs } from './costs.ts'
import { LockCpu } from './lock-cpu.ts'
import { Line, Pipe } from './pipe.ts'

export const US = 1000
const PAGE = 4096

export interface ClusterOptions {
  readonly policy: DlmPolicy
  readonly clients: number
  readonly servers: number
  readonly seed: number
  /** Simulation to use; default: a new one. */
  readonly sim?: Simulation | undefined
  readonly costs?: Costs | undefined
  /** Pages that writers fill: those in the caches, or fresh ones. */
  readonly pages: 'hot' | 'cold'
  readonly limits?: Partial<ClientLimits> | undefined
  /** Entries of a server's extent cache above which cleaning starts. */
  readonly threshold?: number | undefined
  /** Receives every step of every lock. */
  readonly observe?: TraceFeed['observe'] | undefined
  /** Receives every message when it is sent, and when its receiver processes it (including a lock server's CPU). */
  readonly messages?: Pick<TraceFeed, 'sent' | 'arrived'> | undefined
}

export class Cluster {
  readonly sim: Simulation
  readonly costs: Costs
  /** An evicted client is replaced by a new one for its next connection. */
  readonly clients: CcpfsClient[] = []
  readonly servers: ServerNode[] = []
  /** Time of every client between the end of staging and the locks, ns. */
  readonly lockingNs: Float64Array
  readonly #options: ClusterOptions
  readonly #random: RandomStream
  readonly #stagedAt: Float64Array
  readonly #stageNsPerByte: number
  readonly #ports: Line[]
  readonly #cpus: LockCpu[] = []
  readonly #connections: Connection[] = []
  /** Pipes from each server to each client. */
  readonly #down: Pipe<ToClient>[][] = []
  /** Connection whose message a server is processing. */
  #serving: Connection | undefined

  constructor(options: ClusterOptions) {
    const { clients, servers, seed, policy, costs = COSTS, pages } = options
    this.#options = options
    this.sim = options.sim ?? new Simulation()
    this.costs = costs
    this.#random = randomStream(seed, `seqdlm/${policy.name}`)
    this.lockingNs = new Float64Array(clients)
    this.#stagedAt = new Float64Array(clients)
    this.#stageNsPerByte = US / (pages === 'hot' ? costs.hotMBps : costs.coldMBps)
    this.#ports = Array.from({ length: clients + servers }, () => new Line())
    for (let s = 0; s < servers; s++) this.#serve(s)
    for (let c = 0; c < clients; c++) this.#connect(c)
  }

  /** Returns a cost in ns with its variation. */
  vary(us: number): number {
    const { jitter } = this.costs
    return us * US * (1 + jitter * (2 * this.#random.uniform() - 1))
  }

  /** Continues after a delay. */
  wait(us: number, then: () => void): void {
    this.sim.after(this.vary(us), then)
  }

  /** Returns a time within the start skew, ns. */
  skew(): number {
    return Math.ceil(this.#random.uniform() * this.costs.skewUs * US)
  }

  /**
   * Stops or resumes a client's processing of messages, including revocations; on resuming it processes what it missed.
   */
  silence(client: ClientId, isSilent: boolean): void {
    const connection = this.#connections[client]
    if (isSilent) connection?.silence()
    else connection?.listen()
  }

  /** Stops or resumes the lock service of a server; data still reach its device. */
  hang(server: number, isHung: boolean): void {
    this.#cpus[server]?.hang(isHung)
  }

  /** Drops a client on every server. It reconnects with empty caches; its operations never complete. */
  evict(client: ClientId): void {
    const old = this.#connections[client]
    if (old === undefined) return
    old.isOpen = false
    this.#connect(client)
    for (const server of this.servers) server.evict(client)
  }

  #connect(c: ClientId): void {
    const { sim, costs } = this
    const { policy, limits, servers } = this.#options
    const connection = new Connection(c)
    this.#connections[c] = connection
    const up = this.#cpus.map((cpu) => new Pipe<ToServer>(sim, (message) => cpu.take(connection, message)))
    this.#down[c] = this.#cpus.map((_, s) => new Pipe<ToClient>(sim, (message) => this.#hear(connection, s, message)))
    this.clients[c] = new CcpfsClient({
      policy,
      limits,
      content: false,
      serverOf: (resource) => resource % servers,
      send: (s, message) => {
        if (!isOrdered(message)) {
          this.#dataUp(connection, s, message)
          return
        }
        this.#sent(connection, s, true, message)
        ;(up[s] as Pipe<ToServer>).send(sim.now + this.vary(costs.rttUs / 2), message)
      },
      work: (kind, bytes, then) => {
        const ns = this.#workNs(kind, bytes)
        if (kind === 'stage') this.#stagedAt[c] = sim.now + ns
        else if (kind === 'insert') this.lockingNs[c]! += sim.now - (this.#stagedAt[c] as number)
        sim.after(ns, then)
      },
    })
  }

  #serve(s: number): void {
    const { sim, costs } = this
    const { policy, observe, threshold } = this.#options
    const cpu: LockCpu = new LockCpu(this, (from, message) => {
      this.#arrived(from, s, true)
      this.#take(from, s, message)
    })
    this.#cpus.push(cpu)
    this.servers[s] = new ServerNode({
      policy,
      observe: observe && ((event) => observe(s, event)),
      threshold,
      now: () => sim.now,
      device: this.#device(),
      defer: (task) => sim.after(10 * US, task),
      send: (c, message) => {
        const to = this.#connections[c] as Connection
        if (!isOrdered(message)) {
          this.#dataDown(to, s, message)
          return
        }
        if (message.kind === 'revoke') cpu.spend(this.vary(costs.revokeUs))
        this.#sent(to, s, false, message)
        const pipe = this.#down[c]?.[s] as Pipe<ToClient>
        pipe.send(cpu.leavesAt + this.vary(costs.rttUs / 2 + costs.clientUs), message)
      },
    })
  }

  #take(from: Connection, s: number, message: ToServer): void {
    if (!from.isOpen) return
    this.#serving = from
    this.servers[s]?.receive(from.client, message)
    this.#serving = undefined
  }

  /** Delivers an ordered message to a client. */
  #hear(to: Connection, s: number, message: ToClient): void {
    if (!to.hears(() => this.#hear(to, s, message))) return
    this.#arrived(to, s, false)
    this.clients[to.client]?.receive(s, message)
  }

  #sent(connection: Connection, s: number, isUp: boolean, message: ToServer | ToClient): void {
    const { messages } = this.#options
    if (messages === undefined) return
    connection.underWay(s, isUp).push(messages.sent(this.sim.now, s, connection.client, isUp, message))
  }

  #arrived(connection: Connection, s: number, isUp: boolean): void {
    const { messages } = this.#options
    if (messages === undefined) return
    const number = connection.underWay(s, isUp).shift()
    if (connection.isOpen) messages.arrived(number, this.sim.now)
  }

  #workNs(kind: WorkKind, bytes: number): number {
    const { stageUs, insertUs, insertMBps } = this.costs
    const factor = this.vary(1) / US
    if (kind === 'insert') return factor * (insertUs + bytes / insertMBps) * US
    return factor * (stageUs * US + bytes * this.#stageNsPerByte)
  }

  /** Sends a data message from a client's port to the server's, one after the other, and then to an IO thread. */
  #dataUp(from: Connection, s: number, message: ToServer): void {
    const { sim, costs } = this
    const { messages } = this.#options
    const number = messages?.sent(sim.now, s, from.client, true, message)
    const wireNs = (payloadBytes(message) / costs.netMBps) * US
    const serverPort = this.#ports[this.lockingNs.length + s] as Line
    const sentAt = (this.#ports[from.client] as Line).take(sim.now, wireNs)
    sim.at(Math.ceil(sentAt + this.vary(costs.verbsUs / 2)), () => {
      const arrivedAt = serverPort.take(sim.now, wireNs)
      sim.at(Math.ceil(arrivedAt + this.vary(costs.ioUs)), () => {
        if (number !== undefined && from.isOpen) messages?.arrived(number, sim.now)
        this.#take(from, s, message)
      })
    })
  }

  #dataDown(to: Connection, s: number, message: ToClient): void {
    const { sim, costs } = this
    const { messages } = this.#options
    const number = messages?.sent(sim.now, s, to.client, false, message)
    const wireNs = (payloadBytes(message) / costs.netMBps) * US
    const sentAt = (this.#ports[this.lockingNs.length + s] as Line).take(sim.now, wireNs)
    const hear = (): void => {
      if (!to.hears(hear)) return
      if (number !== undefined) messages?.arrived(number, sim.now)
      this.clients[to.client]?.receive(s, message)
    }
    sim.at(Math.ceil(sentAt + this.vary(costs.verbsUs / 2)), hear)
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
          if (block.end > size) size = block.end
        }
        sizes.set(resource, size)
        sim.at(line.take(sim.now, ns), done)
      },
      read: (_, start, end, done) => {
        const reader = this.#serving
        const ns = costs.extentUs * US + deviceNs(end - start)
        sim.at(line.take(sim.now, ns), () => {
          // A reader that was evicted meanwhile numbers its reads from one again, so this one is not its.
          if (reader === undefined || reader.isOpen) done(null)
        })
      },
      size: (resource) => sizes.get(resource) ?? 0,
    }
  }

  #extentNs({ start, end }: Block): number {
    const { extentUs, unalignedUs } = this.costs
    return (start % PAGE === 0 && end % PAGE === 0 ? extentUs : unalignedUs) * US
  }
}
