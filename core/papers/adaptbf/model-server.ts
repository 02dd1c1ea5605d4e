/** Server of the paper's model: rules of the ideal OST, and all counts for its controller. */
import type { JobMeasure } from '../../adaptbf/demand.ts'
import type { RandomStream } from '../../base/random.ts'
import type { Decision, Observation } from '../../control/controller.ts'
import { type Deadband, ruleChanges } from '../../control/rule-changes.ts'
import type { Simulation } from '../../sim/simulation.ts'
import { IdealOst } from './ideal-ost.ts'
import type { ExperimentServer, JobCounts, Rpc } from './server.ts'
import type { SchedulerSetup } from './tbf-queues.ts'
import type { JobSetup } from './workload.ts'

/** Inputs of ModelServer. */
export interface ModelServerParts {
  readonly jobs: readonly JobSetup[]
  /** Mean RPC/s of the busy device. */
  readonly capacity: number
  readonly scheduler: SchedulerSetup
  /** Draws one number per RPC. */
  readonly jitter: RandomStream
}

export class ModelServer implements ExperimentServer {
  readonly #sim: Simulation
  readonly #ost: IdealOst
  readonly #jobs: readonly JobSetup[]
  readonly #numbers: ReadonlyMap<string, number>
  /** Rates by JobID, RPC/s. */
  readonly #inForce = new Map<string, number>()

  constructor(sim: Simulation, { jobs, capacity, scheduler, jitter }: ModelServerParts) {
    this.#sim = sim
    this.#ost = new IdealOst(sim, jobs.length, capacity, scheduler, jitter)
    this.#jobs = jobs
    this.#numbers = new Map(jobs.map(({ id }, number) => [id, number]))
  }

  get counts(): readonly JobCounts[] {
    return this.#ost.counts
  }

  get busyNs(): number {
    return this.#ost.busyNs
  }

  receive(rpc: Rpc): void {
    this.#ost.receive(rpc)
  }

  activitySince(before: readonly JobCounts[]): JobMeasure[] {
    return this.#jobs.map(({ id: jobId, nodes }, number): JobMeasure => {
      const now = this.counts[number]!
      const then = before[number]!
      return {
        jobId,
        nodes,
        served: now.served - then.served,
        dispatched: now.dispatched - then.dispatched,
        arrivals: now.arrivals - then.arrivals,
        queued: this.#ost.queues.queued(number),
      }
    })
  }

  /** The position of a job among the allocations is its priority. */
  plan(_: Observation, { allocations }: Decision, deadband: Deadband): readonly (() => void)[] {
    const apply = (): void => {
      const now = this.#sim.now
      const { queues } = this.#ost
      const ranks = new Map(allocations.map(({ jobId }, rank) => [jobId, rank]))
      const { stop, lower, raise, start } = ruleChanges(this.#inForce, allocations, deadband)
      for (const jobId of stop) {
        queues.unrule(now, this.#numbers.get(jobId)!)
        this.#inForce.delete(jobId)
      }
      for (const { jobId, ratePerSec } of [...lower, ...raise, ...start]) {
        queues.rule(now, this.#numbers.get(jobId)!, ratePerSec, ranks.get(jobId)!)
        this.#inForce.set(jobId, ratePerSec)
      }
      this.#ost.pump()
    }
    return [apply]
  }
}
