/** The OST of the experiments: threads that take RPCs from the scheduler, and one device that serves them in turn. */
import { type RandomStream } from '../../base/random.ts'
import { NS_PER_S } from '../../base/units.ts'
import { FifoServer } from '../../sim/fifo-server.ts'
import type { Simulation } from '../../sim/simulation.ts'
import type { SchedulerSetup } from './tbf-queues.ts'
import { TbfQueues } from './tbf-queues.ts'

/** I/O threads: RPCs that the device may hold. */
const THREADS = 16
/** The time of one RPC on the device varies by so much each way, uniformly. */
const JITTER = 0.2

/** One RPC on its way. */
export interface Rpc {
  /** Number of the job. */
  readonly job: number
  /** Called when the device is done with it. */
  readonly served: () => void
}

/** RPCs of one job since the start. */
export interface JobCounts {
  arrivals: number
  dispatched: number
  served: number
}

export class IdealOst {
  readonly queues: TbfQueues<Rpc>
  readonly counts: readonly JobCounts[]
  readonly #sim: Simulation
  readonly #device: FifoServer
  readonly #meanNs: number
  readonly #jitter: RandomStream
  #idleThreads = THREADS
  #timerAt = Infinity

  /**
   * @param capacity  RPC/s that the device serves without pause, on average.
   * @param jitter    draws one number an RPC.
   */
  constructor(sim: Simulation, jobs: number, capacity: number, scheduler: SchedulerSetup, jitter: RandomStream) {
    this.#sim = sim
    this.#device = new FifoServer(sim)
    this.#meanNs = NS_PER_S / capacity
    this.#jitter = jitter
    this.queues = new TbfQueues(jobs, scheduler)
    this.counts = Array.from({ length: jobs }, () => ({ arrivals: 0, dispatched: 0, served: 0 }))
  }

  /** Time for which the device was busy since the start, ns. */
  get busyNs(): number {
    return this.#device.occupancy.areaAt(this.#sim.now)
  }

  receive(rpc: Rpc): void {
    this.counts[rpc.job]!.arrivals++
    this.queues.enqueue(this.#sim.now, rpc.job, rpc)
    this.pump()
  }

  /** Hands out what may go; to be called after the rules changed, too. */
  pump(): void {
    while (this.#idleThreads > 0) {
      const rpc = this.queues.dequeue(this.#sim.now, this.#device.busy === 0)
      if (!rpc) break
      this.#serve(rpc)
    }
    if (this.#idleThreads > 0) this.#arm()
  }

  #serve(rpc: Rpc): void {
    const counts = this.counts[rpc.job]!
    counts.dispatched++
    this.#idleThreads--
    const serviceNs = this.#meanNs * (1 - JITTER + 2 * JITTER * this.#jitter.uniform())
    this.#device.submit(serviceNs, () => {
      counts.served++
      this.#idleThreads++
      rpc.served()
      this.pump()
    })
  }

  #arm(): void {
    const at = Math.ceil(this.queues.wakeAt)
    if (at === Infinity || at === this.#timerAt) return
    this.#timerAt = at
    this.#sim.at(at, () => {
      // An older timer finds another instant and does nothing.
      if (this.#timerAt !== at) return
      this.#timerAt = Infinity
      this.pump()
    })
  }
}
