/** Columns of the run page: current variants, each with its index in the last result. */
import type { RunResult } from '#core/api/sandbox.ts'
import type { VariantEntry } from '../../stores/sandbox-variants.ts'
import { plainText } from '../../format/plain-text.ts'
import { detailOf, letterOf } from './variant-text.ts'

export interface VariantColumn {
  readonly id: number
  readonly name: string
  readonly detail: string
  /** Index in the result; null if it has not been run. */
  readonly at: number | null
  /** Empty for the baseline, and for a variant that is not in the result. */
  readonly letter: string
  readonly isBaseline: boolean
  readonly isBest: boolean
  /** True if its settings differ from those that were run. */
  readonly isChanged: boolean
}

export function variantColumns(
  entries: readonly VariantEntry[],
  result: RunResult | null,
  ran: readonly VariantEntry[],
): VariantColumn[] {
  return entries.map(({ id, variant }, place) => {
    const found = result === null ? -1 : ran.findIndex((r) => r.id === id)
    const at = found < 0 || result?.variants[found] === undefined ? null : found
    const isChanged = at !== null && JSON.stringify(ran[at]?.variant) !== JSON.stringify(variant)
    const detail = at === null || isChanged ? '' : (result?.variants[at]?.detail ?? '')
    return {
      id,
      at,
      isChanged,
      name: plainText(variant.name),
      detail: plainText(detail) || detailOf(variant),
      letter: result === null ? letterOf(place) : at === null ? '' : letterOf(at),
      isBaseline: result === null ? place === 0 : at === 0,
      isBest: at !== null && at === result?.verdict.best,
    }
  })
}
