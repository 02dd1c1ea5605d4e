/** Every experiment that `sluice papers` and the Papers page know, system by system. */
import { experiments as adaptbf } from './adaptbf/experiments.ts'
import type { Experiment } from './experiment.ts'

export const EXPERIMENTS: readonly Experiment[] = [...adaptbf]
