/** Experiments of the SeqDLM paper, in its order. */
import type { Experiment } from '../experiment.ts'
import { DLM_BASIC } from '../../seqdlm/policy.ts'
import { Cluster } from '../../seqdlm/model/cluster.ts'
import type { Costs } from '../../seqdlm/model/costs.ts'
import { conversionExperiments } from './conversion.ts'
import { severalStripesExperiments } from './ior-multi.ts'
import { singleStripeExperiments } from './ior-single.ts'
import { microExperiments } from './micro.ts'
import { tileExperiments } from './tile.ts'
import { vpicExperiments } from './vpic.ts'
import { experimentOf, SEED, seedless } from './expectations.ts'
import { leaveOneOutExperiments } from './leave-one-out.ts'
import { bandwidth, independent, strided } from './writers.ts'

/** Table I: RPC operations/s of a lock server, round trip (s), network and disk (B/s). */
const TABLE_I = { ops: 1e7, rttS: 1e-6, netBps: 12.5e9, diskBps: 3e9 } as const

/** Time of one byte, s: by the lock server's rate, by round trips, by flushing. */
export function terms(bytes: number): readonly [number, number, number] {
  const { ops, rttS, netBps, diskBps } = TABLE_I
  return [1 / (ops * bytes), rttS / bytes, (netBps + diskBps) / (netBps * diskBps)]
}

/** Equation (1), for many writes of `bytes` bytes, B/s. */
export const analytic = (bytes: number): number => 1 / terms(bytes).reduce((sum, term) => sum + term, 0)

/** A flush goes over two ports, so each takes half of the network's time. */
const TABLE_I_COSTS: Costs = {
  rttUs: TABLE_I.rttS * 1e6,
  rpcUs: 0,
  lockUs: 1e6 / TABLE_I.ops,
  revokeUs: 0,
  revokeReplyUs: 0,
  clientUs: 0,
  hotMBps: 1e12,
  coldMBps: 1e12,
  stageUs: 0,
  insertMBps: 1e12,
  insertUs: 0,
  netMBps: (2 * TABLE_I.netBps) / 1e6,
  verbsUs: 0,
  ioUs: 0,
  deviceMBps: TABLE_I.diskBps / 1e6,
  extentUs: 0,
  unalignedUs: 0,
  jitter: 0,
  skewUs: 0,
  mpiUs: 0,
  tileBlockUs: 0,
  forwardMBps: 1e12,
}
const CLIENTS = 16
const WRITES = 100
const SIZES = [4096, 65_536, 1_000_000]

/** Simulated bandwidth, B/s. */
function simulated(bytes: number, seed: number): number {
  const limits = { maxRpcBytes: 1e9 }
  const cluster = new Cluster({
    policy: DLM_BASIC,
    clients: CLIENTS,
    servers: 1,
    pages: 'hot',
    seed,
    limits,
    costs: TABLE_I_COSTS,
  })
  const run = independent(cluster, {
    file: { base: 0, stripes: 1, stripeSize: 2 ** 50 },
    writes: WRITES,
    bytes,
    options: { whole: true },
    offsetOf: strided(CLIENTS, bytes),
  })
  return bandwidth(run) * 1e9
}

/**
 * II-C, equations (1) and (2): bandwidth of N conflicting writes to one stripe, and the same from the state machines
 * with the parameters of Table I and no other costs.
 */
const eq1 = experimentOf<number>({
  name: 'eq1',
  title: 'Equations (1) and (2): bandwidth bound of conflicting writes',
  setup: [
    'Table I: 10 M RPC/s, round trip 1 µs, network 12.5 GB/s, disk 3 GB/s. The published figures are those of the equations, ' +
      'the measured ones come from DLM-basic with these costs and no others, 16 clients that each write 100 times.',
    'The terms at 1 MB are computed, not simulated.',
  ],
  variants: SIZES.map((bytes) => seedless('eq1', String(bytes), () => simulated(bytes, SEED))),
  measure: (run) => ({
    ...Object.fromEntries(SIZES.map((bytes) => [String(bytes), run(String(bytes)) / 1e9])),
    ...Object.fromEntries(terms(1e6).map((term, i) => [`term${i + 1}`, term * 1e12])),
  }),
  figures: (run) => [
    {
      kind: 'bars',
      id: 'eq1',
      title: 'Bandwidth',
      unit: 'GB/s',
      series: ['equation (1)', 'simulated'],
      groups: SIZES.map((bytes) => ({
        name: `${bytes} B`,
        values: [analytic(bytes) / 1e9, run(String(bytes)) / 1e9],
      })),
    },
  ],
})

const analysisExperiments = [eq1]

const [traditional, table3, fig20] = singleStripeExperiments

export const experiments: readonly Experiment[] = [
  traditional!,
  ...analysisExperiments,
  ...microExperiments,
  ...conversionExperiments,
  table3!,
  ...leaveOneOutExperiments,
  fig20!,
  ...severalStripesExperiments,
  ...tileExperiments,
  ...vpicExperiments,
] as Experiment[]
