/**
 * Node of threads, where no C compiler is: RealNode behind the interface of a daemon's backend. Its samples hold the pool alone, and a
 * client cannot be killed apart from the node.
 */
import { setInterval, clearInterval } from 'node:timers'
import { ok, type Result } from '#core/base/result.ts'
import type { NewClient } from '#core/haechi/console.ts'
import { unpackPool } from '#core/haechi/pool-word.ts'
import type { BackendOptions, NodeBackend, StartedClient } from './backend.ts'
import type { RealClient } from './node-setup.ts'
import { RealNode } from './real-node.ts'

const POLL_MS = 20

export class ThreadNode implements NodeBackend {
  readonly kind = 'threads'
  readonly #options: BackendOptions
  readonly #node: RealNode
  readonly #read = { periods: 0, events: 0, logs: 0 }
  readonly #timer: NodeJS.Timeout
  #epoch = 0
  #row = 0

  private constructor(options: BackendOptions, node: RealNode) {
    this.#options = options
    this.#node = node
    this.#timer = setInterval(() => this.#poll(), POLL_MS)
  }

  /** Failures: those of RealNode. */
  static async open(options: BackendOptions): Promise<Result<ThreadNode>> {
    const { settings, profile, slots, records, seed, completionBatch } = options
    const setup = { mode: 'haechi' as const, settings, profile, slots, records, seed, completionBatch, clients: [] }
    const opened = await RealNode.open(setup)
    return opened.ok ? ok(new ThreadNode(options, opened.value)) : opened
  }

  nowNs(): number {
    return this.#node.nowNs
  }

  /** The node's periods began when it was opened. */
  start(): Promise<Result<void>> {
    return Promise.resolve(ok(undefined))
  }

  async join(c: NewClient): Promise<Result<StartedClient>> {
    const { reservation, limit, workload: w } = c
    const workload = 'perPeriod' in w ? { ...w, carry: true } : { kind: w.kind }
    const client: RealClient = { reservation, limit, workload, mix: { keys: 'uniform', reads: c.reads } }
    const joined = await this.#node.join(client)
    return joined.ok ? ok({ client: joined.value, pid: null }) : joined
  }

  leave(client: number): Promise<Result<void>> {
    return this.#node.leave(client)
  }

  reserve(client: number, reservation: number, limit: number | null): Promise<Result<void>> {
    return this.#node.reserve(client, reservation, limit)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#node.close()
  }

  #poll(): void {
    const node = this.#node
    const { events, settings } = this.#options
    if (node.failure) {
      clearInterval(this.#timer)
      return events.failed(node.failure)
    }
    const logs = node.logs.since(this.#read.logs)
    this.#read.logs = logs.next
    for (const { ledger, ...log } of logs.items) {
      const { reservationTokens: xi, globalTokens: g, inflight, copied } = ledger
      events.log({ ...log, xi, g, inflight, copied, totals: ledger })
    }
    const seen = node.events.since(this.#read.events)
    this.#read.events = seen.next
    for (const e of seen.items) {
      if (e.kind === 'period') {
        this.#epoch = e.epoch
        events.begun(e.at, e.epoch, e.pool)
      } else if (e.kind === 'start-report') events.reportsStarted(e.at)
      else if (e.kind === 'alert') events.alert(e.at, e.alert, e.client, e.what)
    }
    const periods = node.periods.since(this.#read.periods)
    this.#read.periods = periods.next
    for (const period of periods.items) {
      const { timer, send, data } = node.memory.wakeUps
      let dataIos = 0
      for (let client = 0; client < node.clientCount; client++) dataIos += node.memory.counters(client).copied
      const { overfull, lost } = node.checks
      const wakes = { timerWakes: timer, sendWakes: send, dataWakes: data }
      events.period(period, { ...wakes, cpuNs: 0, dataIos, overfull, lostMessages: lost, droppedLines: 0 })
    }
    const row = Math.floor(this.nowNs() / this.#options.sampleNs)
    if (row <= this.#row || this.#epoch === 0) return
    this.#row = row
    const last = node.periods.items.at(-1)
    const omega = last?.nextOmega ?? Math.floor((this.#options.profile.globalIops * settings.periodNs) / 1e9)
    const { tokens } = unpackPool(new BigInt64Array(node.memory.buffer, 0, 1)[0] ?? 0n)
    const n = [row * this.#options.sampleNs, this.#epoch, tokens, 0, 0, omega, 0, last?.reserved ?? 0, 0, 0, 0]
    events.sample({ n, c: [] })
  }
}
