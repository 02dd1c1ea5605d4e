/** Open debts between the jobs of the table, from the host's columns. */
import type { PairColumns } from '#core/api/adaptbf.ts'
import { formatNumber } from '../../format/units.ts'
import { plainText } from '../../format/plain-text.ts'

/** Relation of a job to the hovered one. */
export type Tie = 'self' | 'lender' | 'borrower'

/** Lines in one tooltip. */
const NAMED = 8

/**
 * Lenders and borrowers of a job by its open debts. A job that is both, on different targets, counts by the sum.
 */
export function tiesOf(pairs: PairColumns | null, jobId: string | null): ReadonlyMap<string, Tie> {
  const ties = new Map<string, Tie>()
  if (!pairs || jobId === null) return ties
  const sums = new Map<string, number>()
  pairs.lender.forEach((lender, i) => {
    const borrower = pairs.borrower[i] ?? ''
    const tokens = pairs.tokens[i] ?? 0
    if (borrower === jobId) sums.set(lender, (sums.get(lender) ?? 0) + tokens)
    else if (lender === jobId) sums.set(borrower, (sums.get(borrower) ?? 0) - tokens)
  })
  for (const [other, sum] of sums) if (sum !== 0) ties.set(other, sum > 0 ? 'lender' : 'borrower')
  if (ties.size > 0) ties.set(jobId, 'self')
  return ties
}

/** Tooltip texts of open debts by job id, in the host's order. */
export function debtTexts(pairs: PairColumns | null): ReadonlyMap<string, string> {
  const lines = new Map<string, string[]>()
  const add = (jobId: string, line: string): void => void lines.set(jobId, [...(lines.get(jobId) ?? []), line])
  pairs?.lender.forEach((lender, i) => {
    const borrower = pairs.borrower[i] ?? ''
    const tokens = formatNumber(pairs.tokens[i])
    add(borrower, `borrowed ${tokens} from ${plainText(lender)}`)
    add(lender, `lent ${tokens} to ${plainText(borrower)}`)
  })
  return new Map(
    [...lines].map(([id, all]) => {
      const more = all.length - NAMED
      return [id, [...all.slice(0, NAMED), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')]
    }),
  )
}
