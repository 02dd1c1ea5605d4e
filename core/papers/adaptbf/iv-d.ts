/** IV-D: tokens by priority, with a changing set of active jobs. */
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Experiment, PublishedLine, Timeline } from '../experiment.ts'
import { claimsOf, numbered } from './expectations.ts'
import { bandwidthBars, bandwidthTimelines, type Controllers } from './figures.ts'
import { OST_RATE_FIT, T_FIT } from './fits.ts'
import { aggregate, entitlements, gain, rateError, rateIn, shareErrorBySecond, sharesIn } from './metrics.ts'
import { controlledParts, controlledRuns, MODEL, type Platform, SHIPPED, SHIPPED_100MS } from './platforms.ts'
import type { Run } from './run.ts'
import { IV_D } from './setups.ts'

const SECTION = 'IV-D'
/** Seconds in which all four jobs run and the first periods are over. */
const ALL_RUN_S = [5, 60] as const

export const ivD = experiment(MODEL)
export const ivDShipped = experiment(SHIPPED)
export const ivDShipped100ms = experiment(SHIPPED_100MS)

function experiment(platform: Platform): Experiment<Run> {
  const name = `${SECTION}${platform.suffix}`
  return {
    id: `adaptbf.${name}`,
    system: ADAPTBF,
    title: `${platform.title}Token allocation: four streaming jobs at priorities of 10, 10, 30 and 50 %`,
    setup: [...platform.setup, 'OST of 500 RPC/s. Each job: 16 processes with a file of 1024 RPCs each, from 0 s.'],
    expectations: claimsOf(SECTION, platform),
    fits: [T_FIT, OST_RATE_FIT],
    parts: controlledParts(platform, SECTION, IV_D),
    measure: (runs) => numbered(name, measured(controlledRuns(platform, SECTION, runs))),
    figures(runs) {
      const controlled = controlledRuns(platform, SECTION, runs)
      return [
        ...bandwidthTimelines(`fig3${platform.suffix}`, controlled).map(withPlateaus),
        ...bandwidthBars(`fig4${platform.suffix}`, controlled),
      ]
    },
  }
}

function measured({ none, static: fixed, adaptbf }: Controllers): Record<number, number> {
  const shares = sharesIn(adaptbf, ...ALL_RUN_S)
  const without = sharesIn(none, ...ALL_RUN_S)
  const [end1, end2, end3, end4] = adaptbf.ends as [number, number, number, number]
  return {
    1: aggregate(adaptbf) / aggregate(none),
    2: aggregate(adaptbf) / aggregate(fixed),
    3: aggregate(fixed) / aggregate(none),
    4: gain(adaptbf, none, 2),
    5: gain(adaptbf, none, 3),
    6: gain(adaptbf, none, 0),
    7: gain(adaptbf, none, 1),
    ...Object.fromEntries(shares.map((share, job) => [8 + job, share])),
    ...Object.fromEntries(without.map((share, job) => [12 + job, share])),
    16: end4 < end3 && end3 < end1 ? 1 : 0,
    17: rateIn(adaptbf, 70, 85) / IV_D.capacity,
    18: rateIn(adaptbf, 90, 125) / IV_D.capacity,
    19: rateIn(fixed, 70, 100) / IV_D.capacity,
    20: shareErrorBySecond(adaptbf, [0, 1, 2, 3], ...ALL_RUN_S),
    21: shareErrorBySecond(adaptbf, [0, 1, 2], ...between(end4, end3)),
    22: shareErrorBySecond(adaptbf, [0, 1], ...between(end3, Math.min(end1, end2))),
    23: rateError(fixed, [0, 1, 2, 3], ...ALL_RUN_S),
    24: secondsToPassOn(adaptbf, 3),
  }
}

/** Whole seconds between the ends of two jobs, without those in which the rates settle. */
const between = (fromS: number, toS: number): [number, number] => [Math.ceil(fromS) + 3, Math.floor(toS) - 1]

/** Time from the end of a job until it holds no tokens, s. */
function secondsToPassOn({ trace, ends }: Run, job: number): number {
  const end = ends[job]!
  const period = trace.atS.findIndex((at, i) => at >= end && trace.tokens[job]![i] === 0)
  return period < 0 ? Infinity : trace.atS[period]! - end
}

/** Adds the plateaus that the paper states: the priorities of T, while all four jobs run. */
function withPlateaus(timeline: Timeline, at: number): Timeline {
  if (at === 0) return timeline
  const parts = entitlements({ jobs: IV_D.jobs })
  const published = parts.map((part, job): PublishedLine => {
    const level = part * IV_D.capacity
    return {
      name: `${IV_D.jobs[job]!.id}: ${Math.round(100 * part)} % of T`,
      points: [
        [0, level],
        [ALL_RUN_S[1], level],
      ],
    }
  })
  return { ...timeline, published }
}
