/**
 * V-B, Fig. 17 and 18: effect of early grant and early revocation on one lock resource. 16 clients write to one stripe,
 * each write under a lock on [0, EOF].
 */
import type { LockEvent } from '../../seqdlm/lock-events.ts'
import { SEQDLM, type DlmPolicy } from '../../seqdlm/policy.ts'
import type { LockMode } from '../../seqdlm/modes.ts'
import { Cluster } from '../../seqdlm/model/cluster.ts'
import { COSTS } from '../../seqdlm/model/costs.ts'
import { experimentOf, leastFall, leastRise, sizeName, variant } from './expectations.ts'
import { MICRO_FITS } from './fits.ts'
import { independent, roundRobin, strided, throughput, type WriteRun } from './writers.ts'

const KB = 1024
const CLIENTS = 16
/** Instead of 4,000: rates are steady after a few rounds. */
const WRITES = 150
const FILE = { base: 0, stripes: 1, stripeSize: 2 ** 50 }
export const WITHOUT_ER: DlmPolicy = { ...SEQDLM, name: 'SeqDLM without ER', earlyRevocation: false }
const SHORT =
  'Each client makes 150 writes instead of 4,000. Over PW, with 4,000, NBW has 4.5 (without early revocation) and 11.8 (with ' +
  'it) at 64 KB, 33.0 and 41.0 at 1 MB; the shares of Fig. 17 are the same to 0.1 %.'

const writersOf = (bytes: number, mode: LockMode, writes: number) => ({
  file: FILE,
  writes,
  bytes,
  offsetOf: strided(CLIENTS, bytes),
  options: { mode, whole: true },
})

export interface Breakdown extends WriteRun {
  /** Time from sending a revocation to its reply, and from there to the release, s, all locks together. */
  readonly revocationS: number
  readonly cancelS: number
}

/** Sums the durations of revocations and cancels. */
function stopwatch(): { observe: (event: LockEvent) => void; revocationNs: number; cancelNs: number } {
  const since = new Map<number, number>()
  const watch = { observe, revocationNs: 0, cancelNs: 0 }
  function observe(event: LockEvent): void {
    if (event.kind !== 'revoked' && event.kind !== 'canceling' && event.kind !== 'released') return
    const passed = event.at - (since.get(event.lockId) ?? event.at)
    if (event.kind === 'canceling') watch.revocationNs += passed
    if (event.kind === 'released') {
      watch.cancelNs += passed
      since.delete(event.lockId)
    } else since.set(event.lockId, event.at)
  }
  return watch
}

/** Fig. 17: one run of writes in turns. */
export function breakdown(bytes: number, seed: number, costs = COSTS, writes = WRITES): Breakdown {
  const watch = stopwatch()
  const observe = (_: number, event: LockEvent): void => watch.observe(event)
  const cluster = new Cluster({ policy: WITHOUT_ER, clients: CLIENTS, servers: 1, pages: 'hot', seed, costs, observe })
  const run = roundRobin(cluster, writersOf(bytes, 'PW', writes))
  return { ...run, revocationS: watch.revocationNs / 1e9, cancelS: watch.cancelNs / 1e9 }
}

const SIZES_17 = [16 * KB, 64 * KB, 256 * KB, 1024 * KB]
export const lockingS = ({ revocationS, cancelS }: Breakdown): number => revocationS + cancelS
/** Cancel, % of revocation and cancel. */
export const cancelShare = (run: Breakdown): number => (100 * run.cancelS) / lockingS(run)

const fig17 = experimentOf<Breakdown>({
  name: 'fig17',
  title: 'Sequential conflicting writes under PW: time breakdown',
  setup: [
    '16 clients write in turns to a file of one stripe (Fig. 16a), each write under a PW lock on [0, EOF].',
    SHORT,
  ],
  fits: MICRO_FITS,
  variants: SIZES_17.map((bytes) => variant('turns', sizeName(bytes), (seed) => breakdown(bytes, seed))),
  measure(run) {
    const runs = SIZES_17.map((bytes) => run(sizeName(bytes)))
    const first = runs[0]!
    const last = runs.at(-1)!
    return {
      ...Object.fromEntries(SIZES_17.map((x, i) => [`lockpct.${x}`, (100 * lockingS(runs[i]!)) / runs[i]!.pioS])),
      'cancelpct.16K': cancelShare(first),
      'cancelpct.1M': cancelShare(last),
      'cancel.monotone': leastRise(runs.map(cancelShare)),
    }
  },
  figures: (run) => [
    {
      kind: 'bars',
      id: 'fig17',
      title: 'Time of one write',
      unit: 'µs',
      series: ['revocation', 'cancel', 'other'],
      groups: SIZES_17.map((bytes) => {
        const r = run(sizeName(bytes))
        const parts = [r.revocationS, r.cancelS, r.pioS - lockingS(r)]
        return { name: sizeName(bytes), values: parts.map((s) => (s * 1e6) / r.writes) }
      }),
    },
  ],
})

