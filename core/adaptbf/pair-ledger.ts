/**
 * Who owes tokens to whom. The paper's records say how much a job has lent or borrowed; this ledger says to and from whom,
 * since when, and how much of it came back.
 *
 * Tokens of one target are alike and go through one pot, so the paper's sums alone do not name pairs. The ledger does it
 * like a clearing house, by fixed rules:
 * - what a job gives first pays its own debts, what it receives is first its own claims coming back;
 * - debts are paid to creditors that receive in the same step where there are any, else oldest first;
 * - a creditor whose debtor pays somebody else takes over the claim that this payment makes or frees;
 * - what is left is lent anew, each lender's tokens over the borrowers in proportion (`apportion`).
 *
 * Invariants: lent - reclaimed = outstanding >= 0 for every pair; a job has either claims or debts, never both; a job's
 * claims less its debts are its record; all of that sums to 0.
 *
 * Source: the records of AdapTBF III-C2 and III-C3; the attribution to pairs is Sluice's own.
 */
import { invariant } from '../base/result.ts'
import { apportion } from './apportion.ts'
import { ENDED_JOBS } from './ended-jobs.ts'
import { type Account, type JobTotals, NO_TOTALS, type OpenPair, PairBook, type PairMove } from './pair-book.ts'
import type { PairLedgerState } from './pair-ledger-state.ts'

/** What one borrower owes one lender. */
export interface Pair {
  readonly lender: string
  readonly borrower: string
  /** Tokens that came to be owed since the debt was last 0, lent directly or taken over from another debtor. */
  readonly lent: number
  /** Tokens of it that were given back, or passed on to another debtor. */
  readonly reclaimed: number
  /** lent - reclaimed, > 0. */
  readonly outstanding: number
  /** Instant of the period in which the debt began, ns. */
  readonly sinceNs: number
  /** Instant of the last period that moved it, ns. */
  readonly movedNs: number
}

/** A job and tokens that it gives, receives, is freed of or is freed for. */
interface Lot {
  readonly account: Account
  tokens: number
}

/** The pairs of one target. */
export class PairLedger {
  readonly #book = new PairBook()

  /** A ledger that goes on from a state that was checked. */
  static adopt({ jobs, pairs }: PairLedgerState): PairLedger {
    const ledger = new PairLedger()
    const book = ledger.#book
    for (const { id, ...totals } of jobs) Object.assign(book.account(id).totals, totals)
    for (const { lender, borrower, sinceNs, movedNs, lent, reclaimed } of pairs) {
      const pair = book.begin(book.account(lender), book.account(borrower), sinceNs)
      Object.assign(pair, { movedNs, lent, reclaimed })
      pair.lender.balance += lent - reclaimed
      pair.borrower.balance -= lent - reclaimed
    }
    return ledger
  }

