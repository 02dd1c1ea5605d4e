/** V-C1, Table III and Fig. 20, and II-B, Fig. 4 and 5: IOR on a file of one stripe. */
import { DLM_BASIC, DLM_LUSTRE, SEQDLM, type DlmPolicy } from '../../seqdlm/policy.ts'
import { COSTS, type Costs } from '../../seqdlm/model/costs.ts'
import { experimentOf, leastRise, SEED, seedless, sizeName, variant, type Variant } from './expectations.ts'
import { IOR_FITS } from './fits.ts'
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

/** Table III, by policy: bandwidth, GB/s, and total time, s. */
export const TABLE_III = [
  { policy: SEQDLM, bandwidth: 33.2, totalS: 18.1 },
  { policy: DLM_BASIC, bandwidth: 33.8, totalS: 19.1 },
  { policy: DLM_LUSTRE, bandwidth: 33.7, totalS: 19.5 },
] as const

const table3 = experimentOf<WriteRun>({
  name: 'table3',
  title: 'IOR segmented: no contention',
  setup: [`${SETUP} Writes of 64 KB.`, '256 MB per client instead of 2 GB; times are multiplied by 8.'],
  fits: IOR_FITS,
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
      groups: POLICIES.map((policy, i) => ({
        name: policy.name,
        values: [bandwidth(run(keyOf(policy, 'segmented', 64 * KB)))],
        published: [TABLE_III[i]!.bandwidth],
      })),
    },
  ],
})

/** Policies whose granted locks alone bound an expansion: `queueLimits` off. */
const grantedOnly = (policy: DlmPolicy): DlmPolicy => ({
  ...policy,
  name: `${policy.name}, granted locks only`,
  queueLimits: false,
})
const full = (policy: DlmPolicy, pattern: Ior['pattern'], bytes: number): Variant<WriteRun> =>
  seedless('ior-1-full', keyOf(policy, pattern, bytes), () =>
    runIor({ policy, pattern, clients: CLIENTS, stripes: 1, bytes, scale: 1 }, SEED),
  )
const SCALE_GRANTED = 32
/** The ablation on a small part of the file: its ratios change less with the size than between seeds. */
const ablated = (policy: DlmPolicy, bytes: number): Variant<WriteRun> => {
  const changed = grantedOnly(policy)
  return variant('ior-1-granted', keyOf(changed, 'strided', bytes), (seed) =>
    runIor({ policy: changed, pattern: 'strided', clients: CLIENTS, stripes: 1, bytes, scale: SCALE_GRANTED }, seed),
  )
}
/** Write sizes of DLM-Lustre and of the ablation. */
const ENDS = [64 * KB, 256 * KB, 1024 * KB]

const fig20 = experimentOf<WriteRun>({
  name: 'fig20',
  title: 'IOR strided on one stripe: high contention',
  setup: [
    SETUP,
    'Full size: 2 GB per client, on seed 1 alone. Smaller runs give less, as clients drift apart during a run and reuse their ' +
      'locks more: at an eighth of the size SeqDLM has 0.74, 0.77 and 0.92 of segmented at 64 KB, 256 KB and 1 MB. Between ' +
      'seeds the ratios vary by up to 7 %.',
    '"Largest compatible range" leaves open whether waiting requests bound an expansion. They do here; the claims `granted.*` ' +
      'are runs of 64 MB per client where only granted locks bound it. Their ratios change less with the size than between seeds.',
    'Original Lustre has no line: against DLM-Lustre it lacks the registered memory pool, and the paper gives no cost of that.',
  ],
  fits: IOR_FITS,
  variants: [
    ...SIZES.flatMap((bytes) => [
      full(SEQDLM, 'segmented', bytes),
      full(SEQDLM, 'strided', bytes),
      full(DLM_BASIC, 'strided', bytes),
    ]),
    ...ENDS.map((bytes) => full(DLM_LUSTRE, 'strided', bytes)),
    ...ENDS.flatMap((bytes) => POLICIES.map((policy) => ablated(policy, bytes))),
  ],
  measure(run) {
    const of = (policy: DlmPolicy, bytes: number): WriteRun => run(keyOf(policy, 'strided', bytes))
    const rate = (policy: DlmPolicy, bytes: number): number => bandwidth(of(policy, bytes))
    const segmented = (bytes: number): number => bandwidth(run(keyOf(SEQDLM, 'segmented', bytes)))
    const speedup = (bytes: number): number => rate(SEQDLM, bytes) / rate(DLM_BASIC, bytes)
    const pio = (policy: DlmPolicy): number[] =>
      SIZES.map((bytes) => (100 * of(policy, bytes).pioS) / of(policy, bytes).totalS)
    const changed = { seq: grantedOnly(SEQDLM), basic: grantedOnly(DLM_BASIC), lustre: grantedOnly(DLM_LUSTRE) }
    return {
      ...Object.fromEntries(SIZES.map((bytes) => [`segfrac.${bytes}`, rate(SEQDLM, bytes) / segmented(bytes)])),
      ...Object.fromEntries(SIZES.map((bytes) => [`speedup.${bytes}`, speedup(bytes)])),
      maxspeedup: Math.max(...SIZES.map(speedup)),
      'maxspeedup.lustre': Math.max(...ENDS.map((bytes) => rate(SEQDLM, bytes) / rate(DLM_LUSTRE, bytes))),
      'piopct.seq': Math.max(...pio(SEQDLM)),
      'piopct.basic': Math.max(...pio(DLM_BASIC)),
      lustre_vs_basic: Math.min(...ENDS.map((bytes) => rate(DLM_LUSTRE, bytes) / rate(DLM_BASIC, bytes))),
      ...Object.fromEntries(
        ENDS.map((bytes) => [`granted.segfrac.${bytes}`, rate(changed.seq, bytes) / segmented(bytes)]),
      ),
      'granted.maxspeedup': Math.max(...ENDS.map((bytes) => rate(changed.seq, bytes) / rate(changed.basic, bytes))),
      'granted.lustre_vs_basic': Math.min(
        ...ENDS.map((bytes) => rate(changed.lustre, bytes) / rate(changed.basic, bytes)),
      ),
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
    const ablation = POLICIES.flatMap((policy) => [policy, grantedOnly(policy)])
    return [
      {
        kind: 'curve',
        id: 'fig20a',
        title: 'Bandwidth',
        unit: 'GB/s',
        across: 'write size, KB',
        isLog: true,
        series: [
          ...series.map(({ name, key }) => ({
            name,
            points: SIZES.map((bytes) => [bytes / KB, bandwidth(run(key(bytes)))] as const),
          })),
          {
            name: 'DLM-Lustre',
            points: ENDS.map((bytes) => [bytes / KB, bandwidth(run(keyOf(DLM_LUSTRE, 'strided', bytes)))] as const),
          },
        ],
      },
      { ...bars, id: 'fig20b.pio', title: 'PIO time', unit: 's', groups: groups(({ pioS }) => pioS) },
      { ...bars, id: 'fig20b.total', title: 'Total time', unit: 's', groups: groups(({ totalS }) => totalS) },
      {
        kind: 'bars',
        id: 'fig20.granted',
        title: 'Bandwidth, expansion bounded by waiting requests and by granted locks only',
        unit: 'GB/s',
        series: ablation.map(({ name }) => name),
        groups: ENDS.map((bytes) => ({
          name: sizeName(bytes),
          values: ablation.map((policy) => bandwidth(run(keyOf(policy, 'strided', bytes)))),
        })),
      },
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
  fits: IOR_FITS,
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
