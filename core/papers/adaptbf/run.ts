/** One run of the model: jobs on an ideal OST under one controller, from a seed to all values that claims need. */
import { mean } from '../../base/statistics.ts'
import { invariant } from '../../base/result.ts'
import { randomStream } from '../../base/random.ts'
import { NS_PER_MS, NS_PER_S, sToNs } from '../../base/units.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import { Simulation } from '../../sim/simulation.ts'
import { Client } from './client.ts'
import { type ControlSetup, Control, type ControlTrace } from './control.ts'
import { ModelServer } from './model-server.ts'
import type { ExperimentServer } from './server.ts'
import { ShippedServer, type ShippedServerParts } from './shipped-server.ts'
import type { SchedulerSetup } from './tbf-queues.ts'
import type { JobSetup } from './workload.ts'

/** Options of the server as shipped, apart from those that follow from the run. */
export type ShippedSetup = Pick<ShippedServerParts, 'fences' | 'depth' | 'hasQueueCounts'>

/** One variant of an experiment. */
export interface RunSetup {
  /** RPC/s that the device can serve. */
  readonly capacity: number
  readonly jobs: readonly JobSetup[]
  readonly scheduler?: Partial<SchedulerSetup> | undefined
  /** Runs on the server as shipped; `scheduler` is then not used. */
  readonly shipped?: ShippedSetup | undefined
  readonly control: ControlSetup
  /** End of the run, s; undefined: the end of the last job. */
  readonly horizonS?: number | undefined
}

/** Length of a bin of the timeline, ns. */
const BIN_NS = 100 * NS_PER_MS
/** Limit of a run without a horizon that does not end by itself, s. */
const LONGEST_S = 100_000

/** Result of a run. */
export interface Run {
  readonly capacity: number
  readonly jobs: readonly JobSetup[]
  /** RPCs served, shape [jobs][bins of 100 ms]. */
  readonly served: readonly (readonly number[])[]
  /** Completion of each job, s; the horizon if it did not end. */
  readonly ends: readonly number[]
  /** Mean duration of each job's bursts, s; NaN without bursts. */
  readonly burstMeans: readonly number[]
  readonly trace: ControlTrace
}

/** Scheduler of the paper: 3 tokens a bucket, no losses, unruled RPCs on idle threads. */
const PAPER_SCHEDULER: SchedulerSetup = { depth: 3, bucket: 'carried', fallback: 'idle', spill: false }

/** Runs one variant. Same setup and seed: same result. */
export function simulate(setup: RunSetup, seed: number): Run {
  const { capacity, jobs, horizonS } = setup
  const sim = new Simulation()
  const server = serverOf(sim, setup, seed)
  const clients = jobs.map((job, number) => new Client(sim, server, number, job))
  const control = new Control(sim, server, jobs, setup.control, randomStream(seed, 'lag'))
  const served: number[][] = jobs.map(() => [])
  const before = jobs.map(() => 0)
  let isOver = false
  for (let bin = 1; !isOver; bin++) {
    sim.runUntil(bin * BIN_NS)
    for (const [job, counts] of server.counts.entries()) {
      served[job]!.push(counts.served - before[job]!)
      before[job] = counts.served
    }
    isOver = horizonS === undefined ? clients.every(({ endS }) => endS !== undefined) : bin * BIN_NS >= sToNs(horizonS)
    invariant((bin * BIN_NS) / NS_PER_S < LONGEST_S, 'a run without a horizon ends when its jobs do')
  }
  return {
    capacity,
    jobs,
    served,
    ends: clients.map(({ endS }) => endS ?? horizonS ?? NaN),
    burstMeans: clients.map(({ burstSeconds }) => mean(burstSeconds)),
    trace: control.trace,
  }
}

function serverOf(
  sim: Simulation,
  { jobs, capacity, scheduler, shipped, control }: RunSetup,
  seed: number,
): ExperimentServer {
  const jitter = randomStream(seed, 'device')
  if (shipped) {
    const dtSeconds = control.kind === ADAPTBF ? control.dtSeconds : 1
    return new ShippedServer(sim, { ...shipped, jobs, capacity, controller: control.kind, dtSeconds, jitter })
  }
  return new ModelServer(sim, { jobs, capacity, scheduler: { ...PAPER_SCHEDULER, ...scheduler }, jitter })
}
