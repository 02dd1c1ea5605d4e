/**
 * An emulated OSS: `ost_io` with its scheduler and service threads, and the OSTs behind it.
 *
 * A thread that is free asks the scheduler of its CPT for an RPC; when every queue is empty or throttled, a one-shot timer
 * at the head's deadline wakes the CPT. An OST keeps the read and write counters that job_stats shows.
 */
import { Disk } from '../sim/disk.ts'
import type { Simulation } from '../sim/simulation.ts'
import { NrsService } from '../tbf/nrs-service.ts'
import { JobStatsTable } from './job-stats-table.ts'
import type { RequestKey } from '../tbf/conditions.ts'
import type { OssScenario } from './scenario.ts'

/** One data RPC on its way from a client process to a target and back. */
export interface Rpc extends RequestKey {
  readonly op: 'read' | 'write'
  readonly bytes: number
  readonly ost: EmulatedOst
  /** When the process wanted it. */
  readonly issuedNs: number
  /** Called at the client when the reply is there. */
  readonly done: () => void
}

export class EmulatedOst {
  readonly name: string
  readonly oss: EmulatedOss
  readonly disk: Disk
  readonly jobStats: JobStatsTable

  constructor(sim: Simulation, oss: EmulatedOss, scenario: OssScenario['osts'][number], epochSeconds: number) {
    this.name = scenario.name
    this.oss = oss
    this.disk = new Disk(sim, {
      bandwidthBps: scenario.disk.bandwidth_mb_s * 1e6,
      perOpNs: scenario.disk.per_op_us * 1000,
      channels: scenario.disk.channels,
    })
    this.jobStats = new JobStatsTable(epochSeconds)
  }
}

export class EmulatedOss {
  readonly name: string
  readonly version: string
  readonly service: NrsService<Rpc>
  readonly osts: readonly EmulatedOst[]
  readonly #sim: Simulation
  readonly #idleThreads: number[]
  /** Instant of the pending wake-up per CPT; an older timer finds another value and does nothing. */
  readonly #timer: number[]

  constructor(sim: Simulation, scenario: OssScenario, epochSeconds: number) {
    this.#sim = sim
    this.name = scenario.name
    this.version = scenario.version
    this.service = new NrsService<Rpc>({ cpts: scenario.cpts, hp: true })
    this.osts = scenario.osts.map((o) => new EmulatedOst(sim, this, o, epochSeconds))
    // Threads are spread over CPTs; every CPT has at least one.
    this.#idleThreads = Array.from({ length: scenario.cpts }, (_, i) =>
      Math.max(1, Math.floor(scenario.threads / scenario.cpts) + (i < scenario.threads % scenario.cpts ? 1 : 0)),
    )
    this.#timer = this.#idleThreads.map(() => Infinity)
  }

  /** Takes an RPC off the network; `reply` is called when its service ends. LNet pins one client NID to one CPT. */
  receive(rpc: Rpc, cptHash: number, reply: () => void): void {
    const cpt = cptHash % this.service.cpts
    this.#replies.set(rpc, reply)
    this.service.enqueue(this.#sim.now, cpt, 'reg', rpc)
    this.#dispatch(cpt)
  }

  readonly #replies = new Map<Rpc, () => void>()

  /** Lets every CPT look again, after rules or policies changed. */
  kick(): void {
    for (let cpt = 0; cpt < this.service.cpts; cpt++) this.#dispatch(cpt)
  }

  #dispatch(cpt: number): void {
    while ((this.#idleThreads[cpt] as number) > 0) {
      const next = this.service.dequeue(this.#sim.now, cpt)
      if (!next) break
      this.#idleThreads[cpt] = (this.#idleThreads[cpt] as number) - 1
      this.#serve(cpt, next.request, next.queue)
    }
    if ((this.#idleThreads[cpt] as number) > 0) this.#arm(cpt)
  }

  #arm(cpt: number): void {
    const at = this.service.wakeAt(cpt)
    if (at === Infinity || at === this.#timer[cpt]) return
    const wake = Math.max(at, this.#sim.now)
    this.#timer[cpt] = at
    this.#sim.at(wake, () => {
      if (this.#timer[cpt] !== at) return
      this.#timer[cpt] = Infinity
      this.#dispatch(cpt)
    })
  }

  #serve(cpt: number, rpc: Rpc, queue: 'reg' | 'hp'): void {
    const started = this.#sim.now
    rpc.ost.disk.transfer(rpc.bytes, () => {
      const now = this.#sim.now
      rpc.ost.jobStats.countIo(now, rpc.jobId, rpc.op, rpc.bytes, now - started)
      this.service.finished(cpt, queue)
      this.#idleThreads[cpt] = (this.#idleThreads[cpt] as number) + 1
      const reply = this.#replies.get(rpc)
      this.#replies.delete(rpc)
      reply?.()
      this.#dispatch(cpt)
    })
  }
}
