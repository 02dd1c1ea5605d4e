/** Texts of the algorithms, and the control modes of the published controller that they belong to. */
import type { PadllAlgorithm } from '#core/controllers/settings.ts'

/** Default scope: the class of all metadata operations. */
export const DEFAULT_SCOPE = 'meta_op'

export interface AlgorithmInfo {
  readonly value: PadllAlgorithm
  readonly label: string
  readonly mode: 'STATIC' | 'DYNAMIC_VANILLA' | 'DYNAMIC_LEFTOVER'
  /** Mode as text. */
  readonly words: string
  readonly does: string
}

const face = (
  value: PadllAlgorithm,
  label: string,
  mode: AlgorithmInfo['mode'],
  words: string,
  does: string,
): AlgorithmInfo => ({ value, label, mode, words, does })

export const algorithms: readonly AlgorithmInfo[] = [
  face('static', 'Static', 'STATIC', 'static', 'Each job has the limit of its policy, whatever it uses.'),
  face('uniform', 'Uniform', 'STATIC', 'static', 'Every job has the same share of the system limit.'),
  face(
    'priority',
    'Priority',
    'STATIC',
    'static',
    'Limits by policy, scaled down in proportion if their sum exceeds the system limit.',
  ),
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
    'Proportional sharing without false allocation: rate that a job does not use goes to jobs that need it.',
  ),
]
export const algorithmOf = (algorithm: PadllAlgorithm): AlgorithmInfo =>
  algorithms.find(({ value }) => value === algorithm) ?? (algorithms[0] as AlgorithmInfo)

/** Describes the interval at which limits are computed. */
export function intervalText(rounds: number, intervalMs: number): string {
  if (rounds <= 1) return `Limits are computed every ${intervalMs / 1000} s.`
  const ordinal = rounds === 2 ? '2nd' : rounds === 3 ? '3rd' : `${rounds}th`
  return `Limits are computed every ${ordinal} round of ${intervalMs / 1000} s and stay unchanged in between.`
}
