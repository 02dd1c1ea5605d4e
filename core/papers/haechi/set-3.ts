/** Set 3 (III-D, Fig. 13 to 15): bursts against constant rates with a spike of reservations. */
import type { Curve } from '../experiment.ts'
import { experimentOf, variant, type Variant } from './expectations.ts'
import { bars, clientBars } from './figures.ts'
import { FITS } from './fits.ts'
import { meanClients, meanTotal } from './metrics.ts'
import type { NodeRun, Scene } from './node-run.ts'
import { AMENDED, byReading, measureReadings, PRINTED, type Reading, READINGS, READINGS_SETUP } from './readings.ts'
import { CAPACITY, LEARNING, LEARNING_SETUP, NOISE, SIZE, sizeSetup, spike } from './setups.ts'

const RESERVED = spike(285_000, 80_000)
const DEMAND = spike(340_000, 80_000)
const PATTERNS = ['burst', 'constant'] as const
type Pattern = (typeof PATTERNS)[number]
const TITLES = { burst: 'Burst', constant: 'Constant rate' } as const
/** Throughput that the paper loses, as a share of C_G. */
const PUBLISHED_DROP = { burst: 0.129, constant: 0.007 } as const

const LATENCIES = [
  (run: NodeRun) => run.latency.mean,
  (run: NodeRun) => run.latency.p99,
  (run: NodeRun) => run.latency.p999,
]

const sceneOf = (pattern: Pattern, reading: Reading): Omit<Scene, 'size' | 'warmUp' | 'measured'> => ({
  clients: RESERVED.map((reservation, i) => ({ reservation, demand: DEMAND[i]! })),
  pattern,
  carry: false,
  noise: NOISE,
  settings: reading.haechi(),
})

const learningOf = (pattern: Pattern, reading: Reading): Variant =>
  variant('3', `${pattern} ${reading.key}`, () => ({ ...sceneOf(pattern, reading), size: SIZE, ...LEARNING }))

/** Every I/O simulated: one that represents several waits as long as they do together. */
const latencyOf = (pattern: Pattern, reading: Reading): Variant =>
  variant('3', `${pattern} ${reading.key} latency`, () => ({
    ...sceneOf(pattern, reading),
    size: 1,
    warmUp: 1,
    measured: 1,
  }))
/** Without a change of capacity sigma has no part in two periods. */
const TIMED = [AMENDED, PRINTED] as const

const latencies = (run: (key: string) => NodeRun): Curve => ({
  kind: 'curve',
  id: 'fig15',
  title: 'Latency of a read',
  unit: '\u00b5s',
  across: 'percentile of the reads',
  series: TIMED.flatMap(({ key, title }) =>
    PATTERNS.map((pattern) => ({
      name: `${TITLES[pattern]}, ${title}`,
      points: run(`${pattern} ${key} latency`).percentiles,
    })),
  ),
})

const patterns = experimentOf({
  name: '3',
  title: 'Request patterns under a spike of reservations',
  setup: [
    'C1 to C3 reserve 285 K and want 340 K, the others reserve and want 80 K: only these demands let C1 to C3 surpass their ' +
      'reservation. Requests left unserved by a period are dropped.',
    READINGS_SETUP,
    LEARNING_SETUP,
    sizeSetup(SIZE),
    'Latency from post to completion, with every I/O simulated: one period to warm up and one measured. The model has no ' +
      'jitter: its tail is its maximum.',
  ],
  fits: FITS,
  variants: [
    ...READINGS.flatMap((reading) => PATTERNS.map((pattern) => learningOf(pattern, reading))),
    ...TIMED.flatMap((reading) => PATTERNS.map((pattern) => latencyOf(pattern, reading))),
  ],
  measure: (run) =>
    measureReadings('3', (reading) => {
      const burst = run(`burst ${reading.key}`)
      const constant = run(`constant ${reading.key}`)
      const measured = {
        'burst.drop': 1 - meanTotal(burst) / CAPACITY,
        'const.drop': 1 - meanTotal(constant) / CAPACITY,
        'burst.c1': Math.max(...meanClients(burst).slice(0, 3)),
        'const.c1': Math.min(...meanClients(constant).slice(0, 3)),
      }
      if (!TIMED.some(({ key }) => key === reading.key)) return measured
      const [waiting, spaced] = PATTERNS.map((pattern) => run(`${pattern} ${reading.key} latency`)) as [
        NodeRun,
        NodeRun,
      ]
      return { ...measured, latency: Math.max(...LATENCIES.map((valueOf) => valueOf(spaced) / valueOf(waiting))) }
    }),
  figures: (run) => [
    clientBars('fig13', 'I/Os by client', {
      reserved: RESERVED,
      ...Object.fromEntries(
        PATTERNS.flatMap((pattern) =>
          Object.entries(byReading(TITLES[pattern], ({ key }) => meanClients(run(`${pattern} ${key}`)))),
        ),
      ),
    }),
    bars(
      'fig14',
      'Throughput',
      READINGS.map(({ title }) => title),
      PATTERNS.map(
        (pattern) =>
          [
            TITLES[pattern],
            READINGS.map(({ key }) => meanTotal(run(`${pattern} ${key}`))),
            READINGS.map(() => (1 - PUBLISHED_DROP[pattern]) * CAPACITY),
          ] as const,
      ),
    ),
    latencies(run),
  ],
})

export const set3 = [patterns]
