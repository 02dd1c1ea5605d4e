/** Experiments of the AdapTBF paper, each in the model and as shipped, and those on its open questions. */
import type { Experiment } from '../experiment.ts'
import { extensions } from './extensions.ts'
import { ivD, ivDShipped, ivDShipped100ms } from './iv-d.ts'
import { ivE, ivEShipped, ivEShipped100ms } from './iv-e.ts'
import { ivF, ivFEndless, ivFEndlessShipped, ivFShipped, ivFShipped100ms } from './iv-f.ts'
import { ivG } from './iv-g.ts'
import { ivH, ivHShipped } from './iv-h.ts'
import { burstSizes, mechanisms } from './mechanisms.ts'
import { bucketReset, measurement, tSensitivity } from './open-questions.ts'

export const experiments: readonly Experiment[] = [
  ivD,
  ivE,
  ivF,
  ivFEndless,
  ivG,
  ivH,
  ivDShipped,
  ivDShipped100ms,
  ivEShipped,
  ivEShipped100ms,
  ivFShipped,
  ivFShipped100ms,
  ivFEndlessShipped,
  ivHShipped,
  mechanisms,
  burstSizes,
  tSensitivity,
  measurement,
  bucketReset,
  extensions,
]
