/**
 * Server as shipped: the emulated OSS with the kernel's TBF, and the live control step with its fences and rule commands.
 *
 * Buckets are integer and start full after every change of a rate; jobs without a rule are under the default rule of
 * 10,000/s; timers of the server fire 50 us late. The controller reads served RPCs only, as from job_stats.
 */
import type { JobMeasure } from '../../adaptbf/demand.ts'
import type { RandomStream } from '../../base/random.ts'
import { invariant } from '../../base/result.ts'
import { NS_PER_S } from '../../base/units.ts'
import { ControlSteps, type ServerSeen } from '../../control/control-step.ts'
import type { Decision, Observation } from '../../control/controller.ts'
import { type Fences, LIVE_FENCES } from '../../control/fences.ts'
import type { Deadband } from '../../control/rule-changes.ts'
import type { ControllerName } from '../../controllers/registry.ts'
import { EmulatedOss, type EmulatedOst } from '../../emulator/oss.ts'
import type { Rpc as EmulatedRpc } from '../../emulator/rpc.ts'
import type { Simulation } from '../../sim/simulation.ts'
import type { ExperimentServer, JobCounts, Rpc } from './server.ts'
import type { JobSetup } from './workload.ts'

/** Release of the paper's servers. */
const VERSION = '2.15.5'
const THREADS = 16
const TIMER_LATENCY_US = 50
/** Bytes of an RPC on average, and their variation: it makes the device's time that of the model. */
const RPC_BYTES = 2 ** 20
const JITTER = 0.2

/** Plans are written from the first one on: the controller enforces before the jobs start. */
const ENFORCING: Fences = { ...LIVE_FENCES, shadowNs: 0 }

/** Inputs of ShippedServer. */
export interface ShippedServerParts {
  readonly jobs: readonly JobSetup[]
  /** Mean RPC/s of the busy device. */
  readonly capacity: number
  readonly controller: ControllerName
  /** Period of the controller, s. */
  readonly dtSeconds: number
  /** @default those of live clusters */
  readonly fences?: Fences | undefined
  /** Module parameter tbf_depth. @default 3 */
  readonly depth?: number | undefined
  /** Gives the controller the counts of the model, which no Lustre server exports. */
  readonly hasQueueCounts?: boolean | undefined
  /** Draws one number per RPC. */
  readonly jitter: RandomStream
}

const NO_FLOW = { arrived: 0, dispatched: 0, served: 0 }

export class ShippedServer implements ExperimentServer {
  readonly #oss: EmulatedOss
  readonly #ost: EmulatedOst
  readonly #jobs: readonly JobSetup[]
  readonly #steps: ControlSteps
  readonly #periodNs: number
  readonly #hasQueueCounts: boolean
  readonly #jitter: RandomStream

  constructor(sim: Simulation, parts: ShippedServerParts) {
    const { jobs, capacity, controller, dtSeconds, depth, hasQueueCounts = false, fences = ENFORCING, jitter } = parts
    this.#jobs = jobs
    this.#jitter = jitter
    this.#hasQueueCounts = hasQueueCounts
    this.#periodNs = dtSeconds * NS_PER_S
    const disk = { bandwidth_mb_s: (capacity * RPC_BYTES) / 1e6, per_op_us: 0, channels: 1 }
    const scenario = {
      name: 'oss01',
      version: VERSION,
      cpts: 1,
      timer_latency_us: TIMER_LATENCY_US,
      threads: THREADS,
      osts: [{ name: 'paper-OST0000', disk }],
    }
    this.#oss = new EmulatedOss(sim, scenario, { epochSeconds: 0, seed: 1, counters: false })
    this.#ost = this.#oss.osts[0]!
    if (depth !== undefined) this.#oss.module.depth = depth
    // Without a controller the default policy stays: first come, first served.
    if (controller !== 'none') {
      invariant(this.#oss.io.nrs.writePolicies('tbf jobid').ok, 'the emulated server runs tbf jobid')
    }
    this.#steps = new ControlSteps(
      { controller, fences, periodNs: this.#periodNs, deadbandPercent: 0 },
      'enforce',
      sim.now,
    )
  }

  get counts(): readonly JobCounts[] {
    return this.#jobs.map(({ id }) => {
      const { arrived: arrivals, dispatched, served } = this.#ost.flow.get(id) ?? NO_FLOW
      return { arrivals, dispatched, served }
    })
  }

  get busyNs(): number {
    return this.#ost.busyNs
  }

  receive({ job, served }: Rpc): void {
    const rpc: EmulatedRpc = {
      jobId: this.#jobs[job]!.id,
      nid: `10.4.0.${job + 1}@tcp`,
      opcode: 'ost_write',
      uid: 0,
      gid: 0,
      projid: 0,
      nodemap: 0,
      object: `${job}`,
      target: this.#ost.name,
      op: 'write',
      bytes: RPC_BYTES * (1 - JITTER + 2 * JITTER * this.#jitter.uniform()),
      offset: 0,
      to: this.#ost,
      sender: job,
      done: served,
    }
    this.#ost.receive(rpc, 0, served)
  }

  activitySince(before: readonly JobCounts[]): JobMeasure[] {
    const { counts } = this
    return this.#jobs.flatMap(({ id: jobId, nodes }, number): JobMeasure[] => {
      const now = counts[number]!
      const then = before[number]!
      const served = now.served - then.served
      const queued = now.arrivals - now.dispatched
      if (!this.#hasQueueCounts) return served > 0 ? [{ jobId, nodes, served }] : []
      const dispatched = now.dispatched - then.dispatched
      return [{ jobId, nodes, served, dispatched, arrivals: now.arrivals - then.arrivals, queued }]
    })
  }

  plan(observation: Observation, decision: Decision, _: Deadband): readonly (() => void)[] {
    const { nrs } = this.#oss.io
    const server = this.#oss.name
    const served = new Map(observation.jobs.map((job) => [job.jobId, job.served]))
    const seen: ServerSeen = {
      server,
      rules: nrs.rules(),
      targets: [{ target: observation.target, deltas: observation.jobs }],
      servedPerSec: (jobId) => ((served.get(jobId) ?? 0) * NS_PER_S) / this.#periodNs,
      isSystem: () => false,
    }
    const { plan } = this.#steps.take(seen, { decide: () => [decision], hold: () => [] }, observation.atNs)
    return plan.commands.map(({ value }) => () => {
      invariant(nrs.writeRule(value).ok, `the emulated server accepts ${value}`)
      this.#oss.io.kick()
    })
  }
}
