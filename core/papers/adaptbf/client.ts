/** Client node of a job: its processes, and the 8 RPCs that they together keep in flight to the OST. */
import { NS_PER_MS, NS_PER_S, sToNs } from '../../base/units.ts'
import type { Simulation } from '../../sim/simulation.ts'
import type { ExperimentServer, Rpc } from './server.ts'
import type { JobSetup, ProcessSetup } from './workload.ts'

/** max_rpcs_in_flight. */
const IN_FLIGHT = 8
/** One-way network delay. */
const NETWORK_NS = 0.1 * NS_PER_MS
/** Time of a process between a reply and its next RPC. */
const CLIENT_NS = 0.2 * NS_PER_MS

export class Client {
  /** End of the last process, s; undefined while one runs. */
  endS: number | undefined
  /** Duration of each burst, s, in the order of their ends. */
  readonly burstSeconds: number[] = []
  readonly #sim: Simulation
  #inFlight = 0
  readonly #waiting: Process[] = []
  #running: number

  constructor(sim: Simulation, ost: Pick<ExperimentServer, 'receive'>, job: number, setup: JobSetup) {
    this.#sim = sim
    this.#running = setup.processes.length
    for (const process of setup.processes) new Process(sim, this, ost, job, process)
  }

  issue(process: Process): void {
    if (this.#inFlight === IN_FLIGHT) {
      this.#waiting.push(process)
      return
    }
    this.#inFlight++
    process.send()
  }

  /** A reply frees a slot for the next waiting RPC. */
  replied(): void {
    this.#inFlight--
    const next = this.#waiting.shift()
    if (next) this.issue(next)
  }

  ended(): void {
    if (--this.#running === 0) this.endS = this.#sim.now / NS_PER_S
  }
}

class Process {
  readonly #sim: Simulation
  readonly #client: Client
  readonly #setup: ProcessSetup
  #remaining: number
  #remainingInBurst = 0
  #burstAtNs = 0
  /** One RPC is outstanding at a time, so one object and one callback per step are enough. */
  readonly #arrive: () => void
  readonly #reply: () => void
  readonly #issue: () => void

  constructor(
    sim: Simulation,
    client: Client,
    ost: Pick<ExperimentServer, 'receive'>,
    job: number,
    setup: ProcessSetup,
  ) {
    this.#sim = sim
    this.#client = client
    this.#setup = setup
    this.#remaining = setup.rpcs
    const rpc: Rpc = { job, served: () => sim.after(NETWORK_NS, this.#reply) }
    this.#arrive = () => ost.receive(rpc)
    this.#reply = () => this.#replied()
    this.#issue = () => client.issue(this)
    sim.at(sToNs(setup.startS), () => this.#begin())
  }

  send(): void {
    this.#sim.after(NETWORK_NS, this.#arrive)
  }

  #begin(): void {
    this.#remainingInBurst = Math.min(this.#remaining, this.#setup.burst?.rpcs ?? this.#remaining)
    this.#burstAtNs = this.#sim.now
    this.#issue()
  }

  #replied(): void {
    this.#client.replied()
    this.#remaining--
    this.#remainingInBurst--
    if (this.#remainingInBurst > 0) {
      this.#sim.after(CLIENT_NS, this.#issue)
      return
    }
    const { burst } = this.#setup
    if (burst) this.#client.burstSeconds.push((this.#sim.now - this.#burstAtNs) / NS_PER_S)
    if (this.#remaining === 0) this.#client.ended()
    else this.#sim.after(sToNs(burst?.thinkS ?? 0), () => this.#begin())
  }
}
