/** IV-H: allocation frequency. */
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Bars, Experiment } from '../experiment.ts'
import { claimsOf, numbered, publishedAs } from './expectations.ts'
import { aggregate } from './metrics.ts'
import { runPart, runsOf } from './part.ts'
import type { Run } from './run.ts'
import { adaptbf, COMMON_SETUP, IV_F, IV_F_ENDLESS } from './setups.ts'

const PERIODS_S = [0.05, 0.1, 0.2, 0.5, 1, 2] as const
const SCENES = { 'IV-F': IV_F, 'IV-F-endless': IV_F_ENDLESS } as const
type SceneName = keyof typeof SCENES
const NAMES: readonly SceneName[] = ['IV-F', 'IV-F-endless']

/** The runs at 100 ms are those of IV-F. */
const partName = (dtSeconds: number): string => (dtSeconds === 0.1 ? ADAPTBF : `dt=${dtSeconds}`)

export const ivH: Experiment<Run> = {
  id: 'adaptbf.IV-H',
  system: ADAPTBF,
  title: 'Frequency of token allocation: periods from 50 ms to 2 s',
  setup: [...COMMON_SETUP, 'IV-F and IV-F-endless under AdapTBF with periods of 50, 100, 200, 500 ms, 1 and 2 s.'],
  expectations: claimsOf('IV-H'),
  published: publishedAs({}, { value: 'shorter periods, higher throughput' }),
  parts: NAMES.flatMap((name) =>
    PERIODS_S.map((dtSeconds) => {
      const scene = SCENES[name]
      return runPart(name, partName(dtSeconds), { ...scene, control: adaptbf(scene, { dtSeconds }) })
    }),
  ),
  measure(runs) {
    const [finite, endless] = NAMES.map((name) => ratesOf(runs, name)) as [number[], number[]]
    return numbered('IV-H', { ...claimsFrom(1, finite), ...claimsFrom(8, endless) })
  },
  figures(runs): Bars[] {
    const rates = NAMES.map((name) => ratesOf(runs, name))
    const groups = PERIODS_S.map((dtSeconds, i) => ({ name: `${dtSeconds} s`, values: rates.map((rate) => rate[i]!) }))
    return [{ kind: 'bars', id: 'fig9', title: 'Aggregate by period', unit: 'RPC/s', series: NAMES, groups }]
  },
}

const ratesOf = (runs: ReadonlyMap<string, Run>, name: SceneName): number[] =>
  PERIODS_S.map((dtSeconds) => aggregate(runsOf(runs, name)(partName(dtSeconds))))

/** Seven claims: each period against the next longer one, 100 ms against 1 s, and the rates. */
function claimsFrom(first: number, rates: readonly number[]): Record<number, number | Record<string, number>> {
  const pairs = rates.slice(0, -1).map((rate, i) => [first + i, rate / rates[i + 1]!] as const)
  return {
    ...Object.fromEntries(pairs),
    [first + 5]: rates[1]! / rates[4]!,
    [first + 6]: Object.fromEntries(PERIODS_S.map((dtSeconds, i) => [String(dtSeconds), rates[i]!])),
  }
}
