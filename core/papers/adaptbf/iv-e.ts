/** IV-E: redistribution between high-priority bursts and a low-priority stream. */
import { mean } from '../../base/statistics.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Experiment, Timeline } from '../experiment.ts'
import { claimsOf, numbered } from './expectations.ts'
import { bandwidthBars, bandwidthTimelines, type Controllers } from './figures.ts'
import { BURST_FIT, OST_RATE_FIT, T_FIT } from './fits.ts'
import { BINS_PER_S, gain, jobRate, periodAt, rateError, rateIn, sharesIn } from './metrics.ts'
import { controlledParts, controlledRuns, MODEL, type Platform, SHIPPED, SHIPPED_100MS } from './platforms.ts'
import type { Run } from './run.ts'
import { IV_E } from './setups.ts'

const SECTION = 'IV-E'
/** Seconds in which all four jobs run. */
const ALL_RUN_S = 30
/** The streaming job. */
const STREAM = 3

export const ivE = experiment(MODEL)
export const ivEShipped = experiment(SHIPPED)
export const ivEShipped100ms = experiment(SHIPPED_100MS)

function experiment(platform: Platform): Experiment<Run> {
  const name = `${SECTION}${platform.suffix}`
  return {
    id: `adaptbf.${name}`,
    system: ADAPTBF,
    title: `${platform.title}Redistribution: three bursting jobs of 30 % each, one streaming job of 10 %`,
    setup: [
      ...platform.setup,
      'OST of 500 RPC/s. Jobs 1 to 3: 2 processes with 1024 RPCs each, in bursts of 32, 64 and 96 RPCs with pauses of 1, 2.2 ' +
        'and 3.3 s, from 0.35, 0.8 and 1.7 s. Job4: 16 processes with 1024 RPCs each, without pause.',
    ],
    expectations: claimsOf(SECTION, platform),
    fits: [T_FIT, OST_RATE_FIT, BURST_FIT],
    parts: controlledParts(platform, SECTION, IV_E),
    measure: (runs) => numbered(name, measured(controlledRuns(platform, SECTION, runs))),
    figures(runs) {
      const controlled = controlledRuns(platform, SECTION, runs)
      return [
        ...bandwidthTimelines(`fig5${platform.suffix}`, controlled).map(withPlateau),
        ...bandwidthBars(`fig6${platform.suffix}`, controlled),
      ]
    },
  }
}

function measured({ none, static: fixed, adaptbf }: Controllers): Record<number, number> {
  const bursting = (run: Run): number => 1 - sharesIn(run, 0, ALL_RUN_S)[STREAM]!
  const burstRatio = (job: number, against: Run): number => adaptbf.burstMeans[job]! / against.burstMeans[job]!
  return {
    1: gain(adaptbf, none, 0),
    2: burstRatio(0, none),
    3: gain(adaptbf, none, 1),
    4: burstRatio(1, none),
    5: gain(adaptbf, none, 2),
    6: burstRatio(2, none),
    7: gain(adaptbf, fixed, 0),
    8: gain(adaptbf, fixed, 1),
    9: gain(adaptbf, fixed, 2),
    10: gain(adaptbf, none, STREAM),
    11: jobRate(adaptbf, STREAM) / jobRate(fixed, STREAM),
    12: rateIn(adaptbf, 0, ALL_RUN_S) / rateIn(none, 0, ALL_RUN_S),
    13: rateIn(fixed, 0, ALL_RUN_S) / rateIn(none, 0, ALL_RUN_S),
    14: bursting(none),
    15: bursting(adaptbf) / bursting(none),
    16: adaptbf.trace.records[STREAM]![periodAt(adaptbf, ALL_RUN_S)]!,
    17: gain(adaptbf, none, STREAM),
    18: burstRatio(0, fixed),
    19: burstRatio(1, fixed),
    20: burstRatio(2, fixed),
    21: streamInBursts(adaptbf),
    22: rateError(fixed, [STREAM], 5, ALL_RUN_S),
  }
}

/** Rate of the stream while bursts are served, relative to its rate while none is. */
function streamInBursts({ served }: Run): number {
  const bins = served[STREAM]!.slice(0, ALL_RUN_S * BINS_PER_S).map((stream, bin) => {
    const bursts = served.reduce((sum, job, number) => (number === STREAM ? sum : sum + job[bin]!), 0)
    return { stream, bursts }
  })
  const meanOf = (isIn: (bursts: number) => boolean): number =>
    mean(bins.filter(({ bursts }) => isIn(bursts)).map(({ stream }) => stream))
  return meanOf((bursts) => bursts > 0) / meanOf((bursts) => bursts === 0)
}

/** Adds the plateau of the stream under static rules: its priority of T. */
function withPlateau(timeline: Timeline, at: number): Timeline {
  if (at !== 1) return timeline
  const level = 0.1 * IV_E.capacity
  return {
    ...timeline,
    published: [
      {
        name: 'Job4: 10 % of T',
        points: [
          [0, level],
          [ALL_RUN_S, level],
        ],
      },
    ],
  }
}
