/**
 * Data node in real memory: the QosMonitor and the QosEngines of core/haechi, each in its own thread, over one SharedArrayBuffer.
 * This class starts and ends the threads, admits clients, and stores their reports; no I/O passes through it.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { MonitorEvent, MonitorPeriod } from '#core/haechi/monitor-events.ts'
import { EventLog } from '#core/haechi/sim/event-log.ts'
import { bundledPath } from '../files/resources.ts'
import { perPeriod } from './helper.ts'
import type {
  ClientEnd,
  ClientLog,
  ClientMark,
  FromClient,
  FromMonitor,
  MonitorChecks,
  ThreadTask,
  ToMonitor,
} from './messages.ts'
import { NodeMemory } from './node-memory.ts'
import { checkRealClient, checkRealNode, type RealClient, type RealNodeSetup } from './node-setup.ts'

/** Program of the threads: its source in a checkout, its bundle in the desktop shell. */
function threadFile(): string {
  const source = join(import.meta.dirname, 'thread.ts')
  return existsSync(source) ? source : bundledPath('haechi-thread.js')
}

const PERIODS_MAX = 4096
const EVENTS_MAX = 1000

type ClientState = 'running' | 'left' | 'crashed' | 'stopped'

interface Client {
  readonly setup: RealClient
  readonly thread: Worker
  state: ClientState
  end: ClientEnd | undefined
  /** Callbacks of pending measurements, by their number. */
  readonly marks: Map<number, (at: ClientMark | undefined) => void>
  readonly ended: Promise<void>
}

export interface NodeMark {
  readonly clients: readonly (ClientMark | undefined)[]
  /** ns; 0 without a monitor. */
  readonly monitorCpuNs: number
}

const died = (who: string, why: string): Failure => ({
  code: 'E_THREAD',
  what: `The thread of ${who} ended unexpectedly`,
  why,
  next: 'Close the node and open another.',
})
const unknown = (client: number): Result<never> =>
  fail({ code: 'E_CLIENT', what: `Client ${client} does not run on this node` })

export class RealNode {
  readonly memory: NodeMemory
  readonly setup: RealNodeSetup
  /** Reported by the monitor, oldest first. */
  readonly periods = new EventLog<MonitorPeriod>(PERIODS_MAX)
  readonly events = new EventLog<MonitorEvent>(EVENTS_MAX)
  /** Reported by the clients. */
  readonly logs = new EventLog<ClientLog>(PERIODS_MAX)
  checks: MonitorChecks = { conversions: 0, races: 0, overfull: 0, backwards: 0, lost: 0 }
  /** Set if a thread ended unexpectedly. */
  failure: Failure | undefined
  readonly #origin = process.hrtime.bigint()
  readonly #clients: (Client | null)[] = []
  readonly #waiting = new Map<number, (result: Result<void>) => void>()
  readonly #onPeriod = new Set<() => void>()
  #monitor: Worker | undefined
  #monitorEnded: Promise<void> = Promise.resolve()
  #monitorCpuNs = 0
  #isClosing = false
  #requests = 0
  #marks = 0

  private constructor(setup: RealNodeSetup, memory: NodeMemory) {
    this.setup = setup
    this.memory = memory
  }

  /** Opens a node; on return its first period has begun with all clients admitted. */
  static async open(setup: RealNodeSetup): Promise<Result<RealNode>> {
    const checked = checkRealNode(setup)
    if (!checked.ok) return checked
    const memory = NodeMemory.allocate(setup)
    if (!memory.ok) return memory
    const node = new RealNode(setup, memory.value)
    const opened = await node.#open()
    if (opened.ok) return ok(node)
    await node.close()
    return opened
  }

