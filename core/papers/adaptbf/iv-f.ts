/** IV-F: re-compensation of lenders that start to stream; with finite and endless files. */
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Experiment, Fit } from '../experiment.ts'
import { claimsOf, numbered } from './expectations.ts'
import { bandwidthBars, bandwidthTimelines, type Controllers, recordTimelines } from './figures.ts'
import { BURST_FIT, ENDLESS_FIT, JOB4_FIT, T_FIT } from './fits.ts'
import { mean, sum } from '../../base/statistics.ts'
import { aggregate, gain, jobRate, periodAt, rateIn } from './metrics.ts'
import { controlledParts, controlledRuns, MODEL, type Platform, SHIPPED, SHIPPED_100MS } from './platforms.ts'
import type { Run } from './run.ts'
import { IV_F, IV_F_ENDLESS, type Scene } from './setups.ts'

/** Job3 starts to stream at 80 s. */
const RETURN_S = 80

interface Variant {
  readonly section: 'IV-F' | 'IV-F-endless'
  readonly scene: Scene
  readonly title: string
  readonly setup: string
  readonly fits: readonly Fit[]
}

const FINITE: Variant = {
  section: 'IV-F',
  scene: IV_F,
  title: 'Re-compensation: jobs of equal priority that burst, then stream; 1 GiB files',
  setup:
    'OST of 250 RPC/s. Jobs 1 to 3: a process in bursts of 64, 40 and 24 RPCs with pauses of 2.5, 2.2 and 2 s, from 0.3, 0.9 ' +
    'and 1.4 s; a second one without pause from 20, 50 and 80 s. Job4: 16 processes without pause. 1024 RPCs a process.',
  fits: [T_FIT, JOB4_FIT, BURST_FIT],
}

const ENDLESS: Variant = {
  section: 'IV-F-endless',
  scene: IV_F_ENDLESS,
  title: 'Re-compensation: the same with streams that never end, for 120 s',
  setup:
    'OST of 500 RPC/s. Jobs 1 to 3: a process in bursts of 48, 32 and 16 RPCs with pauses of 1.5, 2 and 2.5 s, from 0.3, 0.9 ' +
    'and 1.4 s; a second one without pause from 20, 50 and 80 s. Job4: 16 processes without pause. 120 s.',
  fits: [T_FIT, ENDLESS_FIT, BURST_FIT],
}

export const ivF = experiment(FINITE, MODEL)
export const ivFShipped = experiment(FINITE, SHIPPED)
export const ivFShipped100ms = experiment(FINITE, SHIPPED_100MS)
export const ivFEndless = experiment(ENDLESS, MODEL)
export const ivFEndlessShipped = experiment(ENDLESS, SHIPPED)

function experiment({ section, scene, title, setup, fits }: Variant, platform: Platform): Experiment<Run> {
  const { suffix } = platform
  const name = `${section}${suffix}`
  return {
    id: `adaptbf.${name}`,
    system: ADAPTBF,
    title: `${platform.title}${title}`,
    setup: [...platform.setup, setup],
    expectations: claimsOf(section, platform),
    fits,
    parts: controlledParts(platform, section, scene),
    measure: (runs) => numbered(name, measured(controlledRuns(platform, section, runs))),
    figures(runs) {
      const controlled = controlledRuns(platform, section, runs)
      if (section === 'IV-F-endless') return bandwidthTimelines(`fig7-endless${suffix}`, controlled)
      return [
        ...recordTimelines(`fig7${suffix}`, controlled.adaptbf),
        ...bandwidthTimelines(`fig7${suffix}`, controlled),
        ...bandwidthBars(`fig8${suffix}`, controlled),
      ]
    },
  }
}

function measured({ none, static: fixed, adaptbf }: Controllers): Record<number, number> {
  const { records } = adaptbf.trace
  const before = periodAt(adaptbf, RETURN_S - 1)
  const at = periodAt(adaptbf, RETURN_S)
  const lender = records[2]!
  const budget = adaptbf.capacity * adaptbf.trace.atS[0]!
  const sums = adaptbf.trace.atS.map((_, period) => Math.abs(sum(records.map((record) => record[period]!))))
  return {
    1: aggregate(adaptbf) / aggregate(none),
    2: rateIn(adaptbf, 0, 30) / rateIn(none, 0, 30),
    3: aggregate(fixed) / aggregate(none),
    4: gain(adaptbf, none, 0),
    5: gain(adaptbf, fixed, 0),
    6: gain(adaptbf, none, 1),
    7: gain(adaptbf, fixed, 1),
    8: gain(adaptbf, none, 2),
    9: gain(adaptbf, fixed, 2),
    10: gain(adaptbf, none, 3),
    11: jobRate(adaptbf, 3) / jobRate(fixed, 3),
    12: lender[before]! / budget,
    13: lender[before]! / Math.max(...lender.slice(0, at + 1)),
    14: records[3]![before]!,
    15: secondsToRepay(adaptbf, at),
    16: meanAdvantage(adaptbf, budget),
    17: Math.max(...sums),
    18: adaptbf.ends[3]!,
    19: largestFall(lender.slice(0, at + 1)),
    20: secondsToBegin(adaptbf, at),
    21: records[3]![periodAt(adaptbf, RETURN_S + 5)]! - records[3]![at]!,
  }
}

/** Time from Job3's return until its record is down to a tenth, or until the end of the run. */
function secondsToRepay({ trace }: Run, at: number): number {
  const lender = trace.records[2]!
  const repaid = lender.findIndex((record, period) => period >= at && record <= 0.1 * lender[at]!)
  return trace.atS.at(repaid)! - trace.atS[at]!
}

/** Largest fall of a record below its maximum so far, relative to its maximum. */
function largestFall(record: readonly number[]): number {
  let top = 0
  let fall = 0
  for (const value of record) {
    top = Math.max(top, value)
    fall = Math.max(fall, top - value)
  }
  return fall / top
}

/** Time from Job3's return until its record is below that at the return, or until the end of the run. */
function secondsToBegin({ trace }: Run, at: number): number {
  const lender = trace.records[2]!
  const begun = lender.findIndex((record, period) => period > at && record < lender[at]!)
  return trace.atS.at(begun)! - trace.atS[at]!
}

/** Job3's tokens relative to an equal share of the active jobs, mean of (80.3, 83] s. */
function meanAdvantage({ trace }: Run, budget: number): number {
  const ratios = trace.atS.flatMap((end, period) => {
    if (end <= RETURN_S + 0.3 + 1e-9 || end > RETURN_S + 3 + 1e-9) return []
    const active = trace.tokens.filter((_, job) => trace.demand[job]![period]! > 0).length
    return active > 0 ? [(trace.tokens[2]![period]! * active) / budget] : []
  })
  return mean(ratios)
}
