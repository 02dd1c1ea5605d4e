/**
 * V-C through the real stages and controllers: deviation of their whole operations and buckets from the fluid model.
 */
import { invariant } from '../../base/result.ts'
import { generateTrace, TRACE_A } from '../../padll/trace/trace.ts'
import type { Experiment, Part } from '../experiment.ts'
import { claimsOf, named } from './expectations.ts'
import { jobTimelines } from './figures.ts'
import { TRACE_FITS } from './fits.ts'
import type { ScenarioRun } from './fluid.ts'
import { Hierarchy } from './hierarchy.ts'
import * as metrics from './metrics.ts'
import { controlOf, MAX_RATE, type ScenarioNumber, SCENARIOS, type SetupName } from './scenarios.ts'
import { BUCKETS, runStaged } from './staged.ts'
import { FLUID_SETUP, fluidPart, fluidRun } from './v-c.ts'

const SCENE = 'V-C-hierarchy'
/** Scenario #3 under Uniform equals #2 under Uniform. */
const CELLS: readonly (readonly [ScenarioNumber, SetupName])[] = [
  ...(['uniform', 'priority', 'psharing', 'psfa'] as const).map((setup) => [1, setup] as const),
  ...(['uniform', 'priority', 'psharing', 'psfa'] as const).map((setup) => [2, setup] as const),
  ...(['priority', 'psharing', 'psfa'] as const).map((setup) => [3, setup] as const),
]
const nameOf = (scenario: ScenarioNumber, setup: SetupName): string => `s${scenario}-${setup}`

const part = (scenario: ScenarioNumber, setup: SetupName): Part<ScenarioRun> => ({
  id: `padll/${SCENE}/${nameOf(scenario, setup)}`,
  isSeedless: true,
  run() {
    const jobs = SCENARIOS[scenario]
    const control = controlOf(setup)
    invariant(control !== null, 'only setups with a limit go through the hierarchy')
    return runStaged(jobs, generateTrace(TRACE_A), new Hierarchy({ control, jobs }))
  },
})

type Runs = ReadonlyMap<string, ScenarioRun>
const stagedRun = (runs: Runs, scenario: ScenarioNumber, setup: SetupName): ScenarioRun => {
  const run = runs.get(`padll/${SCENE}/${nameOf(scenario, setup)}`)
  invariant(run !== undefined, `${nameOf(scenario, setup)} has run`)
  return run
}

/** Largest difference of the minutes of a job or of the run. */
function apart(one: ScenarioRun, other: ScenarioRun): number {
  const a = metrics.completion(one)
  const b = metrics.completion(other)
  return Math.max(...Object.keys(a).map((of) => Math.abs(a[of]! - b[of]!)))
}

export const hierarchy: Experiment<ScenarioRun> = {
  id: `padll.${SCENE}`,
  system: 'padll',
  title: 'The scenarios through real stages and controllers',
  setup: [
    FLUID_SETUP[0]!,
    'Each job: four processes on four nodes, each behind a stage with one metadata channel (bucket of 10 ms) and its local ' +
      'controller; one global controller with a cycle of 1 s, rates split equally over the stages. Virtual time, messages take none.',
    FLUID_SETUP[2]!,
  ],
  expectations: claimsOf(SCENE),
  fits: TRACE_FITS,
  parts: [
    ...CELLS.map(([scenario, setup]) => part(scenario, setup)),
    ...CELLS.map(([scenario, setup]) => fluidPart(scenario, setup)),
  ],
  measure(runs) {
    const all = CELLS.map(([scenario, setup]) => ({
      name: nameOf(scenario, setup),
      run: stagedRun(runs, scenario, setup),
      fluid: fluidRun(runs, scenario, setup),
    }))
    const minutes = (scenario: ScenarioNumber, setup: SetupName, job: number): number =>
      stagedRun(runs, scenario, setup).durations[job]! / 60
    return named(SCENE, {
      'fluid-difference': Math.max(...all.map(({ run, fluid }) => apart(run, fluid))),
      'never-over-max': Math.max(...all.map(({ run }) => (Math.max(...metrics.totals(run)) - MAX_RATE) / BUCKETS)),
      's1-priority-job1': minutes(1, 'priority', 0),
      's1-psharing-job1': minutes(1, 'psharing', 0),
      's1-psfa-job1': minutes(1, 'psfa', 0),
      's2-uniform-job4': minutes(2, 'uniform', 3),
      's2-priority-job4': minutes(2, 'priority', 3),
      's3-priority-job4': minutes(3, 'priority', 3),
      's3-psharing-job4': minutes(3, 'psharing', 3),
      's3-psfa-job4': minutes(3, 'psfa', 3),
    })
  },
  figures(runs) {
    const setups = ['priority', 'psharing', 'psfa'] as const
    const shown = Object.fromEntries(setups.map((setup) => [setup, stagedRun(runs, 3, setup)])) as Record<
      SetupName,
      ScenarioRun
    >
    return jobTimelines('fig9-hierarchy', shown, setups)
  },
}
