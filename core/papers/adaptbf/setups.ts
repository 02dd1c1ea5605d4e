/**
 * Jobs of the paper's experiments. The paper gives patterns and priorities; burst sizes, pauses, capacities and T are
 * chosen here so that the patterns are distinguishable (spec/adaptbf A25, A26).
 */
import { ADAPTBF } from '../../controllers/registry.ts'
import type { AdapTbfSetup } from './control.ts'
import type { RunSetup } from './run.ts'
import { bursts, continuous, type JobSetup, processes } from './workload.ts'

const named = (jobs: readonly Omit<JobSetup, 'id'>[]): JobSetup[] =>
  jobs.map((job, i) => ({ id: `Job${i + 1}`, ...job }))

/** Capacity, T = capacity, and jobs: a setup without its controller. */
export type Scene = Pick<RunSetup, 'capacity' | 'jobs' | 'horizonS'>

/** IV-D: four equal jobs, at priorities of 10, 10, 30 and 50 %. */
export const IV_D: Scene = {
  capacity: 500,
  jobs: named([1, 1, 3, 5].map((nodes) => ({ nodes, processes: processes(16, continuous()) }))),
}

/** IV-E: three bursty jobs of 30 %, one streaming job of 10 %. */
export const IV_E: Scene = {
  capacity: 500,
  jobs: named([
    { nodes: 3, processes: processes(2, bursts(32, 1, 0.35)) },
    { nodes: 3, processes: processes(2, bursts(64, 2.2, 0.8)) },
    { nodes: 3, processes: processes(2, bursts(96, 3.3, 1.7)) },
    { nodes: 1, processes: processes(16, continuous()) },
  ]),
}

/**
 * IV-F: equal priorities; three bursty jobs start to stream at 20, 50 and 80 s. A slow OST keeps Job4 running until
 * then.
 */
export const IV_F: Scene = {
  capacity: 250,
  jobs: named([
    { nodes: 1, processes: [bursts(64, 2.5, 0.3), continuous(20)] },
    { nodes: 1, processes: [bursts(40, 2.2, 0.9), continuous(50)] },
    { nodes: 1, processes: [bursts(24, 2, 1.4), continuous(80)] },
    { nodes: 1, processes: processes(16, continuous()) },
  ]),
}

/** IV-F with endless processes, for 120 s. */
export const IV_F_ENDLESS: Scene = {
  capacity: 500,
  horizonS: 120,
  jobs: named([
    { nodes: 1, processes: [bursts(48, 1.5, 0.3, Infinity), continuous(20, Infinity)] },
    { nodes: 1, processes: [bursts(32, 2, 0.9, Infinity), continuous(50, Infinity)] },
    { nodes: 1, processes: [bursts(16, 2.5, 1.4, Infinity), continuous(80, Infinity)] },
    { nodes: 1, processes: processes(16, continuous(0, Infinity)) },
  ]),
}

/** A scene with bursts and pauses of another length. */
export const withBursts = (scene: Scene, factor: number): Scene => ({
  ...scene,
  jobs: scene.jobs.map((job) => ({
    ...job,
    processes: job.processes.map(({ burst, ...process }) =>
      burst ? { ...process, burst: { rpcs: burst.rpcs * factor, thinkS: burst.thinkS * factor } } : process,
    ),
  })),
})

/** AdapTBF as the paper runs it: every 100 ms, T = capacity; demand is served plus waiting RPCs. */
export const adaptbf = ({ capacity }: Scene, changes: Partial<AdapTbfSetup> = {}): AdapTbfSetup => ({
  kind: ADAPTBF,
  maxRatePerSec: capacity,
  dtSeconds: 0.1,
  demand: 'backlog',
  ...changes,
})

/** Description of the clients. */
export const CLIENT_SETUP =
  'Clients: one per job with 8 RPCs in flight; a process has 1 RPC outstanding; 0.1 ms network each way, 0.2 ms in the client.'

/** Description of the parts that all setups of the model share. */
export const MODEL_SETUP: readonly string[] = [
  'OST: 16 I/O threads, one device that serves in order, 1 MiB per RPC, service time uniform within 20 % of its mean.',
  CLIENT_SETUP,
  'TBF: buckets of 3 tokens, carried over changes of the rate; unruled RPCs in one queue, served when no ruled queue is due.',
  'Demand: RPCs dispatched in the period and RPCs still queued at its end; period 100 ms; T = capacity.',
]
