/** V-D: cost of a control cycle and of a stage on this machine. The only PADLL experiment that depends on a clock. */
import { median } from '../../base/statistics.ts'
import { invariant } from '../../base/result.ts'
import { NS_PER_S } from '../../base/units.ts'
import { randomStream } from '../../base/random.ts'
import { Stage } from '../../padll/stage/stage.ts'
import type { Experiment, Host } from '../experiment.ts'
import { claimsOf, named, published } from './expectations.ts'
import { Hierarchy } from './hierarchy.ts'
import type { ScenarioJob } from './scenarios.ts'

const SCENE = 'V-D'
const LOCALS = [1, 40, 1000] as const
/** Values that the paper prints for these; us. */
const PAPER_US: Readonly<Record<number, number>> = { 1: 162, 40: 664, 1000: 11_110 }
/** Cycles until the code is compiled: more if each does less. */
const warmUp = (locals: number): number => 20 + Math.ceil(2000 / locals)
const CYCLES = 31
const STAGES_A_JOB = 4

const partOf = (locals: number): string => `padll/${SCENE}/${locals} local controllers`
const THROUGHPUT = `padll/${SCENE}/stage`

export const cost: Experiment<number> = {
  id: `padll.${SCENE}`,
  system: 'padll',
  title: 'Cost of a control cycle and of a stage',
  setup: [
    'One process of this machine, compiled code warm, medians. Control cycle under PSFA: collect, compute and enforce over 1, 40 ' +
      'and 1,000 local controllers with a stage each, four per job; messages are calls, so that sockets are not part of it.',
    'Stage: open calls in sequence on one channel that does not throttle. `npm run bench` times both at more sizes.',
  ],
  expectations: claimsOf(SCENE),
  published,
  parts: [
    ...LOCALS.map((locals) => ({ id: partOf(locals), run: (seed: number, host: Host) => cycleUs(locals, seed, host) })),
    { id: THROUGHPUT, run: (_: number, host: Host) => callsPerSecond(host) },
  ],
  measure(runs) {
    const [one, few, many] = LOCALS.map((locals) => runs.get(partOf(locals))!)
    return named<number | Record<string, number>>(SCENE, {
      'cycle-us': Object.fromEntries(LOCALS.map((locals) => [locals, runs.get(partOf(locals))!])),
      'growth-1-to-40': few! / one!,
      'growth-40-to-1000': many! / few!,
      'stage-throughput': runs.get(THROUGHPUT)! / 1e6,
    })
  },
  figures: (runs) => [
    {
      kind: 'bars',
      id: 'fig10',
      title: 'Control cycle by local controllers',
      unit: '\u00b5s',
      series: ['the paper’s cluster', 'this machine, in process'],
      groups: LOCALS.map((locals) => ({
        name: String(locals),
        values: [PAPER_US[locals]!, runs.get(partOf(locals))!],
      })),
    },
  ],
}

function stageOf(job: string, instance: number, at: number): Stage {
  const identity = { job, instance, pid: 1000 + at, ppid: 1, hostname: `node${at}`, user: 'ana' }
  return new Stage({ identity, mounts: ['/scratch'] })
}

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

const CALLS = 200_000
const MEASUREMENTS = 7

function callsPerSecond({ now }: Host): number {
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
  const rates = Array.from({ length: MEASUREMENTS }, (_, i) => {
    const startMs = now()
    loop((i + 2) * CALLS * 100)
    return (CALLS * 1000) / (now() - startMs)
  })
  return median(rates)
}
