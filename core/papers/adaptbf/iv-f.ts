/** IV-F: re-compensation of lenders that start to stream; with finite and endless files. */
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Experiment, Published } from '../experiment.ts'
import { claimsOf, numbered, publishedAs } from './expectations.ts'
import { bandwidthBars, bandwidthTimelines, type Controllers, recordTimelines } from './figures.ts'
import { sum } from '../../base/statistics.ts'
import { aggregate, gain, jobRate, periodAt, rateIn } from './metrics.ts'
import { runPart, runsOf } from './part.ts'
import type { Run } from './run.ts'
import { COMMON_SETUP, controllersOf, IV_F, IV_F_ENDLESS, type Scene } from './setups.ts'

/** Job3 starts to stream at 80 s. */
const RETURN_S = 80

const PUBLISHED: Readonly<Record<number, Published>> = {
  1: { value: 'on par with No BW' },
  2: { value: 'on par with No BW' },
  3: { value: 'significant degradation' },
  4: { value: 'gain' },
  5: { value: 'gain' },
  6: { value: 'gain' },
  7: { value: 'gain' },
  8: { value: 'gain' },
  9: { value: 'gain' },
  10: { value: 'minimal loss' },
  12: { value: 'lends for 80 s' },
  13: { value: 'lends for 80 s' },
  14: { value: 'borrows' },
  15: { value: 'quickly' },
  16: { value: 're-compensated on top of its share' },
}

const CONSERVED =
  'Cannot be reached: with equal priorities and four streams without end each job is due a quarter, so what three of them ' +
  'gain the fourth loses. The paper’s figure needs streams that end, as in IV-F.'

interface Variant {
  readonly name: 'IV-F' | 'IV-F-endless'
  readonly scene: Scene
  readonly title: string
  readonly setup: string
  readonly published: Readonly<Record<number, Published>>
}

export const ivF = experiment({
  name: 'IV-F',
  scene: IV_F,
  title: 'Re-compensation: jobs of equal priority that burst, then stream; 1 GiB files',
  setup:
    'OST of 250 RPC/s. Jobs 1 to 3: a process in bursts of 64, 40 and 24 RPCs with pauses of 2.5, 2.2 and 2 s, from 0.3, 0.9 ' +
    'and 1.4 s; a second one without pause from 20, 50 and 80 s. Job4: 16 processes without pause. 1024 RPCs a process.',
  published: PUBLISHED,
})

export const ivFEndless = experiment({
  name: 'IV-F-endless',
  scene: IV_F_ENDLESS,
  title: 'Re-compensation: the same with streams that never end, for 120 s',
  setup:
    'OST of 500 RPC/s. Jobs 1 to 3: a process in bursts of 48, 32 and 16 RPCs with pauses of 1.5, 2 and 2.5 s, from 0.3, 0.9 ' +
    'and 1.4 s; a second one without pause from 20, 50 and 80 s. Job4: 16 processes without pause. 120 s.',
  published: { ...PUBLISHED, 10: { value: 'minimal loss', note: CONSERVED } },
})

function experiment({ name, scene, title, setup, published }: Variant): Experiment<Run> {
  const controlled = (runs: ReadonlyMap<string, Run>): Controllers => {
    const run = runsOf(runs, name)
    return { none: run('none'), static: run('static'), adaptbf: run(ADAPTBF) }
  }
  return {
    id: `adaptbf.${name}`,
    system: ADAPTBF,
    title,
    setup: [...COMMON_SETUP, setup],
    expectations: claimsOf(name),
    published: publishedAs(published),
    parts: Object.entries(controllersOf(scene)).map(([control, setup]) =>
      runPart(name, control, { ...scene, control: setup }),
    ),
    measure: (runs) => numbered(name, measured(controlled(runs))),
    figures(runs) {
      if (name === 'IV-F-endless') return bandwidthTimelines('fig7-endless', controlled(runs))
      return [
        ...recordTimelines('fig7', controlled(runs).adaptbf),
        ...bandwidthTimelines('fig7', controlled(runs)),
        ...bandwidthBars('fig8', controlled(runs)),
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
  }
}

/** Time from Job3's return until its record is down to a tenth; Infinity if never. */
function secondsToRepay({ trace }: Run, at: number): number {
  const lender = trace.records[2]!
  const repaid = lender.findIndex((record, period) => period >= at && record <= 0.1 * lender[at]!)
  return repaid < 0 ? Infinity : trace.atS[repaid]! - trace.atS[at]!
}

/** Job3's tokens relative to an equal share of the active jobs, mean of (80.3, 83] s. */
function meanAdvantage({ trace }: Run, budget: number): number {
  const ratios = trace.atS.flatMap((end, period) => {
    if (end <= RETURN_S + 0.3 + 1e-9 || end > RETURN_S + 3 + 1e-9) return []
    const active = trace.tokens.filter((_, job) => trace.demand[job]![period]! > 0).length
    return active > 0 ? [(trace.tokens[2]![period]! * active) / budget] : []
  })
  return sum(ratios) / ratios.length
}