  async #open(): Promise<Result<void>> {
    const { mode, clients } = this.setup
    if (mode === 'haechi') {
      const started = await this.#startMonitor()
      if (!started.ok) return started
    }
    const joined = await Promise.all(clients.map((client) => this.join(client)))
    for (const result of joined) if (!result.ok) return result
    return mode === 'haechi' ? this.#request({ kind: 'start' }) : ok(undefined)
  }

  /** Time on the clock of its threads, ns. */
  get nowNs(): number {
    return Number(process.hrtime.bigint() - this.#origin)
  }
  get clientCount(): number {
    return this.#clients.length
  }
  state(client: number): ClientState | undefined {
    return this.#clients[client]?.state
  }
  end(client: number): ClientEnd | undefined {
    return this.#clients[client]?.end
  }

  /** Starts a client's thread and admits it; on a running node its reservation applies from the next T1 on (A18). */
  async join(setup: RealClient): Promise<Result<number>> {
    const checked = checkRealClient(setup, this.setup)
    if (!checked.ok) return checked
    const slot = this.#clients.length
    if (slot >= this.setup.slots) {
      return fail({ code: 'E_SLOTS', what: 'The data node has no report slot left', why: `all ${slot} are taken` })
    }
    // The slot is taken from now on, even if admission fails.
    this.#clients.push(null)
    const started = await this.#startClient(slot, setup)
    if (!started.ok || this.setup.mode === 'bare') return started
    const { reservation, limit } = setup
    const joined = await this.#request({ kind: 'join', client: slot, reservation, limit })
    if (joined.ok) return started
    await this.#stop(slot, 'stopped')
    return joined
  }

  /** Removes a client in the middle of a period: it reports once more, then the monitor is notified (A19). */
  async leave(index: number): Promise<Result<void>> {
    const client = this.#running(index)
    if (!client) return unknown(index)
    client.state = 'left'
    this.memory.mailbox(index).give('leave')
    await client.ended
    return this.setup.mode === 'haechi' ? this.#request({ kind: 'leave', client: index }) : ok(undefined)
  }

  /** Kills a client's thread at any point, without notifying the monitor. */
  async crash(index: number): Promise<Result<void>> {
    const client = this.#running(index)
    if (!client) return unknown(index)
    client.state = 'crashed'
    await client.thread.terminate()
    return ok(undefined)
  }

  /** Notifies the monitor of a crashed client. */
  async evict(index: number): Promise<Result<void>> {
    if (this.#clients[index]?.state !== 'crashed') return unknown(index)
    return this.#request({ kind: 'leave', client: index })
  }

  /** Changes a reservation and a limit from the next T1 on (A21). */
  async reserve(index: number, reservation: number, limit: number | null): Promise<Result<void>> {
    if (!this.#running(index) || this.setup.mode === 'bare') return unknown(index)
    return this.#request({ kind: 'reserve', client: index, reservation, limit })
  }

  /** Current counters of each running client, undefined for the others, and the CPU time of the monitor's thread. */
  async mark(): Promise<NodeMark> {
    const mark = ++this.#marks
    const clients = await Promise.all(
      this.#clients.map(async (client, slot) => {
        if (client?.state !== 'running') return undefined
        return new Promise<ClientMark | undefined>((resolve) => {
          client.marks.set(mark, resolve)
          this.memory.mailbox(slot).requestMark(mark)
        })
      }),
    )
    if (this.setup.mode === 'haechi') await this.#request({ kind: 'mark' })
    return { clients, monitorCpuNs: this.#monitorCpuNs }
  }

  /** Pauses or resumes the clients' threads, as if they had no core; the monitor keeps running. */
  pause(isPaused: boolean): void {
    this.#clients.forEach((client, slot) => {
      if (client?.state === 'running') this.memory.mailbox(slot).give(isPaused ? 'pause' : 'run')
    })
  }

  /** Resolves after the next `n` periods, or when the monitor has ended. */
  async nextPeriods(n: number): Promise<void> {
    for (let i = 0; i < n && this.failure === undefined && this.#monitor; i++) {
      await new Promise<void>((resolve) => this.#onPeriod.add(resolve))
    }
  }

  /** Ends the clients, then the monitor. Their reports are kept. */
  async close(): Promise<void> {
    await Promise.all(this.#clients.map((_, slot) => this.#stop(slot, 'stopped')))
    if (this.#monitor === undefined) return
    this.#isClosing = true
    await this.#request({ kind: 'stop' })
    await this.#monitorEnded
    this.#monitor = undefined
  }

  #running(index: number): Client | null {
    const client = this.#clients[index]
    return client?.state === 'running' ? client : null
  }

  async #stop(slot: number, state: ClientState): Promise<void> {
    const client = this.#running(slot)
    if (!client) return
    client.state = state
    this.memory.mailbox(slot).give('stop')
    await client.ended
  }

  #spawn(task: ThreadTask): Worker {
    return new Worker(threadFile(), { workerData: task, execArgv: [] })
  }

  get #common() {
    const { slots, records, settings } = this.setup
    return { slots, records, settings, buffer: this.memory.buffer, origin: this.#origin }
  }

  async #startMonitor(): Promise<Result<void>> {
    const thread = this.#spawn({ ...this.#common, role: 'monitor', profile: this.setup.profile })
    this.#monitor = thread
    const { promise: ready, resolve } = Promise.withResolvers<Result<void>>()
    this.#monitorEnded = new Promise((ended) => {
      thread.on('exit', () => {
        const gone = this.failure ?? died('the monitor', 'it ended')
        if (!this.#isClosing) this.failure = gone
        for (const answer of this.#waiting.values()) answer(fail(gone))
        this.#waiting.clear()
        this.#periodEnds()
        resolve(fail(gone))
        ended()
      })
    })
    thread.on('error', (error: unknown) => (this.failure = died('the monitor', String(error))))
    thread.on('message', (message: FromMonitor) => {
      if (message.kind === 'ready') resolve(ok(undefined))
      else if (message.kind === 'refused') resolve(fail(message.failure))
      else this.#fromMonitor(message)
    })
    return ready
  }

  #fromMonitor(message: Exclude<FromMonitor, { kind: 'ready' | 'refused' }>): void {
    switch (message.kind) {
      case 'event':
        return this.events.push(message.event)
      case 'reply':
        this.#monitorCpuNs = message.cpuNs
        this.#waiting.get(message.id)?.(message.result)
        this.#waiting.delete(message.id)
        return
      case 'period':
        this.periods.push(message.period)
        this.checks = message.checks
        return this.#periodEnds()
    }
  }

  #periodEnds(): void {
    for (const listener of this.#onPeriod) listener()
    this.#onPeriod.clear()
  }

  /** Sends a request to the monitor and waits for its answer. */
  #request(message: DistributiveOmit<ToMonitor, 'id'>): Promise<Result<void>> {
    const thread = this.#monitor
    if (thread === undefined || this.failure) {
      return Promise.resolve(fail(this.failure ?? died('the monitor', 'the node is closed')))
    }
    const id = ++this.#requests
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      thread.postMessage({ ...message, id })
      this.memory.sendToMonitor()
    })
  }

  async #startClient(slot: number, setup: RealClient): Promise<Result<number>> {
    const { completionBatch, seed, mode, records } = this.setup
    const thread = this.#spawn({
      ...this.#common,
      role: 'client',
      slot,
      completionBatch,
      seed,
      hasQos: mode === 'haechi',
      localTokens: perPeriod(this.setup.profile.localIops, this.setup.settings.periodNs),
      workload: setup.workload,
      mix: { ...setup.mix, records },
    })
    const { promise: ready, resolve } = Promise.withResolvers<Result<number>>()
    const who = `client ${slot}`
    const ended = new Promise<void>((resolveEnd) => {
      thread.on('exit', () => {
        if (client.state === 'running') this.failure ??= died(who, 'it ended')
        resolve(fail(this.failure ?? died(who, 'it ended')))
        for (const resolve of client.marks.values()) resolve(undefined)
        resolveEnd()
      })
    })
    const client: Client = { setup, thread, state: 'running', end: undefined, marks: new Map(), ended }
    this.#clients[slot] = client
    thread.on('error', (error: unknown) => (this.failure = died(who, String(error))))
    thread.on('message', (message: FromClient) => {
      if (message.kind === 'ready') resolve(ok(slot))
      else if (message.kind === 'refused') resolve(fail(message.failure))
      else if (message.kind === 'period') this.logs.push(message.log)
      else if (message.kind === 'ended') client.end = message.end
      else {
        client.marks.get(message.mark)?.(message.at)
        client.marks.delete(message.mark)
      }
    })
    return ready
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
