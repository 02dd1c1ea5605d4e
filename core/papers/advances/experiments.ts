/** Experiments of the advances, in the order of `ADVANCES`. */
import type { Experiment } from '../experiment.ts'
import { haechiDeadline } from './haechi-deadline.ts'
import { haechiEvidence } from './haechi-evidence.ts'
import { psfaAdaptive } from './psfa-adaptive.ts'

export const experiments = [psfaAdaptive, haechiDeadline, haechiEvidence] as readonly Experiment[]
