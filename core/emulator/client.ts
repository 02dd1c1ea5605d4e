/**
 * An emulated compute node: one queue of RPCs to each target with `max_rpcs_in_flight` slots, and the network port they share.
 *
 * RPCs of all jobs on the node share one queue per target, so a throttled job with many writers takes the slots of its
 * neighbors on the same node (measured part 2, 8). Write-back forced by a lock callback goes first and has one extra slot.
 */
import { randomStream, type RandomStream } from '../base/random.ts'
import { Link } from '../sim/link.ts'
import type { Simulation } from '../sim/simulation.ts'
import { Ring } from '../base/ring.ts'
import { RpcHistograms } from './io-histograms.ts'
import { isData, rpcKind } from './operations.ts'
import type { ClientLine, Rpc, RpcTarget } from './rpc.ts'

/** Bytes of a request or reply without bulk data. */
const MESSAGE_BYTES = 512
/** Chance that a process of a server has moved to another CPT when it sends an RPC (measured part 2, 6: occasionally). */
const MIGRATION = 0.02

export interface ClientOptions {
  /** Number of the client, from 1. */
  readonly number: number
  /** max_rpcs_in_flight. */
  readonly slots: number
  readonly bandwidthBps: number
  readonly latencyNs: number
  /** Server that this client is a mount on, if any. */
  readonly host?: string
  readonly seed: number
  /** True to keep counters that only parameters show. */
  readonly counters: boolean
}

export class EmulatedClient {
  readonly number: number
  readonly nid: string
  readonly latencyNs: number
  readonly #host: string | undefined
  readonly #sim: Simulation
  readonly #slots: number
  readonly #hasCounters: boolean
  readonly #up: Link
  readonly #down: Link
  readonly #lines = new Map<RpcTarget, ClientLine>()
  readonly #random: RandomStream
  /** CPT of each process, for a mount on a server. */
  readonly #cpts: number[] = []

  constructor(sim: Simulation, options: ClientOptions) {
    const { number, slots, bandwidthBps, latencyNs, host, seed, counters } = options
    this.#sim = sim
    this.number = number
    this.nid = `10.4.${Math.floor(number / 250)}.${(number % 250) + 1}@tcp`
    this.latencyNs = latencyNs
    this.#host = host
    this.#slots = slots
    this.#hasCounters = counters
    this.#up = new Link(sim, { bandwidthBps, latencyNs })
    this.#down = new Link(sim, { bandwidthBps, latencyNs })
    this.#random = randomStream(seed, `client/${number}/cpt`)
  }

  /** Numbers a new process of this client. */
  admit(): number {
    return this.#cpts.push(this.#cpts.length) - 1
  }

  /** The NID that a target sees: `0@lo` on its own server. */
  nidTo(target: Pick<RpcTarget, 'host'>): string {
    return target.host === this.#host ? '0@lo' : this.nid
  }

  /** Queues by target. */
  get lines(): ReadonlyMap<RpcTarget, ClientLine> {
    return this.#lines
  }

  /** Its network ports, up and down. */
  get ports(): readonly Link[] {
    return [this.#up, this.#down]
  }

  /** RPCs waiting for a slot, all targets. */
  get waiting(): number {
    let n = 0
    for (const line of this.#lines.values()) n += line.waiting.size + line.urgent.size
    return n
  }

  /** Queue to a target, created on first use. */
  line(target: RpcTarget): ClientLine {
    let line = this.#lines.get(target)
    if (!line) {
      line = {
        inFlight: 0,
        waiting: new Ring<Rpc>(),
        urgent: new Ring<Rpc>(),
        slots: this.#slots,
        underWay: { read: 0, write: 0, modify: 0, other: 0 },
        histograms: new RpcHistograms(this.#sim.now),
      }
      this.#lines.set(target, line)
    }
    return line
  }

  /** Sets max_rpcs_in_flight of one queue; waiting RPCs are sent at once if slots permit. */
  setSlots(target: RpcTarget, slots: number): void {
    const line = this.line(target)
    line.slots = slots
    for (let before = -1; before !== line.inFlight;) {
      before = line.inFlight
      this.#sendNext(line)
    }
  }

  /** Sends an RPC as soon as its queue has a free slot. */
  issue(rpc: Rpc): void {
    const line = rpc.line ?? this.line(rpc.to)
    if (rpc.isForced) line.urgent.push(rpc)
    else line.waiting.push(rpc)
    this.#sendNext(line)
  }

  #sendNext(line: ClientLine): void {
    if (line.inFlight > line.slots) return
    const rpc = line.urgent.shift() ?? (line.inFlight < line.slots ? line.waiting.shift() : undefined)
    if (rpc) this.#send(line, rpc)
  }

  #send(line: ClientLine, rpc: Rpc): void {
    const { op, bytes, offset } = rpc
    const kind = rpcKind(op)
    rpc.line = line
    rpc.sentNs = this.#sim.now
    line.inFlight++
    line.underWay[kind]++
    if (this.#hasCounters) {
      if (isData(op)) line.histograms.sent(op, offset, bytes, line.underWay[op])
      else if (kind === 'modify') line.histograms.sentModify(line.underWay.modify)
    }
    this.#up.send(MESSAGE_BYTES + (op === 'write' ? bytes : 0), this.#arrived, rpc)
  }

  readonly #arrived = (rpc: Rpc): void => rpc.to.receive(rpc, this.#cpt(rpc), this.#replied)

  readonly #replied = (rpc: Rpc): void =>
    this.#down.send(MESSAGE_BYTES + (rpc.op === 'read' ? rpc.bytes : 0), this.#answered, rpc)

  readonly #answered = (rpc: Rpc): void => {
    const { op } = rpc
    const line = rpc.line as ClientLine
    line.inFlight--
    line.underWay[rpcKind(op)]--
    if (this.#hasCounters && isData(op)) line.histograms.answered(op, this.#sim.now - (rpc.sentNs as number))
    this.#sendNext(line)
    rpc.done(rpc)
  }

  /** LNet pins one tcp peer to one CPT; loopback RPCs arrive on the CPT of the sending process. */
  #cpt({ to, sender }: Rpc): number {
    const { cpts } = to
    if (to.host !== this.#host) return this.number % cpts
    const at = (this.#cpts[sender] as number) % cpts
    if (cpts === 1 || this.#random.uniform() >= MIGRATION) return at
    // Processes migrate, but stay balanced.
    const next = (at + 1) % cpts
    const processesOn = (cpt: number): number => this.#cpts.filter((c) => c % cpts === cpt).length
    if (processesOn(next) > processesOn(at)) return at
    this.#cpts[sender] = next
    return next
  }
}
