/** Experiments of the PADLL paper, in its order, and those on its open questions. */
import type { Experiment } from '../experiment.ts'
import { month } from './ii.ts'
import { otherTraces, sensitivity } from './open-questions.ts'
import { permutedTraces, randomTraces } from './unfitted-traces.ts'
import { perClass, perOperation } from './v-ab.ts'
import { scenarios } from './v-c.ts'
import { hierarchy } from './v-c-hierarchy.ts'
import { cost } from './v-d.ts'

export const experiments: readonly Experiment[] = [
  month,
  perOperation,
  perClass,
  ...scenarios,
  hierarchy,
  otherTraces,
  permutedTraces,
  randomTraces,
  sensitivity,
  cost,
]
