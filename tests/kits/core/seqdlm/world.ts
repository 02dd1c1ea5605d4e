/**
 * A few clients and servers on a virtual network, advanced step by step by a schedule: every message, every unit of work and every
 * device write is a step that the schedule may take now or later, and faults occur between any two of them.
 *
 * A run is a function of its schedule alone, so a failing one can be shrunk and printed.
 */
import { InvariantError, invariant, type Result } from '#core/base/result.ts'
import { CcpfsClient } from '#core/seqdlm/ccpfs-client.ts'
import type { Done, Written } from '#core/seqdlm/operation.ts'
import { ExtentLog } from '#core/seqdlm/extent-log.ts'
import type { FileLayout } from '#core/seqdlm/layout.ts'
import {
  isOrdered,
  type ClientId,
  type Message,
  type ResourceId,
  type ServerId,
  type ToClient,
  type ToServer,
} from '#core/seqdlm/messages.ts'
import { isWriteMode } from '#core/seqdlm/modes.ts'
import { SYNC_CLIENT, ServerNode } from '#core/seqdlm/server-node.ts'
import { ByteOrder, checkSerialisable, type Operation } from './history.ts'
import { LockChecker } from './lock-checker.ts'
import { checkNodes } from './node-checks.ts'
import { showMessage } from './show.ts'
import { showStep, type Fault, type Schedule, type Step } from './schedule.ts'
import { VirtualDevice } from './virtual-device.ts'

/** Compared bytes of each object; the rest is the same for all. */
const BOUND = 256
const MAX_STEPS = 20_000

interface Server {
  node: ServerNode
  readonly device: VirtualDevice
  readonly log: ExtentLog
  epoch: number
}

interface Thread {
  readonly client: ClientId
  readonly steps: Step[]
  running: Operation | null
}

interface Action {
  readonly label: () => string
  readonly run: () => void
}

interface Channel {
  readonly client: ClientId
  readonly server: ServerId
  readonly toServer: boolean
  readonly ordered: Message[]
  readonly loose: Message[]
}

export class World {
  readonly trace: string[] = []
  readonly operations: Operation[] = []
  readonly checker = new LockChecker()
  readonly clients = new Map<ClientId, CcpfsClient>()
  /** Clients that crashed. */
  readonly lost = new Set<ClientId>()
  readonly #schedule: Schedule
  readonly #file: FileLayout
  readonly #servers: Server[] = []
  readonly #channels: Channel[] = []
  readonly #threads: Thread[] = []
  #tasks: Action[] = []
  #faults: Fault[]
  #now = 0
  #effects = 0
  #hadFault = false

