/** The experiments of the SeqDLM paper, in its order. */
import type { Experiment } from '../experiment.ts'
import { analysisExperiments } from './analysis.ts'
import { conversionExperiments } from './conversion.ts'
import { severalStripesExperiments } from './ior-multi.ts'
import { singleStripeExperiments } from './ior-single.ts'
import { microExperiments } from './micro.ts'
import { tileExperiments } from './tile.ts'
import { vpicExperiments } from './vpic.ts'

const [traditional, table3, fig20] = singleStripeExperiments

export const experiments: readonly Experiment[] = [
  ...[traditional!, ...analysisExperiments, ...microExperiments, ...conversionExperiments, table3!, fig20!],
  ...[...severalStripesExperiments, ...tileExperiments, ...vpicExperiments],
] as Experiment[]
