/** Experiments of the advances, in the order of `ADVANCES`. */
import type { Experiment } from '../experiment.ts'
import { psfaAdaptive } from './psfa-adaptive.ts'

export const experiments = [psfaAdaptive] as readonly Experiment[]
