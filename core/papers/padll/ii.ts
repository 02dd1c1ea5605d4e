/** PADLL II: statistics of a generated month in place of the paper's production system. */
import { generateBandwidth, generateMonth } from '../../padll/trace/month.ts'
import { apportioned, type MixedOp, MIXED_OPS, OP_MIX } from '../../padll/trace/op-mix.ts'
import { mean } from '../../base/statistics.ts'
import { jumps, shareOf, rangesAbove } from '../../padll/trace/series-statistics.ts'
import type { Experiment, Timeline } from '../experiment.ts'
import { claimsOf, named } from './expectations.ts'
import { MONTH_FITS } from './fits.ts'

const SCENE = 'II'
const PART = 'padll/II/month'
/** Month of seed 1. */
const FIRST_SEED = 2023
const MINUTE_S = 60
const DAY_S = 86_400
/** Minutes per point of a figure: 600 points, few enough to draw and short enough to keep the peaks. */
const BIN_MINUTES = 72
/** Range with low bandwidth, days 13 to 20, in minutes. */
const POOR = [13 * 1440, 20 * 1440] as const

interface Month {
  /** op/s and GiB/s of each minute. */
  readonly rates: Float64Array
  readonly read: Float64Array
  readonly write: Float64Array
}

export const month: Experiment<Month> = {
  id: `padll.${SCENE}`,
  system: 'padll',
  title: 'The load of a production system over 30 days',
  setup: [
    'A generated series of 43,200 minutes (parameters as published): the monitored one is not public, its statistics are. Each ' +
      'seed is another month.',
    'Shares of the operations are constants that agree with every published figure; rename is the rest to 98 %.',
  ],
  expectations: claimsOf(SCENE),
  fits: MONTH_FITS,
  parts: [
    {
      id: PART,
      run: (seed) => {
        const rates = generateMonth(FIRST_SEED - 1 + seed)
        return { rates, ...generateBandwidth(seed, rates) }
      },
    },
  ],
  measure(runs) {
    const { rates, read, write } = runs.get(PART)!
    const rate = mean(rates)
    const long = rangesAbove(rates, 400_000).filter((minutes) => minutes >= 180)
    const counts = operationCounts(rates)
    const all = MIXED_OPS.reduce((sum, op) => sum + counts[op], 0)
    const meanRate = (op: MixedOp): number => counts[op] / (rates.length * MINUTE_S)
    const top4 = Object.values(counts)
      .toSorted((a, b) => b - a)
      .slice(0, 4)
    return named(SCENE, {
      'mean-rate': rate,
      'peak-rate': Math.max(...rates),
      'sustained-runs': long.length,
      'longest-run': Math.max(0, ...long) / 60,
      'low-minutes': shareOf(rates, (rate) => rate <= 50_000),
      spikes: jumps(rates, 50_000, 450_000, 10),
      'mean-getattr': meanRate('getattr'),
      'mean-open': meanRate('open'),
      'mean-close': meanRate('close'),
      'getattr-share': counts.getattr / all,
      'getattr-total': counts.getattr / 1e9,
      'top4-share': top4.reduce((sum, count) => sum + count, 0) / all,
      'mean-read': mean(read),
      'mean-write': mean(write),
      'kops-per-gib': Math.min(...kopsPerGib(runs.get(PART)!).subarray(...POOR)),
    })
  },
  figures(runs) {
    const { rates, read, write } = runs.get(PART)!
    const lines = { kind: 'timeline', binS: BIN_MINUTES * MINUTE_S, isStacked: false } as const
    return [
      {
        ...lines,
        id: 'fig1.rate',
        title: 'Metadata operations',
        unit: 'op/s',
        series: [
          { name: 'mean', values: binned(rates, mean) },
          { name: 'busiest minute', values: binned(rates, (minutes) => Math.max(...minutes)) },
        ],
      },
      {
        ...lines,
        id: 'fig2.bandwidth',
        title: 'Bandwidth',
        unit: 'GiB/s',
        series: [
          { name: 'read', values: binned(read, mean) },
          { name: 'write', values: binned(write, mean) },
        ],
      },
      {
        ...lines,
        id: 'fig2.ratio',
        title: 'Metadata operations per GiB',
        unit: 'kops/GiB',
        series: [{ name: 'ratio', values: binned(kopsPerGib(runs.get(PART)!), mean) }],
      },
      cumulative(rates),
    ]
  },
}

/** Operations of the month by kind, counted in whole operations minute by minute. */
function operationCounts(rates: Float64Array): Record<MixedOp, number> {
  const counts = MIXED_OPS.map(() => 0)
  const weights = MIXED_OPS.map((op) => OP_MIX[op])
  for (const rate of rates) {
    for (const [at, count] of apportioned(Math.round(rate * MINUTE_S), weights).entries()) counts[at]! += count
  }
  return Object.fromEntries(MIXED_OPS.map((op, at) => [op, counts[at]!])) as Record<MixedOp, number>
}

/** kops of each minute per GiB read or written in it. */
const kopsPerGib = ({ rates, read, write }: Month): Float64Array =>
  rates.map((rate, t) => rate / 1000 / (read[t]! + write[t]!))

const binned = (minutes: Float64Array, value: (bin: Float64Array) => number): number[] =>
  Array.from({ length: minutes.length / BIN_MINUTES }, (_, bin) =>
    value(minutes.subarray(BIN_MINUTES * bin, BIN_MINUTES * (bin + 1))),
  )

/** Figure 3: operations since the first day, the four frequent ones and the others. */
function cumulative(rates: Float64Array): Timeline {
  const frequent = ['getattr', 'close', 'rename', 'open'] as const
  const days = Array.from({ length: rates.length / 1440 }, (_, day) => mean(rates.subarray(0, 1440 * (day + 1))))
  const billions = (share: number): number[] => days.map((mean, day) => (mean * share * (day + 1) * DAY_S) / 1e9)
  const rest = 1 - frequent.reduce((sum, op) => sum + OP_MIX[op], 0)
  return {
    kind: 'timeline',
    id: 'fig3.cumulative',
    title: 'Operations since the first day',
    unit: 'billion operations',
    binS: DAY_S,
    isStacked: false,
    series: [
      ...frequent.map((op) => ({ name: op, values: billions(OP_MIX[op]) })),
      { name: 'the other seven', values: billions(rest) },
    ],
  }
}
