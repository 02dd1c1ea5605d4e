/**
 * Threads that issue one RPC after another at a TBF head and wait for each: the load generator of the measurements, without
 * network or disks.
 */
import { NS_PER_MS, sToNs } from '#core/base/units.ts'
import { Simulation } from '#core/sim/simulation.ts'
import type { Field, RequestKey } from '#core/tbf/request-key.ts'
import { parseRuleCommand } from '#core/tbf/rule-command.ts'
import { TbfHead } from '#core/tbf/tbf-head.ts'
import type { TbfModule } from '#core/tbf/tbf-module.ts'

export interface Threads extends Partial<RequestKey> {
  /** Number of threads; default 1. */
  readonly threads?: number
  /** RPCs of all of them together; default as many as time allows. */
  readonly total?: number
}

export interface LoopOptions {
  /** TBF type; default jobid. */
  readonly fields?: readonly Field[]
  /** Time from the dequeue to the next RPC of the thread, ms; default 1 (the measured machines: 0.77). */
  readonly serviceMs?: number
  /** Lateness of the server's timers, ms; default 0 (the measured machines: 0.2 to 0.6). */
  readonly timerMs?: number
  readonly module?: Partial<TbfModule>
}

interface LoopRequest extends RequestKey {
  readonly label: string
}

export class ClosedLoop {
  readonly sim = new Simulation()
  readonly head: TbfHead<LoopRequest>
  readonly #completions = new Map<string, number[]>()
  readonly #issued = new Map<string, number>()
  readonly #threads: Readonly<Record<string, Threads>>
  readonly #serviceNs: number
  /** No thread issues an RPC before this instant. */
  #pausedUntil = 0
  #armed = new Set<number>()

  /** @param threads  by label, which is their job id unless they have another one. */
  constructor(threads: Readonly<Record<string, Threads>>, options: LoopOptions = {}) {
    this.#threads = threads
    this.#serviceNs = (options.serviceMs ?? 1) * NS_PER_MS
    const timerLatencyNs = (options.timerMs ?? 0) * NS_PER_MS
    this.head = new TbfHead(options.fields ?? ['jobid'], { rate: 10_000, depth: 3, timerLatencyNs, ...options.module })
    for (const [label, { threads: n = 1 }] of Object.entries(threads)) {
      this.#completions.set(label, [])
      this.#issued.set(label, 0)
      for (let i = 0; i < n; i++) this.sim.at(0, () => this.#issue(label))
    }
  }

  /** Writes commands to nrs_tbf_rule now. */
  rule(...commands: readonly string[]): this {
    for (const text of commands) {
      const parsed = parseRuleCommand(text)
      const done = parsed.ok ? this.head.command(parsed.value) : parsed
      if (!done.ok) throw new Error(`${text}: ${JSON.stringify(done.error)}`)
    }
    return this
  }

  /** Writes commands to nrs_tbf_rule at an instant. */
  at(seconds: number, ...commands: readonly string[]): this {
    this.sim.at(sToNs(seconds), () => void this.rule(...commands))
    return this
  }

  /** Pauses threads from `seconds` on, each when its RPC is served. */
  idle(seconds: number, forSeconds: number): this {
    this.sim.at(sToNs(seconds), () => {
      this.#pausedUntil = sToNs(seconds + forSeconds)
    })
    return this
  }

  /** Instants at which RPCs of a label were served, ms, up to an end. */
  times(label: string, untilSeconds: number): number[] {
    this.sim.runUntil(sToNs(untilSeconds) - 1)
    return (this.#completions.get(label) ?? []).map((ns) => ns / NS_PER_MS)
  }

  /** RPCs of a label served in [from, to). */
  count(label: string, from: number, to: number): number {
    return this.times(label, to).filter((ms) => ms >= from * 1000).length
  }

  /** RPCs of a label served in each second of [from, to). */
  perSecond(label: string, from: number, to: number): number[] {
    const times = this.times(label, to)
    return Array.from({ length: to - from }, (_, i) => times.filter((ms) => Math.floor(ms / 1000) === from + i).length)
  }

  #issue(label: string): void {
    const t = this.#threads[label] as Threads
    const n = (this.#issued.get(label) ?? 0) + 1
    if (n > (t.total ?? Infinity)) return
    if (this.sim.now < this.#pausedUntil) {
      this.sim.at(this.#pausedUntil, () => this.#issue(label))
      return
    }
    this.#issued.set(label, n)
    this.head.enqueue(this.sim.now, { jobId: label, nid: '0@lo', ...t, label })
    this.#dispatch()
  }

  #dispatch(): void {
    const { now } = this.sim
    for (let r = this.head.dequeue(now); r; r = this.head.dequeue(now)) {
      const { label } = r
      this.sim.after(this.#serviceNs, () => {
        this.#completions.get(label)?.push(this.sim.now)
        this.#issue(label)
      })
    }
    const at = this.head.wakeAt
    if (at === Infinity || this.#armed.has(at)) return
    this.#armed.add(at)
    this.sim.at(Math.max(at, now), () => {
      this.#armed.delete(at)
      this.#dispatch()
    })
  }
}