  constructor(schedule: Schedule) {
    this.#schedule = schedule
    this.#file = { base: 0, stripes: schedule.stripes, stripeSize: schedule.stripeSize }
    this.#faults = [...schedule.faults].sort((a, b) => a.at - b.at)
    for (let s = 0; s < schedule.servers; s++) {
      const device = new VirtualDevice(BOUND)
      const log = new ExtentLog()
      this.#servers.push({ node: this.#serverNode(s, device, log, 0), device, log, epoch: 0 })
    }
    for (let c = 0; c < schedule.clients; c++) this.clients.set(c, this.#client(c))
    for (let c = 0; c < schedule.clients; c++) {
      for (let s = 0; s < schedule.servers; s++) {
        this.#channels.push({ client: c, server: s, toServer: true, ordered: [], loose: [] })
        this.#channels.push({ client: c, server: s, toServer: false, ordered: [], loose: [] })
      }
    }
    for (const step of schedule.program) {
      const client = step.client % schedule.clients
      let thread = this.#threads.find((t) => t.client === client && t.steps[0]?.thread === step.thread)
      if (thread === undefined) this.#threads.push((thread = { client, steps: [], running: null }))
      thread.steps.push(step)
    }
  }

  /** Steps taken. */
  get steps(): number {
    return this.#now
  }

  /** Runs the schedule to its end, flushes everything and checks the final state. Throws on the first violated invariant. */
  run(): void {
    for (const choice of this.#schedule.choices) if (!this.#step(choice)) break
    while (this.#step(0)) invariant(this.#now < MAX_STEPS, 'I8: the run comes to rest')
    const stuck = this.operations.filter((op) => op.respondedAt === Infinity && !this.lost.has(op.client))
    const idle = this.#threads.filter((t) => t.steps.length > 0 && !this.lost.has(t.client))
    invariant(
      stuck.length + idle.length === 0,
      `I8: every operation returns; waiting: ${stuck.map((o) => o.label).join('; ')}`,
    )
    let syncs = this.clients.size
    for (const client of this.clients.values()) client.fsync(this.#file, () => syncs--)
    while (this.#step(0)) invariant(this.#now < MAX_STEPS, 'I8: the flush comes to rest')
    invariant(syncs === 0, 'I8: every fsync returns')
    for (const client of this.clients.values())
      invariant(client.dirtyBytes === 0, 'I13: nothing is dirty after an fsync')
    this.#checkEnd()
  }

  #checkEnd(): void {
    const order = new ByteOrder(this.operations, BOUND)
    for (let resource = 0; resource < this.#file.stripes; resource++) {
      this.#serverOf(resource).device.read(resource, 0, BOUND, (data) => {
        for (const [at, value] of (data as Uint8Array).entries()) {
          const allowed = order.finalValues(resource, at, this.lost)
          const is = `is ${value}, may be ${[...allowed].join(' or ')}`
          invariant(allowed.has(value), `I4: byte ${resource}:${at} ${is}`)
        }
      })
    }
    // Data lost with a crashed client was seen by no one, or is valid; but no order is known to check it against.
    if (this.lost.size === 0) checkSerialisable(this.operations, order)
  }

  /** Takes one step; false if there is none. */
  #step(choice: number): boolean {
    while (this.#faults[0] !== undefined && this.#faults[0].at <= this.#now) this.#strike(this.#faults.shift() as Fault)
    const actions = this.#enabled()
    const action = actions[choice % Math.max(actions.length, 1)]
    if (action === undefined) {
      const next = this.#faults.shift()
      if (next === undefined) return false
      this.#strike(next)
      return true
    }
    this.trace.push(`${this.#now} ${action.label()}`)
    this.#now++
    action.run()
    checkNodes(this.clients, this.#schedule.limits.maxIdleLocks ?? Infinity)
    return true
  }

  #enabled(): Action[] {
    const actions: Action[] = []
    for (const c of this.#channels) {
      const first = c.ordered[0]
      if (first !== undefined) actions.push(this.#delivery(c, first, () => c.ordered.shift()))
      for (const m of c.loose) actions.push(this.#delivery(c, m, () => c.loose.splice(c.loose.indexOf(m), 1)))
    }
    for (const task of this.#tasks) {
      actions.push({
        label: task.label,
        run: () => {
          this.#tasks = this.#tasks.filter((t) => t !== task)
          task.run()
        },
      })
    }
    for (const [s, { device }] of this.#servers.entries()) {
      for (const resource of device.pending()) {
        actions.push({
          label: () => `server ${s}: device writes object ${resource}`,
          run: () => device.complete(resource),
        })
      }
    }
    for (const t of this.#threads) {
      const step = t.running === null ? t.steps[0] : undefined
      if (step !== undefined && this.clients.has(t.client)) {
        actions.push({ label: () => `client ${t.client}: ${showStep(step)}`, run: () => this.#start(t, step) })
      }
    }
    return actions
  }

  #delivery(channel: Channel, message: Message, take: () => void): Action {
    const { client, server, toServer } = channel
    const [from, to] = toServer ? [`client ${client}`, `server ${server}`] : [`server ${server}`, `client ${client}`]
    return {
      label: () => `${from} -> ${to}: ${showMessage(message)}`,
      run: () => {
        take()
        this.#deliver(channel, message)
      },
    }
  }

  #deliver({ client, server, toServer }: Channel, message: Message): void {
    const node = toServer ? this.#servers[server]?.node : undefined
    const result =
      node?.receive(client, message as ToServer) ?? this.clients.get(client)?.receive(server, message as ToClient)
    if (result?.ok && message.kind === 'recover-report') {
      for (const l of message.locks) {
        this.checker.restored(l.resource, l.lockId, { ...l, client, sns: isWriteMode(l.mode) ? [l.sn] : [] })
      }
    }
    if (result?.ok === false && !this.#hadFault)
      throw new InvariantError(`refused: ${result.error.code} ${result.error.what}`)
  }

  #strike(fault: Fault): void {
    this.trace.push(`${this.#now} FAULT ${fault.kind} ${fault.who}`)
    this.#hadFault = true
    const busy = this.#channels.filter((c) => c.ordered.length + c.loose.length > 0)
    const channel = busy[fault.who % Math.max(busy.length, 1)]
    if (fault.kind === 'crash-server') this.#crashServer(fault.who % this.#servers.length)
    else if (fault.kind === 'crash-client') this.#crashClient(fault.who % this.#schedule.clients)
    else if (channel !== undefined && fault.kind === 'repeat') {
      if (channel.ordered[0] !== undefined) channel.ordered.unshift(channel.ordered[0])
      if (channel.loose[0] !== undefined) channel.loose.push(channel.loose[0])
    } else if (fault.kind === 'overtake') {
      for (const { ordered } of busy) {
        const at = ordered.findIndex((m, i) => m.kind === 'lock-grant' && ordered[i + 1]?.kind === 'revoke')
        if (at >= 0) ordered.splice(at, 2, ordered[at + 1] as Message, ordered[at] as Message)
      }
    }
  }

  #crashServer(s: ServerId): void {
    const server = this.#servers[s] as Server
    this.#drop((c) => c.server === s, `server ${s}:`)
    server.device.crash()
    this.checker.forget((resource) => resource % this.#servers.length === s)
    server.epoch++
    server.node = this.#serverNode(s, server.device, server.log, server.epoch)
    server.node.recover(this.clients.keys())
  }

  #crashClient(c: ClientId): void {
    if (!this.clients.delete(c)) return
    this.lost.add(c)
    this.#drop((channel) => channel.client === c, `client ${c}:`)
    for (const [s, server] of this.#servers.entries()) {
      const { node } = server
      this.#tasks.push({ label: () => `server ${s}: evicts client ${c}`, run: () => this.#evict(server, node, c) })
    }
  }

  #evict(server: Server, node: ServerNode, client: ClientId): void {
    // A server that has restarted since then has asked only live clients.
    if (server.node !== node) return
    node.evict(client)
  }

  #drop(isGone: (channel: Channel) => boolean, tasksOf: string): void {
    for (const c of this.#channels.filter(isGone)) {
      c.ordered.length = 0
      c.loose.length = 0
    }
    this.#tasks = this.#tasks.filter((t) => !t.label().startsWith(tasksOf))
  }

  #start(thread: Thread, step: Step): void {
    thread.steps.shift()
    const id = this.operations.length + 1
    const isWrite = step.kind === 'write' || step.kind === 'append' || step.kind === 'atomic'
    const op: Operation = {
      id,
      client: thread.client,
      label: `client ${thread.client} ${showStep(step)}`,
      value: isWrite ? id : 0,
      invokedAt: this.#now,
      respondedAt: Infinity,
      effect: Infinity,
      versions: [],
      seen: [],
    }
    this.operations.push(op)
    thread.running = op
    const client = this.clients.get(thread.client) as CcpfsClient
    const ended = (result: Result<unknown>): void => {
      invariant(result.ok, 'a valid operation is done')
      op.respondedAt = this.#now
      thread.running = null
    }
    const wrote: Done<Written> = (result) => {
      if (result.ok) op.versions = result.value.parts
      op.effect = this.#effects++
      ended(result)
    }
    this.#perform(client, step, op, wrote, ended)
  }

