/**
 * A network link: messages are serialized at the bandwidth, one after the other, then travel for the latency.
 *
 * A message that finds the port free costs one event, its arrival; the end of its transmission is an event only if another
 * message waits for it.
 */
import { invariant } from '../base/result.ts'
import { Ring } from '../base/ring.ts'
import { NS_PER_S } from '../base/units.ts'
import type { ActionOn } from './event-queue.ts'
import type { Simulation } from './simulation.ts'

export interface LinkParameters {
  /** Bytes per second, > 0. */
  readonly bandwidthBps: number
  /** One-way propagation delay, ns. */
  readonly latencyNs: number
}

interface Message {
  readonly bytes: number
  readonly arrived: ActionOn<unknown>
  readonly of: unknown
}

export class Link {
  readonly #sim: Simulation
  readonly #nsPerByte: number
  readonly #latencyNs: number
  readonly #waiting = new Ring<Message>()
  #slowness = 1
  /** End of the current transmission, ns. */
  #freeNs = 0
  /** True while an event is scheduled at that time to send the next message. */
  #isArmed = false
  #sentNs = 0

  constructor(sim: Simulation, parameters: LinkParameters) {
    this.#sim = sim
    this.#nsPerByte = NS_PER_S / parameters.bandwidthBps
    this.#latencyNs = Math.ceil(parameters.latencyNs)
  }

  /** Accumulated transmission time of all started messages, ns. */
  get sentNs(): number {
    return this.#sentNs
  }

  /**
   * Multiplies the transmission time of every message that starts from now on; Infinity: none starts until it is set again.
   *
   * @param times  > 0; 1 is the bandwidth.
   */
  setSlowness(times: number): void {
    invariant(times > 0, 'a link is slower by a factor above 0')
    this.#slowness = times
    this.#arm()
  }

  /** Sends `bytes`; calls `arrived` with `of` when the last byte reaches the other end. */
  send(bytes: number, arrived: () => void): void
  send<T>(bytes: number, arrived: ActionOn<T>, of: T): void
  send(bytes: number, arrived: ActionOn<unknown>, of?: unknown): void {
    const isFree = this.#sim.now >= this.#freeNs && this.#waiting.size === 0 && this.#slowness < Infinity
    if (isFree) return this.#begin(bytes, arrived, of)
    this.#waiting.push({ bytes, arrived, of })
    this.#arm()
  }

  #begin(bytes: number, arrived: ActionOn<unknown>, of: unknown): void {
    const tookNs = Math.ceil(bytes * this.#nsPerByte * this.#slowness)
    this.#sentNs += tookNs
    this.#freeNs = this.#sim.now + tookNs
    this.#sim.at(this.#freeNs + this.#latencyNs, arrived, of)
  }

  #arm(): void {
    if (this.#isArmed || this.#waiting.size === 0 || this.#slowness === Infinity) return
    this.#isArmed = true
    this.#sim.at(Math.max(this.#sim.now, this.#freeNs), this.#next)
  }

  readonly #next = (): void => {
    this.#isArmed = false
    if (this.#slowness === Infinity) return
    const next = this.#waiting.shift() as Message
    this.#begin(next.bytes, next.arrived, next.of)
    this.#arm()
  }
}
