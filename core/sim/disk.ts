/** A storage device: a fixed cost per operation plus bytes at its bandwidth, with as many concurrent operations as channels. */
import { NS_PER_S } from '../base/units.ts'
import type { ActionOn } from './event-queue.ts'
import { FifoServer } from './fifo-server.ts'
import type { Simulation } from './simulation.ts'

export interface DiskParameters {
  /** Sequential bandwidth of the whole device, bytes per second, > 0. */
  readonly bandwidthBps: number
  /** Fixed cost of an operation, ns. */
  readonly perOpNs: number
  /** Operations in service at once; each then gets bandwidth / channels. */
  readonly channels: number
}

export class Disk {
  readonly #station: FifoServer
  readonly #nsPerByte: number
  readonly #perOpNs: number

  constructor(sim: Simulation, parameters: DiskParameters) {
    this.#station = new FifoServer(sim, parameters.channels)
    this.#nsPerByte = (NS_PER_S * parameters.channels) / parameters.bandwidthBps
    this.#perOpNs = parameters.perOpNs
  }

  get station(): FifoServer {
    return this.#station
  }

  /** Reads or writes `bytes`; calls `done` with `of` when the transfer ends. */
  transfer(bytes: number, done: () => void): void
  transfer<T>(bytes: number, done: ActionOn<T>, of: T): void
  transfer(bytes: number, done: ActionOn<unknown>, of?: unknown): void {
    this.#station.submit(this.#perOpNs + bytes * this.#nsPerByte, done, of)
  }
}
