/** Accounts of the pair ledger: jobs, the open debts between them, and the changes of the current period. */

/** Lifetime totals of a job: lent, reclaimed, borrowed, repaid. lent - reclaimed - borrowed + repaid is its record. */
export interface JobTotals {
  readonly lent: number
  readonly reclaimed: number
  readonly borrowed: number
  readonly repaid: number
}

/** Change between two jobs in one period; a journal of them is the complete history. */
export interface PairMove {
  readonly lender: string
  readonly borrower: string
  readonly lent: number
  readonly reclaimed: number
}

/** A debt with an outstanding balance. */
export interface OpenPair {
  readonly lender: Account
  readonly borrower: Account
  lent: number
  reclaimed: number
  readonly sinceNs: number
  movedNs: number
  /** True if the current period changed it. */
  isTouched: boolean
  /** `lent` and `reclaimed` before that change. */
  lentBefore: number
  reclaimedBefore: number
}

/** Account of one job. Maps keep the order in which debts began. */
export interface Account {
  readonly id: string
  /** Claims minus debts: the job's record. */
  balance: number
  readonly totals: { -readonly [K in keyof JobTotals]: number }
  /** Claims by borrower. */
  readonly claims: Map<Account, OpenPair>
  /** Debts by lender. */
  readonly debts: Map<Account, OpenPair>
}

export const NO_TOTALS: JobTotals = { lent: 0, reclaimed: 0, borrowed: 0, repaid: 0 }

/** Jobs and their debts. The caller updates the balances: one step may settle several debts. */
export class PairAccounts {
  readonly #accounts = new Map<string, Account>()
  /** Open debts, in the order in which they began. */
  readonly open = new Set<OpenPair>()
  #touched: OpenPair[] = []
  #atNs = 0

  get accounts(): Iterable<Account> {
    return this.#accounts.values()
  }

  find(id: string): Account | undefined {
    return this.#accounts.get(id)
  }

  account(id: string): Account {
    let account = this.#accounts.get(id)
    if (account) return account
    account = { id, balance: 0, totals: { ...NO_TOTALS }, claims: new Map(), debts: new Map() }
    this.#accounts.set(id, account)
    return account
  }

  /** Removes a job without claims and debts. */
  drop(id: string): void {
    this.#accounts.delete(id)
  }

  startPeriod(atNs: number): void {
    this.#atNs = atNs
    this.#touched = []
  }

  /** Returns the changes since the period started; a debt that ended and one that began again are two moves. */
  endPeriod(): PairMove[] {
    return this.#touched.map((pair) => {
      pair.isTouched = false
      return {
        lender: pair.lender.id,
        borrower: pair.borrower.id,
        lent: pair.lent - pair.lentBefore,
        reclaimed: pair.reclaimed - pair.reclaimedBefore,
      }
    })
  }

  /** Opens a debt of 0 tokens. */
  begin(lender: Account, borrower: Account, sinceNs: number): OpenPair {
    const pair: OpenPair = {
      lender,
      borrower,
      lent: 0,
      reclaimed: 0,
      sinceNs,
      movedNs: sinceNs,
      isTouched: false,
      lentBefore: 0,
      reclaimedBefore: 0,
    }
    lender.claims.set(borrower, pair)
    borrower.debts.set(lender, pair)
    this.open.add(pair)
    return pair
  }

  lend(lender: Account, borrower: Account, tokens: number): void {
    const pair = lender.claims.get(borrower) ?? this.begin(lender, borrower, this.#atNs)
    this.#touch(pair)
    pair.lent += tokens
    lender.totals.lent += tokens
    borrower.totals.borrowed += tokens
  }

  /** Repays part of a debt, or all of it. */
  close(pair: OpenPair, tokens: number): void {
    this.#touch(pair)
    pair.reclaimed += tokens
    pair.lender.totals.reclaimed += tokens
    pair.borrower.totals.repaid += tokens
    if (pair.reclaimed < pair.lent) return
    this.open.delete(pair)
    pair.lender.claims.delete(pair.borrower)
    pair.borrower.debts.delete(pair.lender)
  }

  #touch(pair: OpenPair): void {
    if (pair.isTouched) return
    pair.isTouched = true
    pair.lentBefore = pair.lent
    pair.reclaimedBefore = pair.reclaimed
    pair.movedNs = this.#atNs
    this.#touched.push(pair)
  }
}
