/** Experiments on the paper's open questions: other noise in the trace, and sensitivity to the choices made. */
import { generateTrace, TRACE_A, TRACE_C } from '../../padll/trace/trace.ts'
import type { Experiment, Part } from '../experiment.ts'
import { claimsOf, named } from './expectations.ts'
import { TRACE_FITS } from './fits.ts'
import { type FluidSetup, runFluid, type ScenarioRun, stageLoads } from './fluid.ts'
import { type Control, type ScenarioNumber, SCENARIOS } from './scenarios.ts'
import { FLUID_SETUP, fluidPart, fluidRun } from './v-c.ts'

type Runs = ReadonlyMap<string, ScenarioRun>

const partId = (scene: string, name: string): string => `padll/${scene}/${name}`
const minutesOf = (runs: Runs, scene: string, name: string, job: number): number =>
  runs.get(partId(scene, name))!.durations[job]! / 60

const TRACES = 'V-C-traces'
/** Part, scenario, algorithm, and the job whose minutes depend on the trace. */
const TRACE_CASES: readonly (readonly [string, ScenarioNumber, Control['algorithm'], number])[] = [
  ['s1-priority', 1, 'priority', 0],
  ['s1-psharing', 1, 'psharing', 0],
  ['s1-psfa', 1, 'psfa', 0],
  ['s2-uniform', 2, 'uniform', 3],
  ['s2-priority', 2, 'priority', 3],
  ['s3-priority', 3, 'priority', 3],
  ['s3-psharing', 3, 'psharing', 3],
  ['s3-psfa', 3, 'psfa', 3],
]

export const otherTraces: Experiment<ScenarioRun> = {
  id: `padll.${TRACES}`,
  system: 'padll',
  title: 'The scenarios with other noise around the fitted means',
  setup: [
    FLUID_SETUP[0]!,
    'Noise and bursts of the parameters of trace A, drawn from the seed of the run, around its fitted means.',
  ],
  expectations: claimsOf(TRACES),
  fits: TRACE_FITS,
  parts: TRACE_CASES.map(([name, scenario, algorithm]): Part<ScenarioRun> => ({
    id: partId(TRACES, name),
    run: (seed) =>
      runFluid({ jobs: SCENARIOS[scenario], trace: generateTrace({ ...TRACE_A, seed }), control: { algorithm } }),
  })),
  measure(runs) {
    const otherJobs = TRACE_CASES.flatMap(([name, , , job]) =>
      [0, 1, 2, 3].filter((other) => other !== job).map((other) => minutesOf(runs, TRACES, name, other) - 36),
    )
    return named(TRACES, {
      ...Object.fromEntries(TRACE_CASES.map(([name, , , job]) => [name, minutesOf(runs, TRACES, name, job)])),
      'other-jobs': Math.max(...otherJobs),
    })
  },
  figures: () => [],
}

const SENSITIVITY = 'V-C-sensitivity'
const psfaWith = (changes: Partial<Control>): Control => ({ algorithm: 'psfa', ...changes })
const s1 = (control: Control, more: Partial<FluidSetup> = {}): FluidSetup => ({
  jobs: SCENARIOS[1],
  trace: generateTrace(TRACE_A),
  control,
  ...more,
})
const staged = (imbalance: number, by: 'equal' | 'usage'): FluidSetup =>
  s1(psfaWith({}), { stages: { load: stageLoads(imbalance), by } })

/** Scenario 1, PSFA, minutes of job 1: the tightest cell of the table. */
const CASES: Readonly<Record<string, () => FluidSetup>> = {
  'epsilon-0': () => s1(psfaWith({ epsilon: 0 })),
  'epsilon-0.1': () => s1(psfaWith({ epsilon: 0.1 })),
  'epsilon-0.5': () => s1(psfaWith({ epsilon: 0.5 })),
  'cycle-5s': () => s1(psfaWith({ cycleS: 5 })),
  'delay-1s': () => s1(psfaWith({ delayS: 1 })),
  'trace-C': () => s1(psfaWith({}), { trace: generateTrace(TRACE_C) }),
  'balanced-stages': () => staged(0, 'equal'),
  'imbalance-2-equal': () => staged(0.02, 'equal'),
  'imbalance-10-equal': () => staged(0.1, 'equal'),
  'imbalance-10-usage': () => staged(0.1, 'usage'),
  'imbalance-30-equal': () => staged(0.3, 'equal'),
  'imbalance-30-usage': () => staged(0.3, 'usage'),
}
const fixedPart = (name: string, setup: () => FluidSetup): Part<ScenarioRun> => ({
  id: partId(SENSITIVITY, name),
  isSeedless: true,
  run: () => runFluid(setup()),
})
const LEFTOVER = 'psharing-leftover-proportional'

export const sensitivity: Experiment<ScenarioRun> = {
  id: `padll.${SENSITIVITY}`,
  system: 'padll',
  title: 'Sensitivity of the minutes: epsilon, cycle, delay, stages',
  setup: [
    ...FLUID_SETUP,
    'Scenario #1 under PSFA, job1: the tightest cell of the table. Stages: four per job, loads evenly spread by up to 2, 10 or ' +
      '30 % around their mean, the rate split equally or by usage.',
  ],
  expectations: claimsOf(SENSITIVITY),
  fits: TRACE_FITS,
  parts: [
    fluidPart(1, 'psfa'),
    ...Object.entries(CASES).map(([name, setup]) => fixedPart(name, setup)),
    fixedPart(LEFTOVER, () => s1({ algorithm: 'psharing', leftover: 'proportional' })),
  ],
  measure(runs) {
    const base = fluidRun(runs, 1, 'psfa').durations[0]! / 60
    return named(SENSITIVITY, {
      ...Object.fromEntries(Object.keys(CASES).map((name) => [name, minutesOf(runs, SENSITIVITY, name, 0) - base])),
      [LEFTOVER]: minutesOf(runs, SENSITIVITY, LEFTOVER, 0),
    })
  },
  figures: () => [],
}
