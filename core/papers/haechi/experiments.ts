/** Experiments of the Haechi paper, in its order, and those on its open questions. */
import type { Experiment } from '../experiment.ts'
import { openQuestions } from './open-questions.ts'
import { printedRules } from './printed-rules.ts'
import { profileSet } from './profiling.ts'
import { set1 } from './set-1.ts'
import { set2 } from './set-2.ts'
import { set3 } from './set-3.ts'
import { set4 } from './set-4.ts'
import { set4Grid } from './set-4-grid.ts'

export const experiments = [
  ...set1,
  ...profileSet,
  ...set2,
  ...set3,
  ...set4,
  ...set4Grid,
  ...printedRules,
  openQuestions,
] as readonly Experiment[]
