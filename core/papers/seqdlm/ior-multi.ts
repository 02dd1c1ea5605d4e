/** V-C2, Fig. 21 and 22: IOR strided on 4 and 8 stripes, unaligned writes. */
import { DLM_BASIC, DLM_LUSTRE, SEQDLM, type DlmPolicy } from '../../seqdlm/policy.ts'
import { experimentOf, leastRise, variant } from './expectations.ts'
import { runIor } from './ior.ts'
import { bandwidth, type WriteRun } from './writers.ts'

const CLIENTS = 96
const SIZES = [47_008, 188_032, 752_128]
/** Small writes are steady after fewer bytes. */
const scaleOf = (bytes: number): number => (bytes < 100_000 ? 768 : 256)
const STRIPES = [4, 8]
const POLICIES: readonly DlmPolicy[] = [SEQDLM, DLM_LUSTRE, DLM_BASIC]

const keyOf = (policy: DlmPolicy, stripes: number, bytes: number): string => `${policy.name} ${stripes} ${bytes}`
const variants = STRIPES.flatMap((stripes) =>
  SIZES.flatMap((bytes) =>
    POLICIES.map((policy) =>
      variant('ior-n', keyOf(policy, stripes, bytes), (seed) =>
        runIor({ policy, pattern: 'strided', clients: CLIENTS, stripes, bytes, scale: scaleOf(bytes) }, seed),
      ),
    ),
  ),
)
const setup = [
  '96 clients, 4 or 8 stripes of 1 MB on as many servers; locks are aligned to 4 KB, so that neighbours conflict.',
  '2.7 MB per client at 47,008 B and 8 MB at the larger sizes instead of 2 GB, dirty thresholds scaled likewise. With 48 MB the gains ' +
    'at 752,128 B are 18.5 and 10.6, as in the prototype; those at 47,008 B with 12 MB are 3.6 and 3.1.',
]
type Look = (key: string) => WriteRun

const fig21 = experimentOf<WriteRun>({
  name: 'fig21',
  title: 'IOR strided on several stripes: bandwidth',
  setup,
  variants,
  measure(run: Look) {
    const rate = (policy: DlmPolicy, stripes: number, bytes: number): number =>
      bandwidth(run(keyOf(policy, stripes, bytes)))
    const ratio = (stripes: number, bytes: number): number =>
      rate(SEQDLM, stripes, bytes) / rate(DLM_LUSTRE, stripes, bytes)
    const [four, eight] = STRIPES.map((stripes) => SIZES.map((bytes) => ratio(stripes, bytes))) as [number[], number[]]
    const trends = [
      leastRise(four),
      leastRise(eight),
      ...four.map((value, i) => value / eight[i]!),
      ...STRIPES.map((stripes) => leastRise(SIZES.map((bytes) => rate(SEQDLM, stripes, bytes)))),
    ]
    return {
      '4.47008': four[0]!,
      '4.752128': four[2]!,
      '8.47008': eight[0]!,
      '8.752128': eight[2]!,
      mid: Math.min(...[four, eight].map(([low, mid, high]) => Math.min(mid! / low!, high! / mid!))),
      trend: Math.min(...trends),
      lustre_vs_basic: Math.min(
        ...STRIPES.flatMap((stripes) => SIZES.map((x) => rate(DLM_LUSTRE, stripes, x) / rate(DLM_BASIC, stripes, x))),
      ),
    }
  },
  figures: (run) =>
    STRIPES.map((stripes) => ({
      kind: 'bars',
      id: `fig21.${stripes}`,
      title: `${stripes} stripes`,
      unit: 'GB/s',
      series: POLICIES.map(({ name }) => name),
      groups: SIZES.map((bytes) => ({
        name: `${bytes} B`,
        values: POLICIES.map((policy) => bandwidth(run(keyOf(policy, stripes, bytes)))),
      })),
    })),
})

const fig22 = experimentOf<WriteRun>({
  name: 'fig22',
  title: 'IOR strided on several stripes: total time',
  setup,
  variants,
  measure: (run) => ({
    total: run(keyOf(SEQDLM, 4, 47_008)).totalS / run(keyOf(DLM_LUSTRE, 4, 47_008)).totalS,
  }),
  figures: (run) =>
    STRIPES.map((stripes) => ({
      kind: 'bars',
      id: `fig22.${stripes}`,
      title: `${stripes} stripes, total time`,
      unit: 's',
      series: POLICIES.map(({ name }) => name),
      groups: SIZES.map((bytes) => ({
        name: `${bytes} B`,
        values: POLICIES.map((policy) => run(keyOf(policy, stripes, bytes)).totalS * scaleOf(bytes)),
      })),
    })),
})

export const severalStripesExperiments = [fig21, fig22]
