/**
 * PSFA with learnt headroom beside PSFA: V-C on one permuted and one random trace a seed, in the fluid model with one
 * stage a job and with four that are not loaded alike, and on trace A through the real controllers.
 */
import { PSFA_ADAPTIVE } from '../../controllers/advances.ts'
import { generateTrace, TRACE_A } from '../../padll/trace/trace.ts'
import type { Bars, Part } from '../experiment.ts'
import { type FluidSetup, runFluid, type ScenarioRun, stageLoads } from '../padll/fluid.ts'
import { Hierarchy } from '../padll/hierarchy.ts'
import * as metrics from '../padll/metrics.ts'
import { MAX_RATE, type ScenarioNumber, SCENARIOS } from '../padll/scenarios.ts'
import { BUCKETS, runStaged } from '../padll/staged.ts'
import { drawn, type Means, permuted } from '../padll/unfitted-traces.ts'
import { advanceExperiment, type Compared } from './advance.ts'

const ALGORITHMS = ['psfa', 'psfa-adaptive'] as const
type Rule = (typeof ALGORITHMS)[number]

const TRACES = { permuted, random: drawn } as const satisfies Readonly<Record<string, Means>>
type TraceKind = keyof typeof TRACES
const KINDS = Object.keys(TRACES) as TraceKind[]
const SCENARIO_NUMBERS: readonly ScenarioNumber[] = [1, 2, 3]
/** Largest deviation of a stage's load from the mean of its job. */
const IMBALANCE = 0.1

const idOf = (name: string, rule: Rule): string => `advances/psfa-adaptive/${name}/${rule}`

const fluid = (
  kind: TraceKind,
  scenario: ScenarioNumber,
  name: string,
  stages: (rule: Rule) => Pick<FluidSetup, 'stages'>,
): Part<ScenarioRun>[] =>
  ALGORITHMS.map((rule) => ({
    id: idOf(name, rule),
    run: (seed) =>
      runFluid({
        jobs: SCENARIOS[scenario],
        trace: generateTrace({ ...TRACE_A, seed, segmentMeans: TRACES[kind](seed) }),
        control: { algorithm: rule },
        ...stages(rule),
      }),
  }))

const single = (kind: TraceKind, scenario: ScenarioNumber): string => `${kind}-s${scenario}`
const staged = (kind: TraceKind): string => `${kind}-stages`
const HIERARCHY = 'hierarchy'

const parts: readonly Part<ScenarioRun>[] = [
  ...KINDS.flatMap((kind) => [
    ...SCENARIO_NUMBERS.flatMap((scenario) => fluid(kind, scenario, single(kind, scenario), () => ({}))),
    ...fluid(kind, 1, staged(kind), (rule) => ({
      stages: { load: stageLoads(IMBALANCE), by: rule === 'psfa' ? 'equal' : 'forecast' },
    })),
  ]),
  ...ALGORITHMS.map((rule): Part<ScenarioRun> => ({
    id: idOf(HIERARCHY, rule),
    isSeedless: true,
    run: () =>
      runStaged(
        SCENARIOS[1],
        generateTrace(TRACE_A),
        new Hierarchy({ control: { algorithm: rule }, jobs: SCENARIOS[1] }),
      ),
  })),
]

const minutesOf = ({ durations }: ScenarioRun): number[] => durations.map((seconds) => seconds / 60)
const jobOne = (run: ScenarioRun): number => minutesOf(run)[0]!
const falseAllocation = (run: ScenarioRun): number => metrics.falseAllocation(run, [0, run.makespan / 60])
const peak = (run: ScenarioRun): number => Math.max(...metrics.totals(run))

type RunOf = (partId: string) => ScenarioRun

/** Value of both rules. */
const compared = (run: RunOf, valueOf: (runOf: (name: string) => ScenarioRun) => number): Compared => {
  const [original, advance] = ALGORITHMS.map((rule) => valueOf((name) => run(idOf(name, rule))))
  return { advance: advance!, original: original! }
}

function measure(run: RunOf): Record<string, Compared> {
  const singles = KINDS.flatMap((kind) => SCENARIO_NUMBERS.map((scenario) => single(kind, scenario)))
  const fluids = [...singles, ...KINDS.map(staged)]
  const ratio = (name: string): number =>
    falseAllocation(run(idOf(name, 'psfa-adaptive'))) / falseAllocation(run(idOf(name, 'psfa')))
  const byKind = KINDS.flatMap((kind) => [
    [`${kind}-job1`, compared(run, (of) => jobOne(of(single(kind, 1))))] as const,
    [`${kind}-stages-job1`, compared(run, (of) => jobOne(of(staged(kind))))] as const,
    [`${kind}-false-allocation`, compared(run, (of) => falseAllocation(of(single(kind, 1))))] as const,
  ])
  return {
    ...Object.fromEntries(byKind),
    'every-job': compared(run, (of) => Math.max(...singles.flatMap((name) => minutesOf(of(name))))),
    'over-limit': compared(run, (of) => Math.max(...fluids.map((name) => peak(of(name)))) / MAX_RATE),
    'false-allocation-ratio': { advance: Math.max(...singles.map(ratio)), original: 1 },
    'hierarchy-job1': compared(run, (of) => jobOne(of(HIERARCHY))),
    'hierarchy-over-limit': compared(run, (of) => peak(of(HIERARCHY)) / (MAX_RATE + BUCKETS)),
    'hierarchy-false-allocation': compared(run, (of) => falseAllocation(of(HIERARCHY))),
  }
}

function bars(run: RunOf, id: string, title: string, unit: string, valueOf: (run: ScenarioRun) => number): Bars {
  return {
    kind: 'bars',
    id: `psfa-adaptive.${id}`,
    title,
    unit,
    series: ['PSFA', 'PSFA adaptive'],
    groups: KINDS.flatMap((kind) => [
      ...SCENARIO_NUMBERS.map((scenario) => [`#${scenario}, ${kind}`, single(kind, scenario)] as const),
      [`#1, ${kind}, 4 stages`, staged(kind)] as const,
    ]).map(([name, part]) => ({ name, values: ALGORITHMS.map((rule) => valueOf(run(idOf(part, rule)))) })),
  }
}

export const psfaAdaptive = advanceExperiment<ScenarioRun>({
  advance: PSFA_ADAPTIVE,
  setup: [
    'V-C in the fluid model: four jobs, Max_R 110 kops/s, control cycle 1 s. Each seed draws one trace with the fitted means in ' +
      'another order and one with random means, as V-C-permuted and V-C-random do.',
    'Stages: four per job, their loads spread by up to 10 % around the mean. PSFA splits a rate equally, the advance by what each ' +
      'stage is expected to serve.',
    'Hierarchy: trace A through the real stages and controllers; their buckets may exceed the limit by 10 ms of it.',
  ],
  parts,
  measure,
  figures: (run) => [
    bars(run, 'minutes', 'Completion of the last job', 'min', (of) => Math.max(...minutesOf(of))),
    bars(run, 'false-allocation', 'False allocation', '% of Max_R', (of) => 100 * falseAllocation(of)),
  ],
})
