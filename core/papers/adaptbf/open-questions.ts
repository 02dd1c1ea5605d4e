/**
 * Experiments on the paper's open questions: accuracy of T, definition of demand, effect of a rate change on a bucket.
 */
import type { DemandMeasure } from '../../controllers/settings.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Experiment } from '../experiment.ts'
import { claimsOf, numbered } from './expectations.ts'
import { deficitPart, rateIn, shareError, sharesIn } from './metrics.ts'
import { runPart, runsOf } from './part.ts'
import type { Run } from './run.ts'
import { adaptbf, MODEL_SETUP, IV_D, IV_F } from './setups.ts'

/** IV-D up to 30 s: all four jobs run. */
const IV_D_30 = { ...IV_D, horizonS: 30 }
/** Window in which T is evaluated: after the first seconds. */
const WINDOW = [5, 30] as const

/** T below and at the capacity, as a factor; at the capacity the run equals that of IV-D. */
const BELOW = [0.8, 0.9, 0.95, 1]
/** T above the capacity. */
const ABOVE = [1.05, 1.1, 1.2, 1.5]
const partName = (factor: number): string => (factor === 1 ? ADAPTBF : `T=${factor}`)

export const tSensitivity: Experiment<Run> = {
  id: 'adaptbf.T-sensitivity',
  system: ADAPTBF,
  title: 'The token rate T against the true capacity',
  setup: [...MODEL_SETUP, 'IV-D with T from 0.8 to 1.5 of the capacity; 5 to 30 s, while all four jobs run.'],
  expectations: claimsOf('T-sensitivity'),
  parts: [...BELOW, ...ABOVE].map((factor) => {
    const control = adaptbf(IV_D, { maxRatePerSec: factor * IV_D.capacity })
    return runPart('IV-D', partName(factor), { ...(factor === 1 ? IV_D : IV_D_30), control })
  }),
  measure(runs) {
    const run = (factor: number): Run => runsOf(runs, 'IV-D')(partName(factor))
    return numbered('T-sensitivity', {
      ...Object.fromEntries(BELOW.map((factor, i) => [1 + 2 * i, shareError(run(factor), ...WINDOW)])),
      ...Object.fromEntries(BELOW.map((factor, i) => [2 + 2 * i, rateIn(run(factor), ...WINDOW) / IV_D.capacity])),
      ...Object.fromEntries(ABOVE.map((factor, i) => [9 + i, sharesIn(run(factor), ...WINDOW)[3]!])),
    })
  },
  figures: () => [],
}

const MEASURES: readonly DemandMeasure[] = ['served', 'arrivals', 'backlog']
const measurePart = (measure: DemandMeasure): string => (measure === 'backlog' ? ADAPTBF : `demand=${measure}`)

export const measurement: Experiment<Run> = {
  id: 'adaptbf.measurement',
  system: ADAPTBF,
  title: 'Utilization of throttled jobs above 1, by demand measure',
  setup: [
    ...MODEL_SETUP,
    'IV-D and IV-F with demand as served, as arrived, and as dispatched plus queued. Counted: jobs with a rule and RPCs still ' +
      'queued at the end of a period.',
  ],
  expectations: claimsOf('measurement'),
  parts: [
    ...MEASURES.map((demand) => runPart('IV-D', measurePart(demand), { ...IV_D, control: adaptbf(IV_D, { demand }) })),
    ...MEASURES.map((demand) => runPart('IV-F', measurePart(demand), { ...IV_F, control: adaptbf(IV_F, { demand }) })),
  ],
  measure(runs) {
    const parts = MEASURES.flatMap((measure) =>
      ['IV-D', 'IV-F'].map((scene) => deficitPart(runsOf(runs, scene)(measurePart(measure)))),
    )
    return numbered('measurement', Object.fromEntries(parts.map((part, i) => [1 + i, part])))
  },
  figures: () => [],
}

export const bucketReset: Experiment<Run> = {
  id: 'adaptbf.bucket-reset',
  system: ADAPTBF,
  title: 'Buckets that a change of the rate refills, as on running Lustre servers',
  setup: [...MODEL_SETUP, 'IV-D; buckets of 3 or 1 tokens, refilled by every change; 5 to 30 s.'],
  expectations: claimsOf('bucket-reset'),
  parts: [
    ...[3, 1].map((depth) =>
      runPart('IV-D', `reset, depth ${depth}`, {
        ...IV_D_30,
        control: adaptbf(IV_D),
        scheduler: { bucket: 'reset', depth },
      }),
    ),
    runPart('IV-D', ADAPTBF, { ...IV_D, control: adaptbf(IV_D) }),
  ],
  measure(runs) {
    const share = (name: string): number => sharesIn(runsOf(runs, 'IV-D')(name), ...WINDOW)[3]!
    return numbered('bucket-reset', {
      1: share('reset, depth 3'),
      2: share('reset, depth 1'),
      3: share(ADAPTBF),
    })
  },
  figures: () => [],
}
