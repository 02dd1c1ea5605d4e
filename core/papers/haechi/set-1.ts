/** Set 1 (III-B, Fig. 6 to 8): profile of the bare node. */
import { TWO_SIDED_PROFILE } from '../../haechi/settings.ts'
import { experimentOf, variant, type Variant } from './expectations.ts'
import { bars, clientBars, throughputCurve } from './figures.ts'
import { BARE_FITS } from './fits.ts'
import { meanClients, meanTotal } from './metrics.ts'
import type { Scene } from './node-run.ts'
import { CLIENTS, SETTLED, sizeSetup, spike } from './setups.ts'
import { uniformShares } from '../../haechi/workloads/distributions.ts'

const SIZE = 8
/** More than a client can issue. */
const ENDLESS = 500_000

const BARE: Pick<Scene, 'mode' | 'size' | 'warmUp' | 'measured'> = { mode: 'bare', size: SIZE, ...SETTLED }
const SETUP = 'No tokens: every client keeps up to 64 reads of 4 KB outstanding at a FIFO data node.'

type Side = 'one' | 'two'
const SIDES: readonly Side[] = ['one', 'two']
const counts = Array.from({ length: CLIENTS }, (_, i) => i + 1)

const saturating = (side: Side, clients: number): Variant =>
  variant('1', `${side}-sided ${clients}`, () => ({
    ...BARE,
    ...(side === 'two' ? { mode: 'two-sided', profile: TWO_SIDED_PROFILE } : {}),
    clients: Array.from({ length: clients }, () => ({ reservation: 0, demand: ENDLESS })),
  }))

/** Ten clients, with the data node's CPU answering every I/O. */
export const TWO_SIDED = saturating('two', CLIENTS)

const PUBLISHED_ONE = { one: 400_000, two: 327_000 } as const

const single = experimentOf({
  name: '1A',
  title: 'One client alone',
  setup: [SETUP, 'Clients are alike, so one represents all ten. C_L is an input of the model.', sizeSetup(SIZE)],
  fits: BARE_FITS,
  variants: SIDES.map((side) => saturating(side, 1)),
  measure: (run) => Object.fromEntries(SIDES.map((side) => [`1A.${side}`, meanTotal(run(`${side}-sided 1`))])),
  figures: (run) => [
    bars(
      'fig6',
      'Throughput of one client',
      ['throughput'],
      SIDES.map((side) => [`${side}-sided`, [meanTotal(run(`${side}-sided 1`))], [PUBLISHED_ONE[side]]] as const),
    ),
  ],
})

/** The paper has Figure 7 in words: linear to four clients, then saturated; two-sided saturated by two. */
const PUBLISHED_SCALING = [
  {
    name: 'one-sided',
    points: [
      [1, 400_000],
      [4, 1_570_000],
      [10, 1_570_000],
    ],
  },
  {
    name: 'two-sided',
    points: [
      [1, 327_000],
      [2, 430_000],
      [10, 430_000],
    ],
  },
] as const

const scaling = experimentOf({
  name: '1B',
  title: 'Throughput by active clients',
  setup: [
    SETUP,
    'C_G = 1,570 K one-sided, 430 K two-sided are inputs of the model; the curve between is not.',
    sizeSetup(SIZE),
  ],
  fits: BARE_FITS,
  variants: SIDES.flatMap((side) => counts.map((n) => saturating(side, n))),
  measure: (run) =>
    Object.fromEntries(
      SIDES.flatMap((side) => counts.map((n) => [`1B.${side}.${n}`, meanTotal(run(`${side}-sided ${n}`))] as const)),
    ),
  figures: (run) => [
    throughputCurve(
      'fig7',
      'Throughput by active clients',
      'active clients',
      Object.fromEntries(
        SIDES.map((side) => [`${side}-sided`, counts.map((n) => [n, meanTotal(run(`${side}-sided ${n}`))] as const)]),
      ),
      PUBLISHED_SCALING,
    ),
  ],
})

const demands = (amounts: readonly number[], pattern: 'burst' | 'constant'): Scene => ({
  ...BARE,
  pattern,
  carry: false,
  clients: amounts.map((demand) => ({ reservation: 0, demand })),
})
const SPIKE = spike(340_000, 80_000)
const UNIFORM = uniformShares(1_580_000, CLIENTS)
const DEMANDS = [
  { key: 'uniform burst', id: 'fig8a', title: 'Uniform demand, burst', amounts: UNIFORM, pattern: 'burst' },
  { key: 'spike burst', id: 'fig8b', title: 'Spike demand, burst', amounts: SPIKE, pattern: 'burst' },
  { key: 'spike constant', id: 'fig8c', title: 'Spike demand, constant rate', amounts: SPIKE, pattern: 'constant' },
] as const

const PUBLISHED_DEMANDS: Readonly<Record<string, (client: number) => number | null>> = {
  'uniform burst': () => 157_000,
  'spike burst': (client) => (client < 3 ? 278_000 : 80_000),
  'spike constant': (client) => (client < 3 ? 332_000 : null),
}

const patterns = experimentOf({
  name: '1C',
  title: 'Demand over clients and over time',
  setup: [
    SETUP,
    'Demands of 158 K each, or 340 K for C1 to C3 and 80 K for the others; requests left unserved by a period are dropped.',
    sizeSetup(SIZE),
  ],
  fits: BARE_FITS,
  variants: DEMANDS.map(({ key, amounts, pattern }) => variant('1C', key, () => demands(amounts, pattern))),
  measure(run) {
    const clients = (key: string): number[] => meanClients(run(key))
    /** Worst of C1 to C3, and of the others. */
    const least = (values: readonly number[]): number => Math.min(...values)
    return {
      '1C.uniform': meanTotal(run('uniform burst')),
      '1C.uniform.c': least(clients('uniform burst')),
      '1C.spikeburst.total': meanTotal(run('spike burst')),
      '1C.spikeburst.c1': least(clients('spike burst').slice(0, 3)),
      '1C.spikeburst.c4': least(clients('spike burst').slice(3)),
      '1C.spikeconst.total': meanTotal(run('spike constant')),
      '1C.spikeconst.c1': least(clients('spike constant').slice(0, 3)),
    }
  },
  figures: (run) =>
    DEMANDS.map(({ key, id, title, amounts }) =>
      clientBars(
        id,
        title,
        { demand: amounts, completed: meanClients(run(key)) },
        { completed: (client) => PUBLISHED_DEMANDS[key]?.(client) ?? null },
      ),
    ),
})

export const set1 = [single, scaling, patterns]