  #perform(
    client: CcpfsClient,
    step: Step,
    op: Operation,
    wrote: Done<Written>,
    ended: (r: Result<unknown>) => void,
  ): void {
    const { offset, length, mode } = step
    const data = new Uint8Array(length).fill(op.value)
    if (step.kind === 'write') client.write(this.#file, offset, data, { mode }, wrote)
    else if (step.kind === 'append') client.append(this.#file, data, wrote)
    else if (step.kind === 'truncate') client.truncate(this.#file, offset, wrote)
    else if (step.kind === 'fsync') client.fsync(this.#file, ended)
    else if (step.kind === 'atomic') {
      const half = Math.ceil(length / 2)
      const far = offset + half + this.#schedule.stripeSize
      const extents = [
        { start: offset, end: offset + half },
        { start: far, end: far + length - half },
      ]
      client.writeAtomic(
        this.#file,
        extents.filter((e) => e.end > e.start),
        data,
        { mode },
        wrote,
      )
    } else {
      client.read(this.#file, offset, length, { mode }, (result) => {
        if (result.ok) op.seen = this.#seen(offset, result.value as Uint8Array)
        ended(result)
      })
    }
  }

  #seen(offset: number, bytes: Uint8Array): Operation['seen'] {
    const { stripes, stripeSize } = this.#file
    return [...bytes].map((value, i) => {
      const row = Math.floor((offset + i) / stripeSize)
      return [row % stripes, Math.floor(row / stripes) * stripeSize + ((offset + i) % stripeSize), value] as const
    })
  }

  #serverNode(s: ServerId, device: VirtualDevice, log: ExtentLog, epoch: number): ServerNode {
    return new ServerNode({
      policy: this.#schedule.policy,
      device,
      log,
      epoch,
      threshold: this.#schedule.threshold,
      now: () => this.#now,
      send: (client, message) => this.#send(client, s, false, message),
      defer: (run) => this.#tasks.push({ label: () => `server ${s}: deferred work`, run }),
      observe: (event) => this.checker.observe(event),
    })
  }

  #client(c: ClientId): CcpfsClient {
    return new CcpfsClient({
      policy: this.#schedule.policy,
      content: true,
      limits: this.#schedule.limits,
      serverOf: (resource) => resource % this.#schedule.servers,
      send: (server, message) => this.#send(c, server, true, message),
      work: (kind, _, run) => this.#tasks.push({ label: () => `client ${c}: ${kind}`, run }),
    })
  }

  #send(client: ClientId, server: ServerId, toServer: boolean, message: Message): void {
    if (client === SYNC_CLIENT || !this.clients.has(client)) return
    if (toServer) this.#checkSent(client, message as ToServer)
    const channel = this.#channels.find((c) => c.client === client && c.server === server && c.toServer === toServer)
    if (isOrdered(message)) channel?.ordered.push(message)
    else channel?.loose.push(message)
  }

  #checkSent(client: ClientId, message: ToServer): void {
    const isFlushed = message.kind === 'release' || (message.kind === 'downgrade' && message.mode === 'PR')
    if (!isFlushed) return
    const { resource, lockId } = message
    for (const sn of this.checker.snsOf(resource, lockId)) {
      const unflushed = this.clients.get(client)?.pages.bucket(resource, sn)
      invariant(unflushed === undefined, `I10, I12: SN ${sn} is flushed before a ${message.kind} of lock ${lockId}`)
    }
  }

  #serverOf(resource: ResourceId): Server {
    return this.#servers[resource % this.#servers.length] as Server
  }
}