const SETUPS = [
  { name: 'PW', policy: WITHOUT_ER, mode: 'PW' },
  { name: 'PW+ER', policy: SEQDLM, mode: 'PW' },
  { name: 'NBW-ER', policy: WITHOUT_ER, mode: 'NBW' },
  { name: 'NBW+ER', policy: SEQDLM, mode: 'NBW' },
] as const
const SIZES_18 = [64 * KB, 256 * KB, 1024 * KB]
export type Setup18 = (typeof SETUPS)[number]['name']

/** Fig. 18: one run of independent writes. */
export function parallelWrites(name: Setup18, bytes: number, seed: number, costs = COSTS, writes = WRITES): WriteRun {
  const { policy, mode } = SETUPS.find((setup) => setup.name === name)!
  const cluster = new Cluster({ policy, clients: CLIENTS, servers: 1, pages: 'hot', seed, costs })
  return independent(cluster, writersOf(bytes, mode, writes))
}

const parallel = SIZES_18.flatMap((bytes) =>
  SETUPS.map(({ name }) =>
    variant('parallel', `${name} ${sizeName(bytes)}`, (seed) => parallelWrites(name, bytes, seed)),
  ),
)
const SETUP_18 = [
  '16 clients write independently (Fig. 16b), each write under a lock on [0, EOF]. ER: early revocation.',
  SHORT,
]
type Look18 = (key: string) => WriteRun
const of18 = (run: Look18, name: Setup18, bytes: number): WriteRun => run(`${name} ${sizeName(bytes)}`)

const fig18a = experimentOf<WriteRun>({
  name: 'fig18a',
  title: 'Parallel conflicting writes: throughput',
  setup: SETUP_18,
  fits: MICRO_FITS,
  variants: parallel,
  measure(run) {
    const over = (name: Setup18, bytes: number): number =>
      throughput(of18(run, name, bytes)) / throughput(of18(run, 'PW', bytes))
    return {
      'noER.64K': over('NBW-ER', 64 * KB),
      'noER.1M': over('NBW-ER', 1024 * KB),
      'ER.64K': over('NBW+ER', 64 * KB),
      'ER.1M': over('NBW+ER', 1024 * KB),
      PWER: over('PW+ER', 64 * KB),
    }
  },
  figures: (run) => [
    {
      kind: 'bars',
      id: 'fig18a',
      title: 'Throughput',
      unit: 'kop/s',
      series: SETUPS.map(({ name }) => name),
      groups: SIZES_18.map((bytes) => ({
        name: sizeName(bytes),
        values: SETUPS.map(({ name }) => throughput(of18(run, name, bytes)) / 1000),
      })),
    },
  ],
})

const fig18b = experimentOf<WriteRun>({
  name: 'fig18b',
  title: 'Parallel conflicting writes: waiting for locks',
  setup: SETUP_18,
  fits: MICRO_FITS,
  variants: parallel,
  measure(run) {
    const shares = (name: Setup18): number[] => SIZES_18.map((bytes) => of18(run, name, bytes).lockingShare)
    const pw = shares('PW')
    const without = shares('NBW-ER')
    const er = shares('NBW+ER')
    return {
      trend: Math.min(leastFall(without), leastFall(er)),
      order: Math.min(...SIZES_18.flatMap((_, i) => [pw[i]! / without[i]!, without[i]! / er[i]!])),
    }
  },
  figures: (run) => [
    {
      kind: 'bars',
      id: 'fig18b',
      title: 'Part of the IO time of client 0 spent waiting for locks',
      unit: 'part',
      series: SETUPS.map(({ name }) => name),
      groups: SIZES_18.map((bytes) => ({
        name: sizeName(bytes),
        values: SETUPS.map(({ name }) => of18(run, name, bytes).lockingShare),
      })),
    },
  ],
})

export const microExperiments = [fig17, fig18a, fig18b]
