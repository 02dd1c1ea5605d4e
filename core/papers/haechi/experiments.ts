/** The experiments of the Haechi paper, in its order, and those on what it leaves open. */
import type { Experiment } from '../experiment.ts'
import { literal } from './literal.ts'
import { own } from './own.ts'
import { set1 } from './set-1.ts'
import { set2 } from './set-2.ts'
import { set3 } from './set-3.ts'
import { set4 } from './set-4.ts'

export const experiments = [...set1, ...set2, ...set3, ...set4, literal, own] as readonly Experiment[]
