/**
 * V-C on traces that were not fitted: the segment means of trace A in another order, or drawn at random, with other noise.
 * The load is the same, because two published minutes fix it: 54 min at 15 kops/s and 53 min at 27.5 kops/s.
 */
import { randomStream } from '../../base/random.ts'
import { median, quantile, sum } from '../../base/statistics.ts'
import { generateTrace, TRACE_A } from '../../padll/trace/trace.ts'
import type { Bars, Experiment, Part } from '../experiment.ts'
import { claimsOf, named } from './expectations.ts'
import { TRACE_FITS } from './fits.ts'
import { runFluid } from './fluid.ts'
import { controlOf, type ScenarioNumber, SCENARIOS, SETUPS, type SetupName } from './scenarios.ts'
import { FLUID_SETUP } from './v-c.ts'

/** Traces of an experiment. */
const TRACES = 20
/** Distance from a published minute that counts as in its band, min. */
const BAND_MIN = 1
/** Time for which a job submits, and at best runs, min. */
const UNLIMITED_MIN = 36
const JOBS = 4

/** A setup of V-C, and the job whose minutes depend on its algorithm. */
interface Cell {
  /** Id of its claims, for example `s1-psfa-job1`. */
  readonly id: string
  readonly scenario: ScenarioNumber
  readonly setup: SetupName
  /** From 0. */
  readonly job: number
  /** Minutes of this job in the paper. */
  readonly published: number
}

const cell = (scenario: ScenarioNumber, setup: SetupName, job: number, published: number): Cell => ({
  id: `s${scenario}-${setup}-job${job + 1}`,
  scenario,
  setup,
  job,
  published,
})

const CELLS: readonly Cell[] = [
  cell(1, 'priority', 0, 54),
  cell(1, 'psharing', 0, 45),
  cell(1, 'psfa', 0, 36),
  cell(2, 'uniform', 3, 53),
  cell(2, 'priority', 3, 38),
  cell(2, 'psharing', 3, 36),
  cell(2, 'psfa', 3, 36),
  cell(3, 'priority', 3, 69),
  cell(3, 'psharing', 3, 41),
  cell(3, 'psfa', 3, 36),
]

/** Minutes of each job, trace by trace. */
type Minutes = readonly (readonly number[])[]

/** Returns the segment means of a trace, kops/s. */
export type Means = (seed: number) => number[]

/** Means of trace A in a random order. */
export const permuted: Means = (seed) => {
  const random = randomStream(seed, 'segment-order')
  const means = [...TRACE_A.segmentMeans]
  for (let last = means.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    const moved = means[last]!
    means[last] = means[other]!
    means[other] = moved
  }
  return means
}

/** Uniform between the smallest and the largest mean of trace A, scaled to its sum. */
export const drawn: Means = (seed) => {
  const random = randomStream(seed, 'segment-means')
  const least = Math.min(...TRACE_A.segmentMeans)
  const most = Math.max(...TRACE_A.segmentMeans)
  const means = TRACE_A.segmentMeans.map(() => least + (most - least) * random.uniform())
  const factor = sum(TRACE_A.segmentMeans) / sum(means)
  return means.map((mean) => mean * factor)
}

function minutesOf({ scenario, setup }: Cell, means: Means): Minutes {
  return Array.from({ length: TRACES }, (_, i) => {
    const seed = i + 1
    const trace = generateTrace({ ...TRACE_A, seed, segmentMeans: means(seed) })
    const run = runFluid({ jobs: SCENARIOS[scenario], trace, control: controlOf(setup) })
    return run.durations.map((seconds) => seconds / 60)
  })
}

/** Share of the traces on which the job ends earlier in each run than in the next one. */
function inOrder(runs: ReadonlyMap<string, Minutes>, parts: readonly string[], job: number): number {
  const minutes = parts.map((part) => runs.get(part)!)
  const ordered = Array.from({ length: TRACES }, (_, trace) =>
    minutes.every((runs, i) => i === 0 || minutes[i - 1]![trace]![job]! < runs[trace]![job]!),
  )
  return ordered.filter((isOrdered) => isOrdered).length / TRACES
}

/** Bars of the band of every job, with the published minutes beside the median. */
function band(scene: string, name: string, cell: Cell, minutes: Minutes): Bars {
  return {
    kind: 'bars',
    id: `${scene}.s${cell.scenario}-${cell.setup}`,
    title: `#${cell.scenario} ${SETUPS[cell.setup]}, ${TRACES} ${name} traces`,
    unit: 'min',
    series: ['5th percentile', 'median', '95th percentile'],
    groups: Array.from({ length: JOBS }, (_, job) => {
      const values = minutes.map((jobs) => jobs[job]!).toSorted((a, b) => a - b)
      const published = job === cell.job ? cell.published : UNLIMITED_MIN
      return {
        name: `job${job + 1}`,
        values: [0.05, 0.5, 0.95].map((q) => quantile(values, q)),
        published: [null, published, null],
      }
    }),
  }
}

function experiment(scene: string, name: string, title: string, setup: string, means: Means): Experiment<Minutes> {
  const partId = ({ scenario, setup: of }: Pick<Cell, 'scenario' | 'setup'>): string =>
    `padll/${scene}/s${scenario}-${of}`
  const parts = CELLS.map((one): Part<Minutes> => ({
    id: partId(one),
    isSeedless: true,
    run: () => minutesOf(one, means),
  }))
  const partNames = (scenario: ScenarioNumber, setups: readonly SetupName[]): string[] =>
    setups.map((of) => partId({ scenario, setup: of }))
  return {
    id: `padll.${scene}`,
    system: 'padll',
    title,
    setup: [FLUID_SETUP[0]!.replace('trace A', 'the trace'), setup],
    expectations: claimsOf(scene),
    fits: TRACE_FITS,
    parts,
    measure(runs) {
      const cells = CELLS.flatMap((one) => {
        const values = runs.get(partId(one))!.map((jobs) => jobs[one.job]!)
        const inBand = values.filter((minutes) => Math.abs(minutes - one.published) <= BAND_MIN).length
        return [
          [one.id, median(values)],
          [`${one.id}-traces`, inBand],
        ] as const
      })
      const delays = Array.from({ length: TRACES }, (_, trace) =>
        Math.max(
          ...CELLS.flatMap((one) =>
            runs
              .get(partId(one))!
              [trace]!.flatMap((minutes, job) => (job === one.job ? [] : [minutes - UNLIMITED_MIN])),
          ),
        ),
      )
      return named(scene, {
        ...Object.fromEntries(cells),
        'other-jobs': median(delays),
        's1-order': inOrder(runs, partNames(1, ['psfa', 'psharing', 'priority']), 0),
        's2-order': inOrder(runs, partNames(2, ['psfa', 'priority', 'uniform']), 3),
        's3-order': inOrder(runs, partNames(3, ['psfa', 'psharing', 'priority']), 3),
      })
    },
    figures: (runs) => CELLS.map((one) => band(scene, name, one, runs.get(partId(one))!)),
  }
}

export const permutedTraces = experiment(
  'V-C-permuted',
  'permuted',
  'The scenarios on traces with the fitted means in another order',
  `${TRACES} traces: the 12 segment means of trace A in a random order, with other noise and bursts of the same parameters. ` +
    'The same traces for every seed of the run.',
  permuted,
)

export const randomTraces = experiment(
  'V-C-random',
  'random',
  'The scenarios on traces with random means',
  `${TRACES} traces: 12 segment means drawn uniformly from 60 to 133 kops/s and scaled to the same sum, with other noise and ` +
    'bursts of the same parameters. The same traces for every seed of the run.',
  drawn,
)
