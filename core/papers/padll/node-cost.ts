/**
 * Cost of the control on a compute node: bytes on its connection to the global controller, time and memory of its local
 * controller and its stage. Real classes and the frames of the wire; the process around them is not included.
 */
import { invariant } from '../../base/result.ts'
import { median } from '../../base/statistics.ts'
import { NS_PER_S } from '../../base/units.ts'
import { Stage } from '../../padll/stage/stage.ts'
import { generateTrace, TRACE_A } from '../../padll/trace/trace.ts'
import type { Host } from '../experiment.ts'
import { Hierarchy } from './hierarchy.ts'
import { MAX_RATE, type ScenarioJob, SCENARIOS, STAGES } from './scenarios.ts'

/** Threads of the replayer in V-B: eight on each of four nodes. */
const REPLAYER_THREADS = 32

export function stageOf(job: string, instance: number, at: number): Stage {
  const identity = { job, instance, pid: 1000 + at, ppid: 1, hostname: `node${at}`, user: 'ana' }
  return new Stage({ identity, mounts: ['/scratch'] })
}

interface Nodes {
  readonly hierarchy: Hierarchy
  readonly stages: readonly Stage[]
}

/** Connects four nodes per job, with a stage and a local controller each. */
function connect(jobs: readonly ScenarioJob[], onFrame?: (bytes: number) => void): Nodes {
  const setup = { control: { algorithm: 'psfa' }, jobs } as const
  const hierarchy = new Hierarchy(onFrame === undefined ? setup : { ...setup, onFrame })
  const stages = jobs.flatMap((job, at) => {
    const own = Array.from({ length: STAGES }, (_, instance) => stageOf(job.id, instance, at * STAGES + instance + 1))
    hierarchy.join(job, own, 0)
    return own
  })
  return { hierarchy, stages }
}

const BYTE_CYCLES = 60

/**
 * Bytes of all frames between the global controller and one local controller in a control cycle: mean over the 16 nodes of V-C
 * while the jobs replay the first minute of trace A. Frames include their heads.
 */
export function bytesPerCycle(): number {
  let isMeasured = false
  let bytes = 0
  const jobs = SCENARIOS[1]
  const { hierarchy, stages } = connect(jobs, (length) => {
    if (isMeasured) bytes += length
  })
  const trace = generateTrace(TRACE_A)
  for (let cycle = 1; cycle <= BYTE_CYCLES; cycle++) {
    const nowNs = cycle * NS_PER_S
    hierarchy.cycle(nowNs - 1)
    stages.forEach((stage, at) => {
      const operations = Math.round((trace[cycle - 1]! * jobs[Math.floor(at / STAGES)]!.load) / STAGES)
      stage.submit({ call: 'open', path: '/scratch/a', count: operations }, nowNs - 1)
    })
    isMeasured = true
    hierarchy.controlCycle(nowNs)
    isMeasured = false
  }
  return bytes / BYTE_CYCLES / stages.length
}

const CALLS = 200_000
const MEASUREMENTS = 7

/** Returns the time of an `open` through a stage whose channel does not throttle, one call after the other, ns. */
export function callNs({ now }: Host): number {
  const stage = stageOf('job', 0, 0)
  const of = { channel: 1000, contextType: 'posix_meta', type: 'no_op', context: 'meta_op' } as const
  const laidOut = [
    stage.housekeeping({ kind: 'create_channel', rule: 1, workflow: 0, ...of }, 0),
    stage.housekeeping(
      { kind: 'create_object', rule: 2, object: 1, bucket: { refillUs: 10_000, rate: 2 ** 40 }, ...of },
      0,
    ),
  ]
  invariant(
    laidOut.every(({ ok }) => ok),
    'one channel with one object is a good layout',
  )
  stage.markReady()
  const request = { call: 'open', path: '/scratch/project/file' } as const
  const loop = (fromNs: number): void => {
    for (let i = 0; i < CALLS; i++) stage.submit(request, fromNs + i * 100)
  }
  // Twice, so that the measured code is compiled.
  loop(0)
  loop(CALLS * 100)
  const times = Array.from({ length: MEASUREMENTS }, (_, i) => {
    const startMs = now()
    loop((i + 2) * CALLS * 100)
    return ((now() - startMs) * 1e6) / CALLS
  })
  return median(times)
}

/**
 * Overhead of a stage without a limit: its time as a percentage of the time that a thread of V-B has for a call in the busiest
 * second of trace A.
 */
export const overheadPercent = (ns: number): number =>
  (100 * ns) / ((REPLAYER_THREADS * NS_PER_S) / Math.max(...generateTrace(TRACE_A)))

/**
 * Processor time of the busiest node of V-C, as a percentage of a second: a job that has all of Max_R makes a quarter of the
 * calls on each of its nodes, and the node's controllers run one cycle.
 *
 * @param cycleUs  control cycle of the whole hierarchy with one node: more than the node's own part.
 */
export const nodeCpuPercent = (ns: number, cycleUs: number): number =>
  (100 * ((MAX_RATE / STAGES) * ns + cycleUs * 1000)) / NS_PER_S

const MIB = 2 ** 20
const MEMORY_JOBS = 250

/** Memory of a node's stage and local controller, MiB: mean over 1,000 nodes; NaN where it cannot be read. */
export function nodeMemoryMib({ heapBytes }: Host): number {
  if (heapBytes === undefined) return NaN
  const jobs = Array.from({ length: MEMORY_JOBS }, (_, i): ScenarioJob => ({ id: `job${i}`, load: 0, demand: 1000 }))
  const before = heapBytes()
  const { hierarchy, stages } = connect(jobs)
  const bytes = heapBytes() - before
  invariant(hierarchy.global.status(0).locals.length === stages.length, 'every node is connected')
  return bytes / MIB / stages.length
}
