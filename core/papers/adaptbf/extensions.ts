/** Gains and costs of the named extensions. */
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Experiment } from '../experiment.ts'
import { claimsOf, numbered } from './expectations.ts'
import { gain, rateIn, shareError } from './metrics.ts'
import { runPart, runsOf } from './part.ts'
import type { Run } from './run.ts'
import { adaptbf, MODEL_SETUP, IV_D, IV_E } from './setups.ts'

const BURSTING_JOBS = [0, 1, 2]
/** Wrong initial T of `autoT`, as parts of the capacity. */
const STARTS = [0.7, 1.1, 1.5, 2]
const HORIZON_S = 30

export const extensions: Experiment<Run> = {
  id: 'adaptbf.extensions',
  system: ADAPTBF,
  title: 'Extensions by name: spill, overdraft, autoT',
  setup: [
    ...MODEL_SETUP,
    'IV-E with spill, and with half of the tokens expected to stay unused allocated twice (overdraft 0.5); IV-D with autoT from 0.7, 1.1, ' +
      '1.5 and 2 times the capacity.',
  ],
  expectations: claimsOf('extensions'),
  parts: [
    runPart('IV-E', 'none', { ...IV_E, control: { kind: 'none' } }),
    runPart('IV-E', ADAPTBF, { ...IV_E, control: adaptbf(IV_E) }),
    runPart('IV-E', 'spill', { ...IV_E, control: adaptbf(IV_E), scheduler: { spill: true } }),
    runPart('IV-E', 'overdraft', { ...IV_E, control: adaptbf(IV_E, { overdraft: 0.5 }) }),
    ...STARTS.map((factor) => {
      const control = adaptbf(IV_D, { autoT: true, maxRatePerSec: factor * IV_D.capacity })
      return runPart('IV-D', `autoT from ${factor}`, { ...IV_D, horizonS: HORIZON_S, control })
    }),
  ],
  measure(runs) {
    const ivD = runsOf(runs, 'IV-D')
    const ivE = runsOf(runs, 'IV-E')
    const none = ivE('none')
    const base = ivE(ADAPTBF)
    const spill = ivE('spill')
    const overdraft = ivE('overdraft')
    const burstRatio = (run: Run, job: number): number => run.burstMeans[job]! / base.burstMeans[job]!
    return numbered('extensions', {
      1: rateIn(spill, 0, HORIZON_S) / rateIn(none, 0, HORIZON_S),
      2: gain(spill, none, 3),
      ...Object.fromEntries(BURSTING_JOBS.map((job) => [3 + job, burstRatio(spill, job)])),
      6: rateIn(overdraft, 0, HORIZON_S) / rateIn(base, 0, HORIZON_S),
      7: burstRatio(overdraft, 2),
      ...Object.fromEntries(
        STARTS.flatMap((factor, i) => {
          const run = ivD(`autoT from ${factor}`)
          return [
            [8 + 2 * i, run.trace.maxRates.at(-1)! / IV_D.capacity],
            [9 + 2 * i, shareError(run, 15, HORIZON_S)],
          ]
        }),
      ),
    })
  },
  figures: () => [],
}
