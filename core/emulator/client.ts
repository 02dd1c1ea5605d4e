/**
 * An emulated compute node: one OSC per OST with `max_rpcs_in_flight` slots, and the network port they share.
 *
 * RPCs of all jobs on the node wait in one line per OSC, so a throttled job with many writers takes the slots of its
 * neighbours on the same node, as measured on real clients.
 */
import { Link } from '../sim/link.ts'
import type { Simulation } from '../sim/simulation.ts'
import type { EmulatedOst, Rpc } from './oss.ts'

/** Bytes of a request or reply without bulk data. */
const MESSAGE_BYTES = 512

interface Osc {
  inFlight: number
  waiting: Rpc[]
}

export class EmulatedClient {
  readonly number: number
  readonly nid: string
  readonly #sim: Simulation
  readonly #slots: number
  readonly #up: Link
  readonly #down: Link
  readonly #oscs = new Map<EmulatedOst, Osc>()

  constructor(sim: Simulation, number: number, slots: number, bandwidthBps: number, latencyNs: number) {
    this.#sim = sim
    this.number = number
    this.nid = `10.4.${Math.floor(number / 250)}.${(number % 250) + 1}@tcp`
    this.#slots = slots
    this.#up = new Link(sim, { bandwidthBps, latencyNs })
    this.#down = new Link(sim, { bandwidthBps, latencyNs })
  }

  /** Sends an RPC as soon as its OSC has a free slot. */
  issue(rpc: Rpc): void {
    let osc = this.#oscs.get(rpc.ost)
    if (!osc) {
      osc = { inFlight: 0, waiting: [] }
      this.#oscs.set(rpc.ost, osc)
    }
    if (osc.inFlight < this.#slots) this.#send(osc, rpc)
    else osc.waiting.push(rpc)
  }

  /** RPCs waiting for a slot, all OSCs. */
  get waiting(): number {
    let n = 0
    for (const osc of this.#oscs.values()) n += osc.waiting.length
    return n
  }

  #send(osc: Osc, rpc: Rpc): void {
    osc.inFlight++
    this.#up.send(MESSAGE_BYTES + (rpc.op === 'write' ? rpc.bytes : 0), () => {
      rpc.ost.oss.receive(rpc, this.number, () => {
        this.#down.send(MESSAGE_BYTES + (rpc.op === 'read' ? rpc.bytes : 0), () => {
          osc.inFlight--
          const next = osc.waiting.shift()
          if (next) this.#send(osc, next)
          rpc.done()
        })
      })
    })
  }
}
