/** Saved state of the pair ledger and its validation. */
import { type Result, ok } from '../base/result.ts'
import { badState, isFields } from './allocator-state.ts'

/** Totals of one job, tokens. */
export interface JobTotalsState {
  readonly id: string
  readonly lent: number
  readonly reclaimed: number
  readonly borrowed: number
  readonly repaid: number
}

/** One open debt, tokens and ns. */
export interface PairState {
  readonly lender: string
  readonly borrower: string
  readonly lent: number
  readonly reclaimed: number
  readonly sinceNs: number
  readonly movedNs: number
}

/** A pair ledger between two periods. JSON carries it without loss. */
export interface PairLedgerState {
  readonly version: 1
  readonly jobs: readonly JobTotalsState[]
  /** Oldest first. */
  readonly pairs: readonly PairState[]
}

/** Validates a saved pair ledger state. */
export function checkPairLedgerState(saved: unknown): Result<PairLedgerState> {
  if (!isFields(saved) || saved.version !== 1) return badState('the version of the ledger is not 1')
  if (!Array.isArray(saved.jobs) || !Array.isArray(saved.pairs)) return badState('the ledger has no jobs or no pairs')
  const jobs: JobTotalsState[] = []
  const due = new Map<string, number>()
  for (const [at, job] of (saved.jobs as readonly unknown[]).entries()) {
    if (!isTotals(job)) return badState(`jobs[${at}] of the ledger is not a job`)
    if (due.has(job.id)) return badState(`job ${JSON.stringify(job.id)} is in the ledger twice`)
    const { id, lent, reclaimed, borrowed, repaid } = job
    due.set(id, lent - reclaimed - borrowed + repaid)
    jobs.push({ id, lent, reclaimed, borrowed, repaid })
  }
  const pairs: PairState[] = []
  const role = new Map<string, 'lender' | 'borrower'>()
  const seen = new Map<string, Set<string>>()
  for (const [at, pair] of (saved.pairs as readonly unknown[]).entries()) {
    if (!isPair(pair)) return badState(`pairs[${at}] of the ledger is not a pair`)
    const { lender, borrower, lent, reclaimed, sinceNs, movedNs } = pair
    const borrowers = seen.get(lender) ?? new Set()
    if (borrowers.has(borrower)) return badState(`pairs[${at}] of the ledger is listed twice`)
    seen.set(lender, borrowers.add(borrower))
    if (role.get(lender) === 'borrower' || role.get(borrower) === 'lender') {
      return badState(`pairs[${at}] of the ledger makes a job lender and borrower at once`)
    }
    role.set(lender, 'lender').set(borrower, 'borrower')
    due.set(lender, (due.get(lender) ?? 0) - (lent - reclaimed))
    due.set(borrower, (due.get(borrower) ?? 0) + (lent - reclaimed))
    pairs.push({ lender, borrower, lent, reclaimed, sinceNs, movedNs })
  }
  for (const [id, rest] of due) {
    if (rest !== 0) return badState(`the pairs of job ${JSON.stringify(id)} are not what it lent and borrowed`)
  }
  return ok({ version: 1, jobs, pairs })
}

const isTokens = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

function isTotals(job: unknown): job is JobTotalsState {
  if (!isFields(job)) return false
  const { id, lent, reclaimed, borrowed, repaid } = job
  return typeof id === 'string' && id !== '' && [lent, reclaimed, borrowed, repaid].every(isTokens)
}

function isPair(pair: unknown): pair is PairState {
  if (!isFields(pair)) return false
  const { lender, borrower, lent, reclaimed, sinceNs, movedNs } = pair
  return (
    typeof lender === 'string' &&
    typeof borrower === 'string' &&
    lender !== borrower &&
    isTokens(lent) &&
    isTokens(reclaimed) &&
    lent > reclaimed &&
    Number.isFinite(sinceNs) &&
    Number.isFinite(movedNs)
  )
}
