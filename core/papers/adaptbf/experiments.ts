/** Experiments of the AdapTBF paper, in its order, and those on its open questions. */
import type { Experiment } from '../experiment.ts'
import { extensions } from './extensions.ts'
import { ivD } from './iv-d.ts'
import { ivE } from './iv-e.ts'
import { ivF, ivFEndless } from './iv-f.ts'
import { ivG } from './iv-g.ts'
import { ivH } from './iv-h.ts'
import { bucketReset, measurement, tSensitivity } from './open-questions.ts'

export const experiments: readonly Experiment[] = [
  ivD,
  ivE,
  ivF,
  ivFEndless,
  ivG,
  ivH,
  tSensitivity,
  measurement,
  bucketReset,
  extensions,
]
