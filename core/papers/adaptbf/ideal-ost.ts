/** OST of the experiments: threads that take RPCs from the scheduler, and one device that serves them in turn. */
import { type RandomStream } from '../../base/random.ts'
import { NS_PER_S } from '../../base/units.ts'
import { FifoServer } from '../../sim/fifo-server.ts'
import type { Simulation } from '../../sim/simulation.ts'
import type { JobCounts, Rpc } from './server.ts'
import type { SchedulerSetup } from './tbf-queues.ts'
import { TbfQueues } from './tbf-queues.ts'

/** I/O threads: RPCs that the device may hold. */
const THREADS = 16
/** Device time of one RPC varies uniformly by this much each way. */
const JITTER = 0.2

/** Counts of one job, as the OST moves them. */
interface MovingCounts extends JobCounts {
  arrivals: number
  dispatched: number
  served: number
}

export class IdealOst {
  readonly queues: TbfQueues<Rpc>
  readonly counts: readonly MovingCounts[]
  readonly #sim: Simulation
  readonly #device: FifoServer
  readonly #meanNs: number
  readonly #jitter: RandomStream
  #idleThreads = THREADS
  #timerAt = Infinity

  /**
   * @param capacity  mean RPC/s of the busy device.
   * @param jitter    draws one number per RPC.
   */
  constructor(sim: Simulation, jobs: number, capacity: number, scheduler: SchedulerSetup, jitter: RandomStream) {
    this.#sim = sim
    this.#device = new FifoServer(sim)
    this.#meanNs = NS_PER_S / capacity
    this.#jitter = jitter
    this.queues = new TbfQueues(jobs, scheduler)
    this.counts = Array.from({ length: jobs }, () => ({ arrivals: 0, dispatched: 0, served: 0 }))
  }

  /** Busy time of the device since the start, ns. */
  get busyNs(): number {
    return this.#device.occupancy.areaAt(this.#sim.now)
  }

  receive(rpc: Rpc): void {
    this.counts[rpc.job]!.arrivals++
    this.queues.enqueue(this.#sim.now, rpc.job, rpc)
    this.pump()
  }

  /** Starts the RPCs that may go; to be called after changes of the rules, too. */
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
      // An outdated timer finds another time and does nothing.
      if (this.#timerAt !== at) return
      this.#timerAt = Infinity
      this.pump()
    })
  }
}
