/** A FIFO station with c equal servers: service threads, a disk, a network port. The caller passes the service time. */
import { invariant } from '../base/result.ts'
import { Ring } from '../base/ring.ts'
import type { ActionOn } from './event-queue.ts'
import type { Simulation } from './simulation.ts'
import { TimeWeighted } from './statistics.ts'

interface Customer {
  readonly serviceNs: number
  readonly done: ActionOn<unknown>
  readonly of: unknown
}

export class FifoServer {
  readonly #sim: Simulation
  /** Number of equal servers. */
  readonly servers: number
  readonly #queue = new Ring<Customer>()
  #busy = 0
  #slowness = 1
  /** Busy servers over time; mean / servers = utilization. */
  readonly occupancy: TimeWeighted
  #completed = 0

  /** @param servers  number of equal servers, integer >= 1. */
  constructor(sim: Simulation, servers = 1) {
    invariant(Number.isInteger(servers) && servers >= 1, 'a station has at least one server')
    this.#sim = sim
    this.servers = servers
    this.occupancy = new TimeWeighted(sim.now, 0)
  }

  /** Customers waiting, excluding those in service. */
  get queued(): number {
    return this.#queue.size
  }

  get busy(): number {
    return this.#busy
  }

  get completed(): number {
    return this.#completed
  }

  /**
   * Multiplies the duration of every service that starts from now on; Infinity: none starts until it is set again.
   *
   * @param times  > 0; 1 is normal speed.
   */
  setSlowness(times: number): void {
    invariant(times > 0, 'a station is slower by a factor above 0')
    this.#slowness = times
    while (times < Infinity && this.#busy < this.servers) {
      const next = this.#queue.shift()
      if (!next) break
      this.#begin(next)
    }
  }

  /**
   * Submits one customer; calls `done` with `of` when its service ends.
   *
   * @param serviceNs  >= 0; rounded up to whole ns.
   */
  submit(serviceNs: number, done: () => void): void
  submit<T>(serviceNs: number, done: ActionOn<T>, of: T): void
  submit(serviceNs: number, done: ActionOn<unknown>, of?: unknown): void {
    const customer = { serviceNs, done, of }
    if (this.#busy < this.servers && this.#slowness < Infinity) this.#begin(customer)
    else this.#queue.push(customer)
  }

  #begin(customer: Customer): void {
    this.#busy++
    this.occupancy.set(this.#sim.now, this.#busy)
    this.#sim.after(customer.serviceNs * this.#slowness, this.#end, customer)
  }

  readonly #end = ({ done, of }: Customer): void => {
    this.#busy--
    this.#completed++
    const next = this.#slowness < Infinity ? this.#queue.shift() : undefined
    if (next) this.#begin(next)
    else this.occupancy.set(this.#sim.now, this.#busy)
    done(of)
  }
}
