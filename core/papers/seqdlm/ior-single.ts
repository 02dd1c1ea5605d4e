/** V-C1, Table III and Fig. 20, and II-B, Fig. 4 and 5: IOR on a file of one stripe. */
import { DLM_BASIC, DLM_LUSTRE, SEQDLM, type DlmPolicy } from '../../seqdlm/policy.ts'
import { COSTS, type Costs } from '../../seqdlm/model/costs.ts'
import { experimentOf, leastRise, sizeName, variant, type Variant } from './expectations.ts'
import { MIB, runIor, type Ior } from './ior.ts'
import { bandwidth, type WriteRun } from './writers.ts'

const KB = 1024
const CLIENTS = 16
const SCALE = 8
const SIZES = [64, 128, 256, 512, 1024].map((kb) => kb * KB)
const POLICIES: readonly DlmPolicy[] = [SEQDLM, DLM_BASIC, DLM_LUSTRE]

const keyOf = (policy: DlmPolicy, pattern: Ior['pattern'], bytes: number): string =>
  `${policy.name} ${pattern} ${sizeName(bytes)}`
const ior = (policy: DlmPolicy, pattern: Ior['pattern'], bytes: number): Variant<WriteRun> =>
  variant('ior-1', keyOf(policy, pattern, bytes), (seed) =>
    runIor({ policy, pattern, clients: CLIENTS, stripes: 1, bytes, scale: SCALE }, seed),
  )
const SETUP = '16 clients, one stripe; applications see the PIO time, after it everything is flushed.'

const table3 = experimentOf<WriteRun>({
  name: 'table3',
  title: 'IOR segmented: no contention',
  setup: [`${SETUP} Writes of 64 KB.`, '256 MB per client instead of 2 GB; times are multiplied by 8.'],
  variants: POLICIES.map((policy) => ior(policy, 'segmented', 64 * KB)),
  measure(run) {
    const runs = POLICIES.map((policy) => [policy.name, run(keyOf(policy, 'segmented', 64 * KB))] as const)
    const rates = runs.map(([, r]) => bandwidth(r))
    return {
      ...Object.fromEntries(runs.map(([name, r]) => [`bw.${name}`, bandwidth(r)])),
      ...Object.fromEntries(runs.map(([name, r]) => [`total.${name}`, r.totalS * SCALE])),
      parity: Math.max(...rates) / Math.min(...rates),
    }
  },
  figures: (run) => [
    {
      kind: 'bars',
      id: 'table3',
      title: 'Bandwidth',
      unit: 'GB/s',
      series: ['bandwidth'],
      groups: POLICIES.map((policy) => ({
        name: policy.name,
        values: [bandwidth(run(keyOf(policy, 'segmented', 64 * KB)))],
      })),
    },
  ],
})

