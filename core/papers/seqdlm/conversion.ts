/** V-B, Fig. 19: lock conversion. One client that alternates writes and reads, and writes that span two stripes. */
import { SEQDLM, type DlmPolicy } from '../../seqdlm/policy.ts'
import type { LockMode } from '../../seqdlm/modes.ts'
import { Cluster } from '../../seqdlm/model/cluster.ts'
import { COSTS } from '../../seqdlm/model/costs.ts'
import { experimentOf, sizeName, variant } from './expectations.ts'
import { MICRO_FITS } from './fits.ts'
import { independent, throughput, timed, type WriteRun } from './writers.ts'

const KB = 1024
const MB = 1024 * KB
const NO_CONVERSION: DlmPolicy = { ...SEQDLM, name: 'SeqDLM without conversion', upgrade: false, downgrade: false }

const PAIRS = 1000
const UPGRADES = [
  { name: 'PW', policy: SEQDLM, mode: 'PW' },
  { name: 'NBW+U', policy: SEQDLM, mode: 'NBW' },
  { name: 'NBW', policy: NO_CONVERSION, mode: 'NBW' },
] as const

/** Writes a block and reads it back, repeatedly. */
function writeAndRead(policy: DlmPolicy, mode: LockMode, seed: number): WriteRun {
  const bytes = 64 * KB
  const file = { base: 0, stripes: 1, stripeSize: MB }
  const cluster = new Cluster({ policy, clients: 1, servers: 1, pages: 'hot', seed })
  const client = cluster.clients[0]!
  return timed(cluster, file, 2 * PAIRS, 2 * PAIRS * bytes, (_, ended) => {
    let pair = 0
    const next = (): void => {
      if (pair === PAIRS) ended()
      else client.write(file, pair * bytes, bytes, { mode }, () => client.read(file, pair++ * bytes, bytes, {}, next))
    }
    next()
  })
}

const fig19a = experimentOf<WriteRun>({
  name: 'fig19a',
  title: 'Lock upgrading: one client alternates writes and reads',
  setup: ['One client, one stripe, 1,000 pairs of a write and a read of 64 KB. Reads take PR, writes PW or NBW.'],
  fits: MICRO_FITS,
  variants: UPGRADES.map(({ name, policy, mode }) =>
    variant('pairs', name, (seed) => writeAndRead(policy, mode, seed)),
  ),
  measure: (run) => ({
    up: throughput(run('NBW+U')) / throughput(run('PW')),
    noup: throughput(run('NBW')) / throughput(run('PW')),
  }),
  figures: (run) => [
    {
      kind: 'bars',
      id: 'fig19a',
      title: 'Throughput',
      unit: 'kop/s',
      series: ['throughput'],
      groups: UPGRADES.map(({ name }) => ({ name, values: [throughput(run(name)) / 1000] })),
    },
  ],
})

const CLIENTS = 16
const WRITES = 150
const DOWNGRADES = [
  { name: 'PW', policy: NO_CONVERSION, mode: 'PW' },
  { name: 'BW-D', policy: NO_CONVERSION, mode: 'BW' },
  { name: 'BW+D', policy: SEQDLM, mode: 'BW' },
] as const
export type Downgrade = (typeof DOWNGRADES)[number]['name']
const SIZES = [64 * KB, 256 * KB, MB]

/** Writes that lie half in each of two stripes (A13). */
export function spanning(name: Downgrade, bytes: number, seed: number, costs = COSTS, writes = WRITES): WriteRun {
  const { policy, mode } = DOWNGRADES.find((setup) => setup.name === name)!
  const cluster = new Cluster({ policy, clients: CLIENTS, servers: 2, pages: 'hot', seed, costs })
  return independent(cluster, {
    file: { base: 0, stripes: 2, stripeSize: MB },
    writes,
    bytes,
    options: { mode, whole: true },
    offsetOf: (writer, write) => (write * CLIENTS + writer) * 2 * MB + MB - bytes / 2,
  })
}

const fig19b = experimentOf<WriteRun>({
  name: 'fig19b',
  title: 'Lock downgrading: writes over two stripes',
  setup: [
    '16 clients, two stripes on two servers; every write lies half in each stripe and locks both on [0, EOF].',
    'Each client makes 150 writes instead of 4,000.',
  ],
  fits: MICRO_FITS,
  variants: SIZES.flatMap((bytes) =>
    DOWNGRADES.map(({ name }) =>
      variant('spanning', `${name} ${sizeName(bytes)}`, (seed) => spanning(name, bytes, seed)),
    ),
  ),
  measure(run) {
    const over = (name: string, bytes: number): number =>
      throughput(run(`${name} ${sizeName(bytes)}`)) / throughput(run(`PW ${sizeName(bytes)}`))
    return { '64K': over('BW+D', 64 * KB), '1M': over('BW+D', MB), 'BW-D': over('BW-D', 64 * KB) }
  },
  figures: (run) => [
    {
      kind: 'bars',
      id: 'fig19b',
      title: 'Throughput',
      unit: 'kop/s',
      series: DOWNGRADES.map(({ name }) => name),
      groups: SIZES.map((bytes) => ({
        name: sizeName(bytes),
        values: DOWNGRADES.map(({ name }) => throughput(run(`${name} ${sizeName(bytes)}`)) / 1000),
      })),
    },
  ],
})

export const conversionExperiments = [fig19a, fig19b]
