/**
 * V-C: four jobs under each control algorithm, three scenarios, as fluid model with cycles of 1 s. The runs use trace A
 * for every seed: the published minutes belong to one trace. Other traces: `V-C-traces`.
 */
import { generateTrace, TRACE_A } from '../../padll/trace/trace.ts'
import { rangesAbove } from '../../padll/trace/series-statistics.ts'
import { invariant } from '../../base/result.ts'
import type { Experiment, Part } from '../experiment.ts'
import { claimsOf, named } from './expectations.ts'
import { completionBars, jobTimelines } from './figures.ts'
import { TRACE_FITS } from './fits.ts'
import { runFluid, type ScenarioRun } from './fluid.ts'
import * as metrics from './metrics.ts'
import { controlOf, MAX_RATE, type ScenarioNumber, SCENARIOS, SETUP_NAMES, type SetupName } from './scenarios.ts'

export const FLUID_SETUP = [
  'Four jobs join 3 min apart; each submits its part of trace A (194.4 M operations in 36 min, mean 90 kops/s) ' +
    'and ends when its backlog is empty. Max_R 110 kops/s, control cycle 1 s, PSFA epsilon 0.25, uniform 27.5 kops/s.',
  'Fluid model: operations are a quantity and a second is a step. V-C-hierarchy runs the same through stages and controllers.',
  'Trace A is used with every seed; V-C-traces, V-C-permuted and V-C-random draw others.',
]

type Setups = Readonly<Record<SetupName, ScenarioRun>>

const idOf = (scenario: ScenarioNumber, setup: SetupName): string => `padll/V-C-${scenario}/${setup}`

export const fluidPart = (scenario: ScenarioNumber, setup: SetupName): Part<ScenarioRun> => ({
  id: idOf(scenario, setup),
  isSeedless: true,
  run: () => runFluid({ jobs: SCENARIOS[scenario], trace: generateTrace(TRACE_A), control: controlOf(setup) }),
})

export function fluidRun(runs: ReadonlyMap<string, unknown>, scenario: ScenarioNumber, setup: SetupName): ScenarioRun {
  const run = runs.get(idOf(scenario, setup))
  invariant(run !== undefined, `the part ${idOf(scenario, setup)} has run`)
  return run as ScenarioRun
}

/** Claims of every scenario: the table of completion minutes, and the limit. */
function common(setups: Setups): Record<string, number> {
  const cells = SETUP_NAMES.flatMap((setup) =>
    Object.entries(metrics.completion(setups[setup])).map(([of, minutes]) => [`${setup}-${of}`, minutes] as const),
  )
  const limited = SETUP_NAMES.filter((setup) => setup !== 'baseline')
  const largest = (setup: SetupName): number => Math.max(...metrics.totals(setups[setup]))
  return {
    ...Object.fromEntries(cells),
    'never-over-max': Math.max(...limited.map(largest)) / MAX_RATE,
  }
}

/** Consecutive seconds above Max_R that count as a period. */
const PERIOD_S = 10
const baseline = ({ baseline: run }: Setups): Record<string, number> => ({
  'baseline-over-max': rangesAbove(metrics.totals(run), MAX_RATE).filter((length) => length >= PERIOD_S).length,
  'baseline-peak': Math.max(...metrics.totals(run)),
})

const least = <T>(items: readonly T[], value: (item: T) => number): number => Math.min(...items.map(value))

function scenario1(setups: Setups): Record<string, number> {
  const { psharing, psfa } = setups
  const more = (jobs: readonly number[], window: metrics.Window): number =>
    least(jobs, (job) => metrics.aboveDemand(psfa, job, window) - metrics.aboveDemand(psharing, job, window))
  const windows: metrics.Window[] = [
    [12, 20],
    [25, 37],
  ]
  return {
    ...common(setups),
    ...baseline(setups),
    'uniform-rate': Math.max(...setups.uniform.rates.flat()),
    's1-psfa-12-20': more([0, 1, 2], [12, 20]),
    's1-psfa-25-37': more([0, 1], [25, 37]),
    's1-false-allocation': least(windows, (window) => metrics.falseAllocation(psharing, window)),
    's1-psfa-false-allocation': Math.max(
      ...windows.map((window) => metrics.falseAllocation(psfa, window) / metrics.falseAllocation(psharing, window)),
    ),
  }
}

