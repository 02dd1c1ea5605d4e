/** V-D: cost of a control cycle, of a stage and of a node on this machine. The only PADLL experiment that depends on a clock. */
import { randomStream } from '../../base/random.ts'
import { invariant } from '../../base/result.ts'
import { median } from '../../base/statistics.ts'
import { NS_PER_S } from '../../base/units.ts'
import type { Experiment, Host, Part } from '../experiment.ts'
import { claimsOf, named } from './expectations.ts'
import { Hierarchy } from './hierarchy.ts'
import { bytesPerCycle, callNs, nodeCpuPercent, nodeMemoryMib, overheadPercent, stageOf } from './node-cost.ts'
import type { ScenarioJob } from './scenarios.ts'

const SCENE = 'V-D'
/** Sizes for which the paper prints the latency. */
const PRINTED = [1, 40, 1000] as const
/** Points of the curve between them. */
const BETWEEN = [10, 100, 250, 500] as const
/** Latencies that the paper prints, us. */
const PAPER_US: readonly (readonly [number, number])[] = [
  [1, 162],
  [40, 664],
  [1000, 11_110],
]
/** Cycles until the code is compiled: more if each does less. */
const warmUp = (locals: number): number => 20 + Math.ceil(2000 / locals)
const CYCLES = 31
const STAGES_A_JOB = 4

const partOf = (locals: number): string => `padll/${SCENE}/${locals} local controllers`
const CALL = `padll/${SCENE}/stage`
const BYTES = `padll/${SCENE}/bytes`
const MEMORY = `padll/${SCENE}/memory`

const cyclePart = (locals: number): Part<number> => ({
  id: partOf(locals),
  run: (seed, host) => cycleUs(locals, seed, host),
})

export const cost: Experiment<number> = {
  id: `padll.${SCENE}`,
  system: 'padll',
  title: 'Cost of a control cycle, of a stage and of a node',
  setup: [
    'One process of this machine, compiled code warm, medians. Control cycle under PSFA: collect, compute and enforce over 1 to ' +
      '1,000 local controllers with a stage each, four per job; messages are calls, so that sockets are not part of it.',
    'Stage: open calls in sequence on one channel that does not throttle. Node: a stage, its local controller and the frames to the ' +
      'global controller; the process around them, interposition and the program are not included. `npm run bench` times the C ' +
      'stage with 1 to 256 threads and controllers behind sockets.',
  ],
  expectations: claimsOf(SCENE),
  parts: [
    ...PRINTED.map(cyclePart),
    ...BETWEEN.map((locals): Part<number> => ({ ...cyclePart(locals), isSeedless: true })),
    { id: CALL, run: (_, host) => callNs(host) },
    { id: BYTES, isSeedless: true, run: bytesPerCycle },
    { id: MEMORY, isSeedless: true, run: (_, host) => nodeMemoryMib(host) },
  ],
  measure(runs) {
    const [one, few, many] = PRINTED.map((locals) => runs.get(partOf(locals))!)
    const call = runs.get(CALL)!
    return named<number | Record<string, number>>(SCENE, {
      'cycle-us': Object.fromEntries(points(runs)),
      'growth-1-to-40': few! / one!,
      'growth-40-to-1000': many! / few!,
      'cycle-1000-ms': many! / 1000,
      'stage-throughput': 1000 / call,
      overhead: overheadPercent(call),
      'bytes-per-cycle': runs.get(BYTES)!,
      'node-cpu': nodeCpuPercent(call, one!),
      'node-memory': runs.get(MEMORY)!,
    })
  },
  figures: (runs) => [
    {
      kind: 'curve',
      id: 'fig10',
      title: 'Control cycle by local controllers',
      unit: '\u00b5s',
      across: 'local controllers',
      isLog: true,
      series: [{ name: 'in process', points: points(runs) }],
      published: [{ name: 'over a network', points: PAPER_US }],
    },
  ],
}

/** Cycles by number of local controllers, us. */
const points = (runs: ReadonlyMap<string, number>): [number, number][] =>
  [...PRINTED, ...BETWEEN].toSorted((a, b) => a - b).map((locals) => [locals, runs.get(partOf(locals))!])

function cycleUs(locals: number, seed: number, { now }: Host): number {
  const random = randomStream(seed, 'cycle')
  const jobs = Array.from({ length: Math.ceil(locals / STAGES_A_JOB) }, (_, i): ScenarioJob => ({
    id: `job${i}`,
    load: 0,
    demand: 1000 + random.below(4000),
  }))
  const hierarchy = new Hierarchy({ control: { algorithm: 'psfa' }, jobs })
  const stages = Array.from({ length: locals }, (_, at) =>
    stageOf(jobs[Math.floor(at / STAGES_A_JOB)]!.id, at % STAGES_A_JOB, at),
  )
  jobs.forEach((job, i) => hierarchy.join(job, stages.slice(STAGES_A_JOB * i, STAGES_A_JOB * (i + 1)), 0))
  const costs: number[] = []
  const unmeasured = warmUp(locals)
  for (let cycle = 1; cycle <= unmeasured + CYCLES; cycle++) {
    const nowNs = cycle * NS_PER_S
    // Lease renewals and the like run first: they are not part of a cycle.
    hierarchy.cycle(nowNs - 1)
    // Usage changes from cycle to cycle, so that there is something to enforce.
    for (const stage of stages)
      stage.submit({ call: 'open', path: '/scratch/a', count: 1 + random.below(200) }, nowNs - 1)
    const startMs = now()
    hierarchy.controlCycle(nowNs)
    if (cycle > unmeasured) costs.push((now() - startMs) * 1000)
  }
  invariant(hierarchy.global.status(0).cycle >= unmeasured + CYCLES, 'every step was a control cycle')
  return median(costs)
}