const fig20 = experimentOf<WriteRun>({
  name: 'fig20',
  title: 'IOR strided on one stripe: high contention',
  setup: [
    SETUP,
    '256 MB per client instead of 2 GB, and an eighth of the dirty thresholds. Clients drift apart as the run goes on and ' +
      'reuse their locks more: at full size SeqDLM reaches 0.91, 0.88 and 0.92 of segmented at 64 KB, 256 KB and 1 MB, ' +
      'and 17.8, 16.9 and 16.7 times DLM-basic.',
  ],
  variants: SIZES.flatMap((bytes) => [
    ior(SEQDLM, 'segmented', bytes),
    ior(SEQDLM, 'strided', bytes),
    ior(DLM_BASIC, 'strided', bytes),
  ]),
  measure(run) {
    const of = (policy: DlmPolicy, bytes: number): WriteRun => run(keyOf(policy, 'strided', bytes))
    const fraction = (bytes: number): number =>
      bandwidth(of(SEQDLM, bytes)) / bandwidth(run(keyOf(SEQDLM, 'segmented', bytes)))
    const speedup = (bytes: number): number => bandwidth(of(SEQDLM, bytes)) / bandwidth(of(DLM_BASIC, bytes))
    const pio = (policy: DlmPolicy): number[] =>
      SIZES.map((bytes) => (100 * of(policy, bytes).pioS) / of(policy, bytes).totalS)
    return {
      ...Object.fromEntries(SIZES.map((bytes) => [`segfrac.${bytes}`, fraction(bytes)])),
      ...Object.fromEntries(SIZES.map((bytes) => [`speedup.${bytes}`, speedup(bytes)])),
      maxspeedup: Math.max(...SIZES.map(speedup)),
      'piopct.seq': Math.max(...pio(SEQDLM)),
      'piopct.basic': Math.max(...pio(DLM_BASIC)),
    }
  },
  figures(run) {
    const series = [
      { name: 'SeqDLM segmented', key: (bytes: number) => keyOf(SEQDLM, 'segmented', bytes) },
      { name: 'SeqDLM', key: (bytes: number) => keyOf(SEQDLM, 'strided', bytes) },
      { name: 'DLM-basic', key: (bytes: number) => keyOf(DLM_BASIC, 'strided', bytes) },
    ]
    const groups = (value: (run: WriteRun) => number) =>
      SIZES.map((bytes) => ({ name: sizeName(bytes), values: series.map(({ key }) => value(run(key(bytes)))) }))
    const bars = { kind: 'bars', series: series.map(({ name }) => name) } as const
    return [
      { ...bars, id: 'fig20a', title: 'Bandwidth', unit: 'GB/s', groups: groups(bandwidth) },
      { ...bars, id: 'fig20b.pio', title: 'PIO time', unit: 's', groups: groups(({ pioS }) => pioS * SCALE) },
      { ...bars, id: 'fig20b.total', title: 'Total time', unit: 's', groups: groups(({ totalS }) => totalS * SCALE) },
    ]
  },
})

/** Fig. 5: the cost of flushing is removed step by step. */
const FLUSHING: readonly { readonly name: string; readonly costs: Costs }[] = [
  { name: 'flushing', costs: COSTS },
  { name: 'no device', costs: { ...COSTS, deviceMBps: 1e9, extentUs: 0, unalignedUs: 0 } },
  { name: 'first page only', costs: { ...COSTS, deviceMBps: 1e9, extentUs: 0, unalignedUs: 0, netMBps: 1e9 } },
]
const SCALE_4 = 32
const basic = (name: string, pattern: Ior['pattern'], costs: Costs): Variant<WriteRun> =>
  variant('ior-ii', name, (seed) =>
    runIor({ policy: DLM_BASIC, pattern, clients: CLIENTS, stripes: 1, bytes: MIB, scale: SCALE_4, costs }, seed),
  )

const fig4 = experimentOf<WriteRun>({
  name: 'fig4',
  title: 'Traditional locks: patterns, and strided with cheaper flushing',
  setup: [
    '16 clients, DLM-basic, writes of 1 MB, 64 MB per client, one server. The paper shows Lustre; here it is ccPFS with DLM-basic.',
  ],
  variants: [
    basic('N-N', 'own files', COSTS),
    basic('N-1 segmented', 'segmented', COSTS),
    ...FLUSHING.map(({ name, costs }) => basic(name, 'strided', costs)),
  ],
  measure(run) {
    const slow = bandwidth(run('flushing'))
    return {
      cap: slow / Math.min(bandwidth(run('N-N')), bandwidth(run('N-1 segmented'))),
      flushing: leastRise(FLUSHING.map(({ name }) => bandwidth(run(name)))),
    }
  },
  figures: (run) => [
    {
      kind: 'bars',
      id: 'fig4',
      title: 'Bandwidth',
      unit: 'GB/s',
      series: ['bandwidth'],
      groups: ['N-N', 'N-1 segmented', 'flushing'].map((name) => ({
        name: name === 'flushing' ? 'N-1 strided' : name,
        values: [bandwidth(run(name))],
      })),
    },
    {
      kind: 'bars',
      id: 'fig5',
      title: 'N-1 strided',
      unit: 'GB/s',
      series: ['bandwidth'],
      groups: FLUSHING.map(({ name }) => ({ name, values: [bandwidth(run(name))] })),
    },
  ],
})

export const singleStripeExperiments = [fig4, table3, fig20]