function scenario2(setups: Setups): Record<string, number> {
  const { priority, psharing, psfa } = setups
  const windows: metrics.Window[] = [
    [12, 18],
    [23, 35],
    [36, 42],
  ]
  const [total, rivals] = [[psfa], [priority, psharing]].map((runs) =>
    least(runs, (run) => metrics.totalMean(run, [31, 36])),
  )
  return {
    ...common(setups),
    ...baseline(setups),
    's2-false-allocation': least(windows, (window) => metrics.falseAllocation(psharing, window)),
    's2-psfa-23-30': metrics.jobMean(psfa, 3, [23, 30]) / metrics.jobMean(psharing, 3, [23, 30]),
    's2-psfa-31-36': total! / rivals!,
  }
}

function scenario3(setups: Setups): Record<string, number> {
  const { priority, psharing, psfa } = setups
  const job1 = 0
  const job4 = 3
  const { demand } = priority.jobs[job4]!
  const owed = metrics.servedFrom(psharing, job4, 42)
  return {
    ...common(setups),
    's3-psfa-12-42': metrics.jobMean(psfa, job4, [12, 42]) / demand,
    's3-psfa-job1': Math.max(...[priority, psharing].map((run) => metrics.curveDifference(psfa, run, job1, [0, 36]))),
    's3-psharing-job1': metrics.overProvisioned(psharing, job1, [0, 36]),
    's3-priority-constant': metrics.unsteadiness(priority, job4, 42, demand),
    's3-psharing-constant': metrics.unsteadiness(psharing, job4, 42, MAX_RATE),
    's3-owed-at-42': owed / 1e6,
    's3-priority-earliest': 42 + owed / demand / 60,
  }
}

function experiment(
  scenario: ScenarioNumber,
  title: string,
  drawn: readonly SetupName[],
  measure: (setups: Setups) => Record<string, number>,
): Experiment<ScenarioRun> {
  const id = `V-C-${scenario}`
  const loads = SCENARIOS[scenario].map(({ load, demand }) => `${100 * load} % at ${demand / 1000}`).join(', ')
  return {
    id: `padll.${id}`,
    system: 'padll',
    title,
    setup: [...FLUID_SETUP, `Loads and demands, kops/s: ${loads}.`],
    expectations: claimsOf(id),
    fits: TRACE_FITS,
    parts: SETUP_NAMES.map((setup) => fluidPart(scenario, setup)),
    measure: (runs) => named(id, measure(setupsOf(runs, scenario))),
    figures: (runs) => [
      ...jobTimelines(`fig${6 + scenario}`, setupsOf(runs, scenario), drawn),
      completionBars(`fig${6 + scenario}`, setupsOf(runs, scenario), claimsOf(id)),
    ],
  }
}

const setupsOf = (runs: ReadonlyMap<string, ScenarioRun>, scenario: ScenarioNumber): Setups =>
  Object.fromEntries(SETUP_NAMES.map((setup) => [setup, fluidRun(runs, scenario, setup)])) as Record<
    SetupName,
    ScenarioRun
  >

export const scenarios: readonly Experiment[] = [
  experiment(1, 'Per-job control #1: equal loads, unequal demands', SETUP_NAMES, scenario1),
  experiment(2, 'Per-job control #2: the largest load has the largest demand', SETUP_NAMES, scenario2),
  experiment(
    3,
    'Per-job control #3: the largest load has the smallest demand',
    SETUP_NAMES.filter((setup) => setup !== 'baseline' && setup !== 'uniform'),
    scenario3,
  ),
]
