/**
 * A FIFO station with c equal servers: service threads, a disk, a network port. The caller hands in the service time.
 */
import { invariant } from '../base/result.ts'
import type { Simulation } from './simulation.ts'
import { TimeWeighted } from './statistics.ts'

interface Waiting {
  readonly serviceNs: number
  readonly done: () => void
}

export class FifoServer {
  readonly #sim: Simulation
  /** Number of equal servers. */
  readonly servers: number
  #queue: Waiting[] = []
  #head = 0
  #busy = 0
  /** Busy servers over time; mean / servers = utilisation. */
  readonly occupancy: TimeWeighted
  #completed = 0

  /** @param servers  number of equal servers, integer >= 1. */
  constructor(sim: Simulation, servers = 1) {
    invariant(Number.isInteger(servers) && servers >= 1, 'a station has at least one server')
    this.#sim = sim
    this.servers = servers
    this.occupancy = new TimeWeighted(sim.now, 0)
  }

  /** Customers waiting, those in service not counted. */
  get queued(): number {
    return this.#queue.length - this.#head
  }

  get busy(): number {
    return this.#busy
  }

  get completed(): number {
    return this.#completed
  }

  /**
   * Submits one customer; `done` is called when its service ends.
   *
   * @param serviceNs  >= 0; rounded up to whole ns.
   */
  submit(serviceNs: number, done: () => void): void {
    if (this.#busy < this.servers) this.#begin(serviceNs, done)
    else this.#queue.push({ serviceNs, done })
  }

  #begin(serviceNs: number, done: () => void): void {
    this.#busy++
    this.occupancy.set(this.#sim.now, this.#busy)
    this.#sim.after(serviceNs, () => {
      this.#busy--
      this.#completed++
      const next = this.#take()
      if (next) this.#begin(next.serviceNs, next.done)
      else this.occupancy.set(this.#sim.now, this.#busy)
      done()
    })
  }

  #take(): Waiting | undefined {
    const next = this.#queue[this.#head]
    if (!next) return undefined
    this.#head++
    // Shifting an array is O(n); the spent half is dropped once it dominates.
    if (this.#head > 64 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    return next
  }
}