  /** The ledger as plain data: totals by job, open pairs in the order in which their debts began. */
  save(): PairLedgerState {
    const jobs = [...this.#book.accounts].map(({ id, totals }) => ({ id, ...totals }))
    const pairs = this.pairs().map(({ outstanding: _, ...pair }) => pair)
    return { version: 1, jobs, pairs }
  }

  /**
   * Enters one period: the record deltas of its steps, in their order.
   *
   * @param atNs   the period's instant on the source's clock.
   * @param ids    JobIDs, shape [n]; the order settles ties.
   * @param steps  whole tokens given (+) or received (-), each shape [n] and summing to 0.
   * @returns      what changed between pairs; a debt that ended and one that began anew are two moves.
   * @throws InvariantError when a step does not sum to 0.
   * @complexity   O(n + debts of the jobs that pay + cells of `apportion`).
   */
  enter(atNs: number, ids: readonly string[], steps: readonly Float64Array[]): PairMove[] {
    this.#book.startPeriod(atNs)
    for (const deltas of steps) this.#settle(ids, deltas)
    return this.#book.endPeriod()
  }

  /**
   * Forgets jobs that ended: their claims come back and their debts are paid, by `ENDED_JOBS`, which lends and borrows anew whatever
   * does not cancel out.
   *
   * @returns  what changed between pairs by it.
   */
  retire(atNs: number, jobs: Iterable<string>): PairMove[] {
    const gone = [...jobs].filter((id) => this.#book.find(id) !== undefined)
    const left = gone.reduce((sum, id) => sum + this.balance(id), 0)
    const deltas = Float64Array.from([...gone.map((id) => -this.balance(id)), left])
    const moves = this.enter(atNs, [...gone, ENDED_JOBS], [deltas])
    for (const id of gone) this.#book.drop(id)
    return moves
  }

  /** The job's claims less its debts; 0 for a job that the ledger does not know. */
  balance(id: string): number {
    return this.#book.find(id)?.balance ?? 0
  }

  /** What others owe a job, oldest first. */
  claims(id: string): Pair[] {
    return [...(this.#book.find(id)?.claims.values() ?? [])].map(toPair)
  }

  /** What a job owes others, oldest first. */
  debts(id: string): Pair[] {
    return [...(this.#book.find(id)?.debts.values() ?? [])].map(toPair)
  }

  /** Every open pair, oldest first. */
  pairs(): Pair[] {
    return [...this.#book.open].map(toPair)
  }

  /** What a job moved in all; zeros for one that the ledger does not know. */
  totals(id: string): JobTotals {
    return { ...(this.#book.find(id)?.totals ?? NO_TOTALS) }
  }

  #settle(ids: readonly string[], deltas: Float64Array): void {
    const payers: Lot[] = []
    const payees: Lot[] = []
    const lenders: Lot[] = []
    const borrowers: Lot[] = []
    let sum = 0
    for (const [i, id] of ids.entries()) {
      const delta = deltas[i]!
      if (delta === 0) continue
      sum += delta
      const account = this.#book.account(id)
      const { balance } = account
      account.balance += delta
      const settled = balance * delta < 0 ? Math.min(Math.abs(delta), Math.abs(balance)) : 0
      const anew = Math.abs(delta) - settled
      if (settled > 0) (delta > 0 ? payers : payees).push({ account, tokens: settled })
      if (anew > 0) (delta > 0 ? lenders : borrowers).push({ account, tokens: anew })
    }
    invariant(sum === 0, 'what a step gives to some jobs it takes from others')
    this.#payDirectly(payers, payees)
    this.#payOldest(payers, 'debts', lenders)
    this.#payOldest(payees, 'claims', borrowers)
    if (lenders.length > 0) this.#lend(merged(lenders), merged(borrowers))
  }

  /** Debts between a job that pays and one that is paid in the same step. */
  #payDirectly(payers: readonly Lot[], payees: readonly Lot[]): void {
    if (payers.length === 0 || payees.length === 0) return
    const due = new Map(payees.map((lot) => [lot.account, lot]))
    for (const payer of payers) {
      for (const pair of payer.account.debts.values()) {
        if (payer.tokens === 0) break
        const payee = due.get(pair.lender)
        if (!payee || payee.tokens === 0) continue
        const tokens = Math.min(payer.tokens, payee.tokens, pair.lent - pair.reclaimed)
        payer.tokens -= tokens
        payee.tokens -= tokens
        this.#book.close(pair, tokens)
      }
    }
  }

  /** Closes the oldest debts (or claims) for what is left; the other side of each is `freed` and finds another job. */
  #payOldest(lots: readonly Lot[], side: 'debts' | 'claims', freed: Lot[]): void {
    for (const lot of lots) {
      for (const pair of lot.account[side].values()) {
        if (lot.tokens === 0) break
        const tokens = Math.min(lot.tokens, pair.lent - pair.reclaimed)
        lot.tokens -= tokens
        freed.push({ account: side === 'debts' ? pair.lender : pair.borrower, tokens })
        this.#book.close(pair, tokens)
      }
    }
  }

  /** No job is on both sides: one that is freed as a creditor has no need of its own left after `payDirectly`. */
  #lend(lenders: readonly Lot[], borrowers: readonly Lot[]): void {
    const given = lenders.map(({ tokens }) => tokens)
    const needed = borrowers.map(({ tokens }) => tokens)
    apportion(given, needed, (g, t, tokens) => this.#book.lend(lenders[g]!.account, borrowers[t]!.account, tokens))
  }
}

/** A job may be freed by several payments: one lot each, in order of first appearance. */
function merged(lots: readonly Lot[]): Lot[] {
  const byAccount = new Map<Account, Lot>()
  for (const { account, tokens } of lots) {
    const known = byAccount.get(account)
    if (known) known.tokens += tokens
    else byAccount.set(account, { account, tokens })
  }
  return [...byAccount.values()]
}

const toPair = ({ lender, borrower, lent, reclaimed, sinceNs, movedNs }: OpenPair): Pair => ({
  lender: lender.id,
  borrower: borrower.id,
  lent,
  reclaimed,
  outstanding: lent - reclaimed,
  sinceNs,
  movedNs,
})
