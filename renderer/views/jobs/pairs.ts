/** Who owes whom among the jobs of the table, from the columns the host sent. */
import type { PairColumns } from '#core/api/adaptbf.ts'
import { formatNumber } from '../../format/units.ts'
import { plainText } from '../../format/plain-text.ts'

/** What a job is to the one under the pointer. */
export type Tie = 'self' | 'lender' | 'borrower'

/** Names in one tooltip. */
const NAMED = 8

/**
 * The jobs that a job has open debts with: its lenders and its borrowers. Over several targets one may be both; then what is
 * owed in sum decides.
 */
export function tiesOf(pairs: PairColumns | null, jobId: string | null): ReadonlyMap<string, Tie> {
  const ties = new Map<string, Tie>()
  if (!pairs || jobId === null) return ties
  const sums = new Map<string, number>()
  pairs.lender.forEach((lender, i) => {
    const [borrower, tokens] = [pairs.borrower[i] ?? '', pairs.tokens[i] ?? 0]
    if (borrower === jobId) sums.set(lender, (sums.get(lender) ?? 0) + tokens)
    else if (lender === jobId) sums.set(borrower, (sums.get(borrower) ?? 0) - tokens)
  })
  for (const [other, sum] of sums) if (sum !== 0) ties.set(other, sum > 0 ? 'lender' : 'borrower')
  if (ties.size > 0) ties.set(jobId, 'self')
  return ties
}

/** A job's open debts in words, largest first; by JobID. */
export function debtWords(pairs: PairColumns | null): ReadonlyMap<string, string> {
  const lines = new Map<string, string[]>()
  const say = (jobId: string, line: string): void => void lines.set(jobId, [...(lines.get(jobId) ?? []), line])
  pairs?.lender.forEach((lender, i) => {
    const [borrower, tokens] = [pairs.borrower[i] ?? '', formatNumber(pairs.tokens[i])]
    say(borrower, `owes ${plainText(lender)} ${tokens}`)
    say(lender, `is owed ${tokens} by ${plainText(borrower)}`)
  })
  return new Map(
    [...lines].map(([id, all]) => {
      const more = all.length - NAMED
      return [id, [...all.slice(0, NAMED), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')]
    }),
  )
}
