/**
 * A cluster made of a scenario: clients, servers and jobs on one simulation, and the nodes whose shells an operator (or the
 * console) talks to. Deterministic: same scenario and seed, same bytes out.
 */
import { sToNs } from '../base/units.ts'
import { Simulation } from '../sim/simulation.ts'
import { EmulatedClient } from './client.ts'
import { EmulatedNode } from './node.ts'
import { EmulatedOss, type EmulatedOst } from './oss.ts'
import { ossParameters } from './parameters.ts'
import type { Scenario } from './scenario.ts'
import { squeue } from './squeue.ts'
import { EmulatedJob } from './workload.ts'

export interface EmulatorOptions {
  /** Instead of the scenario's seed. */
  readonly seed?: number | undefined
  /** Unix seconds at virtual time 0, instead of the scenario's epoch. */
  readonly epochSeconds?: number | undefined
}

export class EmulatedCluster {
  readonly scenario: Scenario
  readonly seed: number
  readonly epochSeconds: number
  readonly sim = new Simulation()
  readonly oss: readonly EmulatedOss[]
  readonly jobs: readonly EmulatedJob[]
  /** Every node with a shell: the servers, then the one with the resource manager. */
  readonly nodes: readonly EmulatedNode[]

  constructor(scenario: Scenario, options: EmulatorOptions = {}) {
    this.scenario = scenario
    this.seed = options.seed ?? scenario.seed
    this.epochSeconds = options.epochSeconds ?? scenario.epoch_s
    const { clients } = scenario
    this.oss = scenario.oss.map((o) => new EmulatedOss(this.sim, o, this.epochSeconds))
    const nodes = Array.from(
      { length: clients.count },
      (_, i) =>
        new EmulatedClient(
          this.sim,
          i + 1,
          clients.max_rpcs_in_flight,
          clients.network_mb_s * 1e6,
          clients.latency_us * 1000,
        ),
    )
    const osts = this.oss.flatMap((o) => o.osts)
    for (const o of this.oss) o.service.writePolicies(scenario.policy)
    this.jobs = scenario.jobs.map((j) => new EmulatedJob(this.sim, j, this.seed, nodes, osts))
    this.nodes = [
      ...this.oss.map((o) => new EmulatedNode(this.sim, o.name, 'oss', ossParameters(o))),
      new EmulatedNode(this.sim, 'sched01', 'scheduler', [], {
        squeue: squeue(() => this.jobs.filter((j) => this.isQueued(j)).map((j) => j.scenario)),
      }),
    ]
  }

  get osts(): readonly EmulatedOst[] {
    return this.oss.flatMap((o) => o.osts)
  }

  /** Virtual seconds since the start. */
  get seconds(): number {
    return this.sim.now / 1e9
  }

  node(name: string): EmulatedNode | undefined {
    return this.nodes.find((n) => n.name === name)
  }

  /** Whether a job is in the queue of the resource manager now. */
  isQueued(job: EmulatedJob): boolean {
    return job.scenario.in_slurm && this.sim.now >= sToNs(job.scenario.start_s) && job.running
  }
}
