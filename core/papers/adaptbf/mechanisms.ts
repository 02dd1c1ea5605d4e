/** Experiments on the reach of the figures: properties of the shipped server one at a time, and other burst sizes. */
import { MODEL_FENCES } from '../../control/fences.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import { type Bars, distinct, type Experiment } from '../experiment.ts'
import type { AdapTbfSetup } from './control.ts'
import { claimsOf, numbered } from './expectations.ts'
import { BURST_FIT } from './fits.ts'
import { gain, rateIn, sharesIn } from './metrics.ts'
import { runPart, runsOf } from './part.ts'
import {
  controlledParts,
  controlledRuns,
  MODEL,
  SHIPPED,
  SHIPPED_100MS,
  shippedAdaptbf,
  shippedSetup,
} from './platforms.ts'
import type { Run, ShippedSetup } from './run.ts'
import { IV_D, IV_E, type Scene, withBursts } from './setups.ts'

/** A property of the shipped server that is replaced. */
interface Change {
  readonly name: string
  readonly dtSeconds: number
  readonly server?: ShippedSetup
  readonly control?: Partial<AdapTbfSetup>
}

const CHANGES: readonly Change[] = [
  { name: '1 s', dtSeconds: 1 },
  { name: '200 ms', dtSeconds: 0.2 },
  { name: '100 ms', dtSeconds: 0.1 },
  { name: '100 ms, no lag', dtSeconds: 0.1, control: { lag: undefined } },
  { name: '100 ms, no fences', dtSeconds: 0.1, server: { fences: MODEL_FENCES } },
  { name: '100 ms, depth 1', dtSeconds: 0.1, server: { depth: 1 } },
  { name: '100 ms, backlog', dtSeconds: 0.1, server: { hasQueueCounts: true }, control: { demand: 'backlog' } },
  { name: '1 s, no fences', dtSeconds: 1, server: { fences: MODEL_FENCES } },
  { name: '1 s, backlog', dtSeconds: 1, server: { hasQueueCounts: true }, control: { demand: 'backlog' } },
]

/** IV-D up to 30 s: all four jobs run. */
const IV_D_30: Scene = { ...IV_D, horizonS: 30 }
const HORIZON_S = 30

const setupOf = (scene: Scene, { dtSeconds, server, control }: Change): Parameters<typeof runPart>[2] =>
  shippedSetup(scene, shippedAdaptbf(scene, dtSeconds, control), server)

/** The runs of the figures, and those of the other changes. */
const isOfFigures = ({ name }: Change): boolean => name === '1 s' || name === '100 ms'
const runName = (change: Change): string => (isOfFigures(change) ? `dt=${change.dtSeconds}` : change.name)

export const mechanisms: Experiment<Run> = {
  id: 'adaptbf.shipped-mechanisms',
  system: ADAPTBF,
  title: 'Difference between the model and the server as shipped, by mechanism',
  setup: [
    ...SHIPPED_100MS.setup.slice(0, -1),
    'Replaced one at a time: the period, the lag (0), the fences (those of models), the bucket (tbf_depth=1: little to refill), ' +
      'the demand (backlog, which no Lustre server exports). IV-D from 5 to 30 s, IV-E from 0 to 30 s.',
  ],
  expectations: claimsOf('shipped-mechanisms'),
  // The change of 1 s is the run under AdapTBF of the figures.
  parts: distinct([
    ...controlledParts(SHIPPED, 'IV-E', IV_E),
    ...CHANGES.flatMap((change) => [
      runPart('IV-D-shipped', `${change.name}, 30 s`, setupOf(IV_D_30, change)),
      runPart('IV-E-shipped', runName(change), setupOf(IV_E, change)),
    ]),
  ]),
  measure(runs) {
    const { none, static: fixed } = controlledRuns(SHIPPED, 'IV-E', runs)
    const table = (value: (bursts: Run, streams: Run) => number): Record<string, number> =>
      Object.fromEntries(
        CHANGES.map((change) => {
          const bursts = runsOf(runs, 'IV-E-shipped')(runName(change))
          return [change.name, value(bursts, runsOf(runs, 'IV-D-shipped')(`${change.name}, 30 s`))]
        }),
      )
    return numbered('shipped-mechanisms', {
      1: table((_, streams) => sharesIn(streams, 5, HORIZON_S)[3]!),
      2: table((bursts) => rateIn(bursts, 0, HORIZON_S) / rateIn(none, 0, HORIZON_S)),
      3: table((bursts) => worstGain(bursts, none)),
      4: table((bursts) => worstGain(bursts, fixed)),
    })
  },
  figures(runs): Bars[] {
    const { none } = controlledRuns(SHIPPED, 'IV-E', runs)
    const groups = CHANGES.map((change) => {
      const run = runsOf(runs, 'IV-E-shipped')(runName(change))
      return { name: change.name, values: [rateIn(run, 0, HORIZON_S), rateIn(none, 0, HORIZON_S)] }
    })
    const title = 'IV-E: aggregate in the first 30 s'
    return [{ kind: 'bars', id: 'mechanisms', title, unit: 'RPC/s', series: ['AdapTBF', 'No BW'], groups }]
  },
}

/** Smallest gain of the bursting jobs. */
const worstGain = (run: Run, against: Run): number => Math.min(...[0, 1, 2].map((job) => gain(run, against, job)))

/** Sizes of bursts relative to those of IV-E. */
const SIZES = [0.5, 2] as const
const sizedName = (size: number): string => `IV-E, bursts x${size}`

export const burstSizes: Experiment<Run> = {
  id: 'adaptbf.burst-sizes',
  system: ADAPTBF,
  title: 'IV-E with other burst sizes: what the choice of bursts decides',
  setup: [...MODEL.setup, 'IV-E with bursts and pauses of half and of twice the length; files as in IV-E.'],
  expectations: claimsOf('burst-sizes'),
  fits: [BURST_FIT],
  parts: SIZES.flatMap((size) => controlledParts(MODEL, sizedName(size), withBursts(IV_E, size))),
  measure(runs) {
    const values = SIZES.flatMap((size) => {
      const { adaptbf, none, static: fixed } = controlledRuns(MODEL, sizedName(size), runs)
      return [worstGain(adaptbf, none), worstGain(adaptbf, fixed), gain(adaptbf, none, 3)]
    })
    return numbered('burst-sizes', Object.fromEntries(values.map((value, i) => [1 + i, value])))
  },
  figures: () => [],
}
