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
  #slowness = 1
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
   * From now on every service that begins takes so many times as long; Infinity: none begins until it is set again.
   *
   * @param times  > 0; 1 is the pace that callers mean.
   */
  setSlowness(times: number): void {
    invariant(times > 0, 'a station is slower by a factor above 0')
    this.#slowness = times
    while (times < Infinity && this.#busy < this.servers) {
      const next = this.#take()
      if (!next) break
      this.#begin(next.serviceNs, next.done)
    }
  }

  /**
   * Submits one customer; `done` is called when its service ends.
   *
   * @param serviceNs  >= 0; rounded up to whole ns.
   */
  submit(serviceNs: number, done: () => void): void {
    if (this.#busy < this.servers && this.#slowness < Infinity) this.#begin(serviceNs, done)
    else this.#queue.push({ serviceNs, done })
  }

  #begin(serviceNs: number, done: () => void): void {
    this.#busy++
    this.occupancy.set(this.#sim.now, this.#busy)
    this.#sim.after(serviceNs * this.#slowness, () => {
      this.#busy--
      this.#completed++
      const next = this.#slowness < Infinity ? this.#take() : undefined
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
