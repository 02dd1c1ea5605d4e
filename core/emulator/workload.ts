/**
 * A job's processes and what they do: closed-loop continuous I/O, bursts, or open Poisson arrivals.
 *
 * A process walks its targets round robin. Burst RPCs that find all of the process's slots taken wait in the process, so a
 * slow target stretches the burst, as write-back does.
 */
import { randomStream, type RandomStream } from '../base/random.ts'
import { KIB, NS_PER_S, sToNs } from '../base/units.ts'
import type { Simulation } from '../sim/simulation.ts'
import { Tally } from '../sim/statistics.ts'
import type { EmulatedClient } from './client.ts'
import type { EmulatedOst } from './oss.ts'
import type { JobScenario } from './scenario.ts'

export class EmulatedJob {
  readonly scenario: JobScenario
  servedRpcs = 0
  servedBytes = 0
  /** From the wish of the process to the reply, ns. */
  readonly waits = new Tally()
  /** When the last of `total_rpcs` was served. */
  finishedNs: number | undefined
  #issued = 0
  readonly #sim: Simulation
  readonly #bytes: number
  readonly #stopNs: number

  constructor(
    sim: Simulation,
    scenario: JobScenario,
    seed: number,
    clients: readonly EmulatedClient[],
    targets: readonly EmulatedOst[],
  ) {
    this.#sim = sim
    this.scenario = scenario
    this.#bytes = scenario.size_kib * KIB
    this.#stopNs = scenario.stop_s === undefined ? Infinity : sToNs(scenario.stop_s)
    const mine = scenario.targets.length === 0 ? targets : targets.filter((t) => scenario.targets.includes(t.name))
    for (let p = 0; p < scenario.processes; p++) {
      const client = clients[(scenario.clients[p % scenario.clients.length] as number) - 1] as EmulatedClient
      new Process(sim, this, client, mine, p, randomStream(seed, `job/${scenario.id}/process/${p}`))
    }
  }

  /** Whether one more RPC may be issued now; counts it if so. */
  claim(): boolean {
    if (this.#sim.now >= this.#stopNs) return false
    if (this.scenario.total_rpcs !== undefined && this.#issued >= this.scenario.total_rpcs) return false
    this.#issued++
    return true
  }

  get running(): boolean {
    return this.#sim.now < this.#stopNs && this.finishedNs === undefined
  }

  served(issuedNs: number): void {
    this.servedRpcs++
    this.servedBytes += this.#bytes
    this.waits.add(this.#sim.now - issuedNs)
    if (this.servedRpcs === this.scenario.total_rpcs) this.finishedNs = this.#sim.now
  }

  get bytes(): number {
    return this.#bytes
  }
}

class Process {
  readonly #sim: Simulation
  readonly #job: EmulatedJob
  readonly #client: EmulatedClient
  readonly #targets: readonly EmulatedOst[]
  readonly #random: RandomStream
  #next: number
  #underWay = 0
  /** RPCs wished for and not yet issued (bursts, open arrivals). */
  #backlog: number[] = []

  constructor(
    sim: Simulation,
    job: EmulatedJob,
    client: EmulatedClient,
    targets: readonly EmulatedOst[],
    number: number,
    random: RandomStream,
  ) {
    this.#sim = sim
    this.#job = job
    this.#client = client
    this.#targets = targets
    this.#random = random
    this.#next = number % targets.length
    const { pattern, start_s, outstanding } = job.scenario
    sim.at(sToNs(start_s), () => {
      if (pattern.kind === 'continuous') for (let i = 0; i < outstanding; i++) this.#continue()
      else if (pattern.kind === 'bursts') this.#burst(pattern.rpcs, sToNs(pattern.every_s), pattern.jitter)
      else this.#arrive(NS_PER_S / pattern.rate)
    })
  }

  #continue(): void {
    if (this.#job.claim()) this.#issue(this.#sim.now, () => this.#continue())
  }

  #burst(rpcs: number, everyNs: number, jitter: number): void {
    if (!this.#job.running) return
    const late = Math.round(this.#random.uniform() * jitter * everyNs)
    this.#sim.after(late, () => {
      for (let i = 0; i < rpcs; i++) this.#wish()
    })
    this.#sim.after(everyNs, () => this.#burst(rpcs, everyNs, jitter))
  }

  #arrive(meanNs: number): void {
    if (!this.#job.running) return
    this.#wish()
    this.#sim.after(this.#random.exponential(meanNs), () => this.#arrive(meanNs))
  }

  #wish(): void {
    if (!this.#job.claim()) return
    if (this.#underWay < this.#job.scenario.outstanding) this.#issue(this.#sim.now, () => this.#drain())
    else this.#backlog.push(this.#sim.now)
  }

  #drain(): void {
    const since = this.#backlog.shift()
    if (since !== undefined) this.#issue(since, () => this.#drain())
  }

  #issue(issuedNs: number, then: () => void): void {
    const ost = this.#targets[this.#next] as EmulatedOst
    this.#next = (this.#next + 1) % this.#targets.length
    this.#underWay++
    this.#client.issue({
      jobId: this.#job.scenario.id,
      nid: this.#client.nid,
      op: this.#job.scenario.op,
      bytes: this.#job.bytes,
      ost,
      issuedNs,
      done: () => {
        this.#underWay--
        this.#job.served(issuedNs)
        then()
      },
    })
  }
}
