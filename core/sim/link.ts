/** A network link: messages are serialised at the bandwidth, one after the other, then travel for the latency. */
import { NS_PER_S } from '../base/units.ts'
import { FifoServer } from './fifo-server.ts'
import type { Simulation } from './simulation.ts'

export interface LinkParameters {
  /** Bytes per second, > 0. */
  readonly bandwidthBps: number
  /** One-way propagation delay, ns. */
  readonly latencyNs: number
}

export class Link {
  readonly #sim: Simulation
  readonly #port: FifoServer
  readonly #nsPerByte: number
  readonly #latencyNs: number

  constructor(sim: Simulation, parameters: LinkParameters) {
    this.#sim = sim
    this.#port = new FifoServer(sim)
    this.#nsPerByte = NS_PER_S / parameters.bandwidthBps
    this.#latencyNs = parameters.latencyNs
  }

  get port(): FifoServer {
    return this.#port
  }

  /** Sends `bytes`; `arrived` is called when the last byte is at the other end. */
  send(bytes: number, arrived: () => void): void {
    this.#port.submit(bytes * this.#nsPerByte, () => this.#sim.after(this.#latencyNs, arrived))
  }
}
