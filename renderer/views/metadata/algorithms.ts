/** Texts of the algorithms, and the control modes of the published controller that they belong to. */
import type { PadllAlgorithm } from '#core/controllers/settings.ts'

/** Default scope: the class of all metadata operations. */
export const DEFAULT_SCOPE = 'meta_op'

export interface AlgorithmInfo {
  readonly value: PadllAlgorithm
  readonly label: string
  readonly mode: 'STATIC' | 'DYNAMIC_VANILLA' | 'DYNAMIC_LEFTOVER'
  /** Mode as text. */
  readonly modeText: string
  /** Use of the rate that a job does not need; empty for static modes. */
  readonly unusedRate: string
  readonly does: string
}

const entry = (
  value: PadllAlgorithm,
  label: string,
  mode: AlgorithmInfo['mode'],
  modeText: string,
  unusedRate: string,
  does: string,
): AlgorithmInfo => ({ value, label, mode, modeText, unusedRate, does })

export const algorithms: readonly AlgorithmInfo[] = [
  entry('static', 'Static', 'STATIC', 'static', '', 'Each job has the limit of its policy, whatever it uses.'),
  entry('uniform', 'Uniform', 'STATIC', 'static', '', 'Every job has the same share of the system limit.'),
  entry(
    'priority',
    'Priority',
    'STATIC',
    'static',
    '',
    'Limits by policy, scaled down in proportion if their sum exceeds the system limit.',
  ),
  entry(
    'psharing',
    'PSharing',
    'DYNAMIC_VANILLA',
    'dynamic',
    'unused rate stays unused',
    'Proportional sharing: jobs get their demand or a fair share; what is left is divided equally.',
  ),
  entry(
    'psfa',
    'PSFA',
    'DYNAMIC_LEFTOVER',
    'dynamic',
    'unused rate reallocated',
    'Proportional sharing without false allocation: rate that a job does not use goes to jobs that need it.',
  ),
  entry(
    'psfa-adaptive',
    'PSFA adaptive',
    'DYNAMIC_LEFTOVER',
    'dynamic',
    'unused rate reallocated',
    'Not in the paper. Rates follow the expected load; the rest is headroom by volatility. Without counts of waiting operations PSFA applies.',
  ),
]
export const algorithmOf = (algorithm: PadllAlgorithm): AlgorithmInfo =>
  algorithms.find(({ value }) => value === algorithm) ?? (algorithms[0] as AlgorithmInfo)

/** Control mode in full: its name, and what happens to unused rate. */
export const fullModeText = ({ modeText, unusedRate }: AlgorithmInfo): string =>
  unusedRate === '' ? modeText : `${modeText}, ${unusedRate}`

/** Describes the interval at which limits are computed. */
export function intervalText(rounds: number, intervalMs: number): string {
  if (rounds <= 1) return `Limits are computed every ${intervalMs / 1000} s.`
  const ordinal = rounds === 2 ? '2nd' : rounds === 3 ? '3rd' : `${rounds}th`
  return `Limits are computed every ${ordinal} round of ${intervalMs / 1000} s and stay unchanged in between.`
}
