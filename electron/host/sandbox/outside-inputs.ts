/** Inputs outside the range of the model, as texts with units, each with its relevance. */
import type { OutsideInput } from '#core/api/sandbox.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { limitsOf } from '#core/sandbox/model-limits.ts'
import { outsideOf, type Outside } from '#core/sandbox/model-range.ts'
import { modelLimitText, size } from './model-limit-text.ts'

/** Most inputs listed. */
const MOST = 100
const KIB = 1024

function sizeInput({ jobId, value, least, most, side, times, bound }: Outside): OutsideInput {
  const isFitted = bound === 'fitted' && least !== null
  return {
    jobId,
    of: jobId,
    side,
    times,
    input: `RPC size ${size(value * KIB)}`,
    range: isFitted
      ? `the fitted range of ${size(least * KIB)} to ${size(most * KIB)}`
      : `what a Lustre RPC carries, ${size(most * KIB)}`,
    why: isFitted
      ? 'The split of service time into operation and bytes is assumed, and less certain for other sizes.'
      : 'Clients split it into several; the model sends it as one.',
  }
}

/**
 * All of them, those of jobs first.
 *
 * @param planes  true to include those of the planes besides Lustre: its jobs do not depend on them.
 */
export function outsideInputs(
  scenario: Scenario,
  { planes = true }: { readonly planes?: boolean } = {},
): OutsideInput[] {
  const limits = limitsOf(scenario).filter(({ plane }) => planes || plane === 'lustre' || plane === 'padll')
  return [
    ...outsideOf(scenario).map(sizeInput),
    ...limits.map((limit): OutsideInput => ({ jobId: limit.jobId, of: limit.of, ...modelLimitText(limit) })),
  ].slice(0, MOST)
}

/** Sentence about one input. */
export const outsideSentence = ({ of, input, side, range, why }: OutsideInput): string =>
  `${input}${of === '' ? '' : ` of ${of}`} is ${side === 'apart' ? 'not among' : side} ${range}. ${why}`
