/** The algorithms in words: what each does, and which control mode of the published controller it is. */
import type { PadllAlgorithm } from '#core/controllers/settings.ts'

/** The class of all metadata operations. */
export const USUAL_SCOPE = 'meta_op'

export interface AlgorithmFace {
  readonly value: PadllAlgorithm
  readonly label: string
  readonly mode: 'STATIC' | 'DYNAMIC_VANILLA' | 'DYNAMIC_LEFTOVER'
  /** The mode in words. */
  readonly words: string
  readonly does: string
}

const face = (
  value: PadllAlgorithm,
  label: string,
  mode: AlgorithmFace['mode'],
  words: string,
  does: string,
): AlgorithmFace => ({ value, label, mode, words, does })

export const algorithms: readonly AlgorithmFace[] = [
  face('static', 'Static', 'STATIC', 'static', 'Each job has the limit of its policy, whatever it uses.'),
  face('uniform', 'Uniform', 'STATIC', 'static', 'Every job has the same share of the system limit.'),
  face('priority', 'Priority', 'STATIC', 'static', 'Shares in proportion to the policies; they never add up to more.'),
  face(
    'psharing',
    'PSharing',
    'DYNAMIC_VANILLA',
    'dynamic, vanilla',
    'Proportional sharing: jobs get their demand or a fair share; what is left is divided equally.',
  ),
  face(
    'psfa',
    'PSFA',
    'DYNAMIC_LEFTOVER',
    'dynamic, leftover',
    'Proportional sharing without false allocation: what a job does not use goes to those that do.',
  ),
]
export const algorithmFace = (algorithm: PadllAlgorithm): AlgorithmFace =>
  algorithms.find(({ value }) => value === algorithm) ?? (algorithms[0] as AlgorithmFace)

/** How often limits are computed, in words. */
export function paceWords(rounds: number, intervalMs: number): string {
  if (rounds <= 1) return `Limits are computed every ${intervalMs / 1000} s.`
  const ordinal = rounds === 2 ? '2nd' : rounds === 3 ? '3rd' : `${rounds}th`
  return `Limits are computed every ${ordinal} round of ${intervalMs / 1000} s and hold in between.`
}
