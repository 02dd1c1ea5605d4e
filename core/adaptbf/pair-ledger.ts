/**
 * Ledger of debts between jobs. The paper's records give how much a job has lent or borrowed; this ledger adds the counterparty, the
 * start, and how much was repaid.
 *
 * Tokens of one target are interchangeable and pooled, so the paper's sums do not determine pairs. The ledger attributes them like a
 * clearing house, by fixed rules:
 * - tokens that a job gives first pay its own debts; tokens that it receives first settle its own claims;
 * - debts are paid to creditors that receive in the same step, if any, else oldest first;
 * - a creditor whose debtor pays another job takes over the claim that this payment creates or frees;
 * - the rest is lent, each lender's tokens over the borrowers in proportion (`apportion`).
 *
 * Invariants: lent - reclaimed = outstanding >= 0 for every pair; a job has either claims or debts, never both; a job's claims minus its
 * debts are its record; all records sum to 0.
 *
 * Source: the records of AdapTBF III-C2 and III-C3; the attribution to pairs is Sluice's own.
 */
import { invariant } from '../base/result.ts'
import { apportion } from './apportion.ts'
import { ENDED_JOBS } from './ended-jobs.ts'
import { type Account, type JobTotals, NO_TOTALS, type OpenPair, PairAccounts, type PairMove } from './pair-accounts.ts'
import type { PairLedgerState } from './pair-ledger-state.ts'

/** Debt of one borrower to one lender. */
export interface Pair {
  readonly lender: string
  readonly borrower: string
  /** Tokens added since the debt was last 0, lent directly or taken over from another debtor. */
  readonly lent: number
  /** Tokens of it that were repaid, or passed on to another debtor. */
  readonly reclaimed: number
  /** lent - reclaimed, > 0. */
  readonly outstanding: number
  /** Time of the period in which the debt began, ns. */
  readonly sinceNs: number
  /** Time of the last period that changed it, ns. */
  readonly movedNs: number
}

/** A job and the tokens that it gives, receives, or no longer owes or is owed. */
interface Lot {
  readonly account: Account
  tokens: number
}

/** Pairs of one target. */
export class PairLedger {
  readonly #accounts = new PairAccounts()

  /** Creates a ledger from a validated state. */
  static adopt({ jobs, pairs }: PairLedgerState): PairLedger {
    const ledger = new PairLedger()
    const accounts = ledger.#accounts
    for (const { id, ...totals } of jobs) Object.assign(accounts.account(id).totals, totals)
    for (const { lender, borrower, sinceNs, movedNs, lent, reclaimed } of pairs) {
      const pair = accounts.begin(accounts.account(lender), accounts.account(borrower), sinceNs)
      Object.assign(pair, { movedNs, lent, reclaimed })
      pair.lender.balance += lent - reclaimed
      pair.borrower.balance -= lent - reclaimed
    }
    return ledger
  }

  /** Returns the ledger as plain data: totals by job, open pairs in the order in which their debts began. */
  save(): PairLedgerState {
    const jobs = [...this.#accounts.accounts].map(({ id, totals }) => ({ id, ...totals }))
    const pairs = this.pairs().map(({ outstanding: _, ...pair }) => pair)
    return { version: 1, jobs, pairs }
  }

  /**
   * Enters one period: the record deltas of its steps, in their order.
   *
   * @param atNs   time of the period on the source's clock.
   * @param ids    JobIDs, shape [n]; the order breaks ties.
   * @param steps  whole tokens given (+) or received (-), each shape [n] and summing to 0.
   * @returns      the changes between pairs; a debt that ended and one that began again are two moves.
   * @throws InvariantError when a step does not sum to 0.
   * @complexity   O(n + debts of the jobs that pay + cells of `apportion`).
   */
  enter(atNs: number, ids: readonly string[], steps: readonly Float64Array[]): PairMove[] {
    this.#accounts.startPeriod(atNs)
    for (const deltas of steps) this.#settle(ids, deltas)
    return this.#accounts.endPeriod()
  }

  /**
   * Removes jobs that ended: their claims and debts are settled against `ENDED_JOBS`, which lends and borrows whatever does not cancel
   * out.
   *
   * @returns  the resulting changes between pairs.
   */
  retire(atNs: number, jobs: Iterable<string>): PairMove[] {
    const ended = [...jobs].filter((id) => this.#accounts.find(id) !== undefined)
    const rest = ended.reduce((sum, id) => sum + this.balance(id), 0)
    const deltas = Float64Array.from([...ended.map((id) => -this.balance(id)), rest])
    const moves = this.enter(atNs, [...ended, ENDED_JOBS], [deltas])
    for (const id of ended) this.#accounts.drop(id)
    return moves
  }

  /** Returns the job's claims minus its debts; 0 for an unknown job. */
  balance(id: string): number {
    return this.#accounts.find(id)?.balance ?? 0
  }

  /** Returns the claims of a job, oldest first. */
  claims(id: string): Pair[] {
    return [...(this.#accounts.find(id)?.claims.values() ?? [])].map(toPair)
  }

  /** Returns the debts of a job, oldest first. */
  debts(id: string): Pair[] {
    return [...(this.#accounts.find(id)?.debts.values() ?? [])].map(toPair)
  }

  /** Returns every open pair, oldest first. */
  pairs(): Pair[] {
    return [...this.#accounts.open].map(toPair)
  }

  /** Returns the lifetime totals of a job; zeros for an unknown one. */
  totals(id: string): JobTotals {
    return { ...(this.#accounts.find(id)?.totals ?? NO_TOTALS) }
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
      const account = this.#accounts.account(id)
      const { balance } = account
      account.balance += delta
      const settled = balance * delta < 0 ? Math.min(Math.abs(delta), Math.abs(balance)) : 0
      const unsettled = Math.abs(delta) - settled
      if (settled > 0) (delta > 0 ? payers : payees).push({ account, tokens: settled })
      if (unsettled > 0) (delta > 0 ? lenders : borrowers).push({ account, tokens: unsettled })
    }
    invariant(sum === 0, 'what a step gives to some jobs it takes from others')
    this.#payDirectly(payers, payees)
    this.#payOldest(payers, 'debts', lenders)
    this.#payOldest(payees, 'claims', borrowers)
    if (lenders.length > 0) this.#lend(merged(lenders), merged(borrowers))
  }

  /** Settles debts between a payer and a payee of the same step. */
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
        this.#accounts.close(pair, tokens)
      }
    }
  }

  /** Closes the oldest debts (or claims) for the rest; the other side of each is `freed` and matched with another job. */
  #payOldest(lots: readonly Lot[], side: 'debts' | 'claims', freed: Lot[]): void {
    for (const lot of lots) {
      for (const pair of lot.account[side].values()) {
        if (lot.tokens === 0) break
        const tokens = Math.min(lot.tokens, pair.lent - pair.reclaimed)
        lot.tokens -= tokens
        freed.push({ account: side === 'debts' ? pair.lender : pair.borrower, tokens })
        this.#accounts.close(pair, tokens)
      }
    }
  }

  /** A job is never on both sides: one that is freed as a creditor has no remaining need after `payDirectly`. */
  #lend(lenders: readonly Lot[], borrowers: readonly Lot[]): void {
    const given = lenders.map(({ tokens }) => tokens)
    const needed = borrowers.map(({ tokens }) => tokens)
    apportion(given, needed, (g, t, tokens) => this.#accounts.lend(lenders[g]!.account, borrowers[t]!.account, tokens))
  }
}

/** Merges the lots of each job, in order of first appearance: several payments may free the same job. */
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
