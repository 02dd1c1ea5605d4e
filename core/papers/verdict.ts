/**
 * Verdict on a claim: the measured value against the published one. The regression bound has no part in it.
 *
 * - `reproduced`: within the tolerance of the published value or ordering.
 * - `calibrated`: the published value was an input of a fit, or a constant that is read back; agreement is no result.
 * - `differs`: outside the tolerance.
 * - `contradicts`: outside the tolerance, and no faithful implementation can be inside it, for which there is a proof.
 */
import type { Measured, Published, Requirement, Target, Tolerance } from './expectation.ts'

export type Verdict = 'reproduced' | 'calibrated' | 'differs' | 'contradicts'

/** Number of claims by verdict, and of those on which the paper is silent. */
export type VerdictCounts = Record<Verdict | 'silent', number>

/** Target of a published result: its own, or its number; undefined if it has neither. */
export const targetOf = ({ value, target }: Published): Target | undefined =>
  target ?? (typeof value === 'number' ? { at: value } : undefined)

/** Acceptable distance from `edge`, in the unit of the claim. */
const distanceOf = (tolerance: Tolerance | undefined, edge: number): number =>
  tolerance === undefined ? 0 : tolerance.isRelative === true ? tolerance.size * Math.abs(edge) : tolerance.size

/** Rounding of the comparison itself, relative. */
const ROUNDING = 1e-9

/** Smallest and largest value that agree with a target; those of an ordering by < or > are not included themselves. */
export function agreementOf(target: Target, tolerance?: Tolerance): { readonly from: number; readonly to: number } {
  if ('at' in target) {
    const distance = distanceOf(tolerance, target.at)
    return { from: target.at - distance, to: target.at + distance }
  }
  if ('from' in target) {
    return { from: target.from - distanceOf(tolerance, target.from), to: target.to + distanceOf(tolerance, target.to) }
  }
  const distance = distanceOf(tolerance, target.than)
  return target.is === '>=' || target.is === '>'
    ? { from: target.than - distance, to: Infinity }
    : { from: -Infinity, to: target.than + distance }
}

function agrees(target: Target, tolerance: Tolerance | undefined, measured: number): boolean {
  const { from, to } = agreementOf(target, tolerance)
  const isStrict =
    'is' in target && (target.is === '<' || target.is === '>') && distanceOf(tolerance, target.than) === 0
  if (isStrict) return measured > from && measured < to
  return measured >= from - ROUNDING * Math.abs(from) && measured <= to + ROUNDING * Math.abs(to)
}

/** @returns null where the paper is silent, or the claim is a table of information. */
export function verdictOf(published: Published, measured: Measured): Verdict | null {
  if (published.value === null) return null
  if (published.calibrates !== undefined) return 'calibrated'
  const target = targetOf(published)
  if (target === undefined || typeof measured !== 'number') return null
  if (agrees(target, published.tolerance, measured)) return 'reproduced'
  return published.proof === undefined ? 'differs' : 'contradicts'
}

/**
 * True if the values of an advance agree with its requirement.
 *
 * @param values  of each seed; none do not meet anything. @param middle  their median.
 */
export function meets({ target, on }: Requirement, values: readonly Measured[], middle: Measured): boolean {
  const judged = on === 'median' ? [middle] : values
  return values.length > 0 && judged.every((value) => typeof value === 'number' && agrees(target, undefined, value))
}

/**
 * Distance of a measured value from the target, as a fraction of it; of a target 0 in the unit of the claim.
 *
 * @returns 0 inside a range or on the right side of an ordering; null where there is no target.
 */
export function deviationOf(published: Published, measured: Measured): number | null {
  const target = targetOf(published)
  if (target === undefined || typeof measured !== 'number' || !Number.isFinite(measured)) return null
  const { from, to } = agreementOf(target)
  const edge = measured < from ? from : measured > to ? to : measured
  return edge === 0 ? measured : (measured - edge) / Math.abs(edge)
}

/** Counts verdicts by system, in the order of the claims. */
export function countVerdicts(
  claims: readonly { readonly system: string; readonly verdict: Verdict | null }[],
): Record<string, VerdictCounts> {
  const counts: Record<string, VerdictCounts> = {}
  for (const { system, verdict } of claims) {
    const row = (counts[system] ??= { reproduced: 0, calibrated: 0, differs: 0, contradicts: 0, silent: 0 })
    row[verdict ?? 'silent']++
  }
  return counts
}
