/** Set 3 (III-D, Fig. 13 to 15): bursts against constant rates with a spike of reservations. */
import type { Bars } from '../experiment.ts'
import { experimentOf, variant } from './expectations.ts'
import { bars, clientBars } from './figures.ts'
import { meanClients, meanTotal } from './metrics.ts'
import type { NodeRun } from './node-run.ts'
import { CAPACITY, LEARNING, LEARNING_SETUP, sizeSetup, spike } from './setups.ts'

const SIZE = 8
const RESERVED = spike(285_000, 80_000)
const DEMAND = spike(340_000, 80_000)
const PATTERNS = ['burst', 'constant'] as const
const TITLES = { burst: 'Burst', constant: 'Constant rate' } as const

const QUANTILES = [
  ['mean', (run: NodeRun) => run.latency.mean],
  ['99 %', (run: NodeRun) => run.latency.p99],
  ['99.9 %', (run: NodeRun) => run.latency.p999],
] as const

const latencies = (burst: NodeRun, constant: NodeRun): Bars => ({
  kind: 'bars',
  id: 'fig15',
  title: 'Latency of a read',
  unit: '\u00b5s',
  series: PATTERNS.map((p) => TITLES[p]),
  groups: QUANTILES.map(([name, of]) => ({ name, values: [of(burst), of(constant)] })),
})

const patterns = experimentOf({
  name: '3',
  title: 'Request patterns under a spike of reservations',
  setup: [
    'C1 to C3 reserve 285 K and want 340 K, the others reserve and want 80 K: only these demands let C1 to C3 surpass their ' +
      'reservation. Requests left unserved by a period are dropped.',
    LEARNING_SETUP,
    sizeSetup(SIZE),
    'Latency from post to completion. The model has no jitter: its tail is its maximum.',
  ],
  variants: PATTERNS.map((pattern) =>
    variant('3', pattern, {
      clients: RESERVED.map((reservation, i) => ({ reservation, demand: DEMAND[i]! })),
      pattern,
      carry: false,
      size: SIZE,
      ...LEARNING,
    }),
  ),
  measure(run) {
    const burst = run('burst')
    const constant = run('constant')
    return {
      '3.burst.drop': 1 - meanTotal(burst) / CAPACITY,
      '3.const.drop': 1 - meanTotal(constant) / CAPACITY,
      '3.burst.c1': Math.max(...meanClients(burst).slice(0, 3)),
      '3.const.c1': Math.min(...meanClients(constant).slice(0, 3)),
      '3.latency': Math.max(...QUANTILES.map(([, of]) => of(constant) / of(burst))),
    }
  },
  figures: (run) => [
    clientBars('fig13', 'I/Os by client', {
      reserved: RESERVED,
      ...Object.fromEntries(PATTERNS.map((pattern) => [TITLES[pattern], meanClients(run(pattern))])),
    }),
    bars(
      'fig14',
      'Throughput',
      ['throughput'],
      PATTERNS.map((pattern) => [TITLES[pattern], [meanTotal(run(pattern))]] as const),
    ),
    latencies(run('burst'), run('constant')),
  ],
})

export const set3 = [patterns]
