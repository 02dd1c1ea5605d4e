/** IV-H: allocation frequency. */
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Bars, Experiment } from '../experiment.ts'
import { claimsOf, numbered } from './expectations.ts'
import { BURST_FIT, ENDLESS_FIT, JOB4_FIT, T_FIT } from './fits.ts'
import { aggregate } from './metrics.ts'
import { adaptbfPart, adaptbfRun, MODEL, type Platform, SHIPPED } from './platforms.ts'
import type { Run } from './run.ts'
import { IV_F, IV_F_ENDLESS } from './setups.ts'

const SECTION = 'IV-H'
const PERIODS_S = [0.05, 0.1, 0.2, 0.5, 1, 2] as const
const SCENES = { 'IV-F': IV_F, 'IV-F-endless': IV_F_ENDLESS } as const
type SceneName = keyof typeof SCENES
const NAMES: readonly SceneName[] = ['IV-F', 'IV-F-endless']

export const ivH = experiment(MODEL, 'Frequency of token allocation: periods from 50 ms to 2 s', MODEL.setup)
export const ivHShipped = experiment(
  SHIPPED,
  'As shipped: Frequency of token allocation: periods from 50 ms to 2 s',
  SHIPPED.setup.slice(0, -1),
)

function experiment(platform: Platform, title: string, setup: readonly string[]): Experiment<Run> {
  const name = `${SECTION}${platform.suffix}`
  const ratesOf = (runs: ReadonlyMap<string, Run>, scene: SceneName): number[] =>
    PERIODS_S.map((dtSeconds) => aggregate(adaptbfRun(platform, scene, runs, dtSeconds)))
  return {
    id: `adaptbf.${name}`,
    system: ADAPTBF,
    title,
    setup: [...setup, 'IV-F and IV-F-endless under AdapTBF with periods of 50, 100, 200, 500 ms, 1 and 2 s.'],
    expectations: claimsOf(SECTION, platform),
    fits: [T_FIT, JOB4_FIT, ENDLESS_FIT, BURST_FIT],
    parts: NAMES.flatMap((scene) =>
      PERIODS_S.map((dtSeconds) => adaptbfPart(platform, scene, SCENES[scene], dtSeconds)),
    ),
    measure(runs) {
      const [finite, endless] = NAMES.map((scene) => ratesOf(runs, scene)) as [number[], number[]]
      return numbered(name, { ...claimsFrom(1, finite), ...claimsFrom(8, endless) })
    },
    figures(runs): Bars[] {
      const rates = NAMES.map((scene) => ratesOf(runs, scene))
      const groups = PERIODS_S.map((dtSeconds, i) => ({
        name: `${dtSeconds} s`,
        values: rates.map((rate) => rate[i]!),
      }))
      const id = `fig9${platform.suffix}`
      return [{ kind: 'bars', id, title: 'Aggregate by period', unit: 'RPC/s', series: NAMES, groups }]
    },
  }
}

/** Seven claims: each period against the next longer one, 100 ms against 1 s, and the rates. */
function claimsFrom(first: number, rates: readonly number[]): Record<number, number | Record<string, number>> {
  const pairs = rates.slice(0, -1).map((rate, i) => [first + i, rate / rates[i + 1]!] as const)
  return {
    ...Object.fromEntries(pairs),
    [first + 5]: rates[1]! / rates[4]!,
    [first + 6]: Object.fromEntries(PERIODS_S.map((dtSeconds, i) => [String(dtSeconds), rates[i]!])),
  }
}
