/** Registry of all experiments of `sluice papers` and the Papers page, system by system. */
import { experiments as adaptbf } from './adaptbf/experiments.ts'
import { experiments as advances } from './advances/experiments.ts'
import type { Experiment } from './experiment.ts'
import { experiments as haechi } from './haechi/experiments.ts'
import { experiments as padll } from './padll/experiments.ts'
import { experiments as seqdlm } from './seqdlm/experiments.ts'

export const EXPERIMENTS: readonly Experiment[] = [...adaptbf, ...padll, ...seqdlm, ...haechi, ...advances]
