/** Reservations in every period beside the paper's conversion: Experiments 2A, 2C and 3 of Haechi. */
import { mean } from '../../base/statistics.ts'
import { HAECHI_DEADLINE } from '../../controllers/advances.ts'
import type { HaechiSettings } from '../../haechi/settings.ts'
import type { Bars, Part } from '../experiment.ts'
import { leastMetPeriod, meanClients, meanTotal } from '../haechi/metrics.ts'
import { estimating, type NodeRun, runNode, type Scene } from '../haechi/node-run.ts'
import { measuredSigma, STREAM } from '../haechi/profile.ts'
import { demanding, NOISE, reserved, spike, SPREADS } from '../haechi/setups.ts'
import { advanceExperiment, type Compared } from './advance.ts'

/** Eight outstanding I/Os a client: windows in proportion to reservations need more than the two of the other experiments. */
const SIZE = 8
const PERIODS = { warmUp: 5, measured: 12 } as const
const SHARES = [50, 60, 70, 80, 90] as const
const RESERVED = spike(285_000, 80_000)
const DEMAND = spike(340_000, 80_000)

const withSigma = (): HaechiSettings => estimating({ sigma: measuredSigma() })
const RULES = {
  original: withSigma,
  deadline: (): HaechiSettings => ({ ...withSigma(), conversion: 'deadline' }),
  both: (): HaechiSettings => ({
    ...estimating({ sigma: measuredSigma(), rule: 'evidence' }),
    conversion: 'deadline',
  }),
} as const
type Rule = keyof typeof RULES

type Cell = Pick<Scene, 'clients' | 'pattern' | 'carry'>
const patterned = (pattern: 'burst' | 'constant'): Cell => ({
  clients: RESERVED.map((reservation, i) => ({ reservation, demand: DEMAND[i]! })),
  pattern,
  carry: false,
})
const SPIKE = '3 burst'
const ZIPF_90 = '2A zipf 90 %'
const CELLS: ReadonlyMap<string, Cell> = new Map([
  ...SPREADS.flatMap((spread) =>
    SHARES.map((percent): [string, Cell] => [
      `${percent === 90 ? '2A' : '2C'} ${spread} ${percent} %`,
      { clients: demanding(reserved(spread, percent / 100), percent / 100) },
    ]),
  ),
  [SPIKE, patterned('burst')],
  ['3 constant', patterned('constant')],
])
/** Cells that are run under both advances, and at full size. */
const HARDEST = [ZIPF_90, SPIKE] as const

const idOf = (cell: string, rule: Rule | 'full size'): string => `advances/haechi-deadline/${cell}/${rule}`

const part = (cell: string, rule: Rule): Part<NodeRun> => ({
  id: idOf(cell, rule),
  run: (seed) => runNode({ ...CELLS.get(cell)!, settings: RULES[rule](), noise: NOISE, size: SIZE, ...PERIODS }, seed),
})
const fullSize = (cell: string): Part<NodeRun> => ({
  id: idOf(cell, 'full size'),
  isSeedless: true,
  run: () =>
    runNode({ ...CELLS.get(cell)!, settings: RULES.deadline(), noise: NOISE, size: 1, warmUp: 1, measured: 3 }, STREAM),
})

const names = [...CELLS.keys()]

function measure(run: (partId: string) => NodeRun): Record<string, Compared> {
  const of = (cell: string, rule: Rule): NodeRun => run(idOf(cell, rule))
  const least = (cells: readonly string[], rule: Rule, valueOf: (run: NodeRun) => number): number =>
    Math.min(...cells.map((cell) => valueOf(of(cell, rule))))
  const compared = (cells: readonly string[], rule: Rule, valueOf: (run: NodeRun) => number): Compared => ({
    advance: least(cells, rule, valueOf),
    original: least(cells, 'original', valueOf),
  })
  const started = (set: string): string[] => names.filter((name) => name.startsWith(set))
  const average = (rule: Rule): number => mean(names.map((cell) => meanTotal(of(cell, rule))))
  return {
    '2A-met': compared(started('2A'), 'deadline', leastMetPeriod),
    '2C-met': compared(started('2C'), 'deadline', leastMetPeriod),
    '3-met': compared(started('3'), 'deadline', leastMetPeriod),
    'least-total': compared(names, 'deadline', meanTotal),
    'mean-total': { advance: average('deadline'), original: average('original') },
    'both-met': compared(HARDEST, 'both', leastMetPeriod),
    'both-total': compared(HARDEST, 'both', meanTotal),
    'full-size-met': { advance: Math.min(...HARDEST.map((cell) => leastMetPeriod(run(idOf(cell, 'full size'))))) },
    'full-size-total': { advance: Math.min(...HARDEST.map((cell) => meanTotal(run(idOf(cell, 'full size'))))) },
    '3-constant-c1': compared(['3 constant'], 'deadline', (one) => Math.min(...meanClients(one).slice(0, 3))),
  }
}

const bars = (
  run: (partId: string) => NodeRun,
  id: string,
  title: string,
  unit: string,
  valueOf: (run: NodeRun) => number,
): Bars => ({
  kind: 'bars',
  id: `haechi-deadline.${id}`,
  title,
  unit,
  series: ['original', 'deadline'],
  groups: names.map((name) => ({
    name,
    values: (['original', 'deadline'] as const).map((rule) => valueOf(run(idOf(name, rule)))),
  })),
})

export const haechiDeadline = advanceExperiment<NodeRun>({
  advance: HAECHI_DEADLINE,
  setup: [
    '2A and 2C: 50 to 90 % of C_G reserved, equally or by zipf, demand is R and the initial pool, in a burst. 3: C1 to C3 reserve 285 K and want ' +
      '340 K, the others 80 K. Each period’s capacity is off by up to 0.1 %, from the seed; sigma is the measured one.',
    `One simulated I/O represents ${SIZE}; 5 periods to warm up and 12 measured. Full size: every I/O of 2A zipf and 3 burst, 3 periods.`,
  ],
  parts: [
    ...names.flatMap((name) => [part(name, 'original'), part(name, 'deadline')]),
    ...HARDEST.flatMap((name) => [part(name, 'both'), fullSize(name)]),
  ],
  measure,
  figures: (run) => [
    bars(run, 'met', 'Least completed / reserved of a client in a period', 'part', leastMetPeriod),
    bars(run, 'total', 'Throughput', 'I/O/s', meanTotal),
  ],
})
