import { describe, expect, it } from 'vitest'
import { randomStream } from '../base/random.ts'
import { checkPairLedgerState } from './pair-ledger-state.ts'
import { PairLedger } from './pair-ledger.ts'

/** Enters one step by JobID. */
function enter(
  ledger: PairLedger,
  atNs: number,
  deltas: Readonly<Record<string, number>>,
): ReturnType<PairLedger['enter']> {
  return ledger.enter(atNs, Object.keys(deltas), [Float64Array.from(Object.values(deltas))])
}

const open = (ledger: PairLedger): Record<string, number> =>
  Object.fromEntries(ledger.pairs().map((p) => [`${p.lender}>${p.borrower}`, p.outstanding]))

describe('PairLedger', () => {
  it('names lender, borrower, tokens and start', () => {
    const ledger = new PairLedger()
    expect(enter(ledger, 7, { a: 27, b: -27 })).toEqual([{ lender: 'a', borrower: 'b', lent: 27, reclaimed: 0 }])
    enter(ledger, 9, { a: 3, b: -3 })
    expect(ledger.claims('a')).toEqual([
      { lender: 'a', borrower: 'b', lent: 30, reclaimed: 0, outstanding: 30, sinceNs: 7, movedNs: 9 },
    ])
    expect(ledger.debts('b')).toEqual(ledger.claims('a'))
    expect([ledger.claims('b'), ledger.debts('a'), ledger.balance('b')]).toEqual([[], [], -30])
  })

  it('divides what lenders give over the borrowers in proportion, by largest remainder', () => {
    const ledger = new PairLedger()
    enter(ledger, 1, { a: 10, b: 5, c: -9, d: -6 })
    expect(open(ledger)).toEqual({ 'a>c': 6, 'a>d': 4, 'b>c': 3, 'b>d': 2 })
    const tied = new PairLedger()
    enter(tied, 1, { a: 1, b: 1, c: -1, d: -1 })
    expect(open(tied)).toEqual({ 'a>c': 1, 'b>d': 1 })
  })

  it('pays a debt back where it is owed, and forgets one that is paid', () => {
    const ledger = new PairLedger()
    enter(ledger, 1, { a: 10, b: 20, c: -30 })
    expect(enter(ledger, 2, { c: 20, b: -20 })).toEqual([{ lender: 'b', borrower: 'c', lent: 0, reclaimed: 20 }])
    expect(open(ledger)).toEqual({ 'a>c': 10 })
    expect(ledger.totals('c')).toEqual({ lent: 0, reclaimed: 0, borrowed: 30, repaid: 20 })
    expect(ledger.totals('b')).toEqual({ lent: 20, reclaimed: 20, borrowed: 0, repaid: 0 })
  })

  it('pays the oldest debt first when no creditor receives, and lets the creditor take over the new debt', () => {
    const ledger = new PairLedger()
    enter(ledger, 1, { a: 5, x: -5 })
    enter(ledger, 2, { b: 5, x: -5 })
    // x gives 7 to y: a's 5 are now owed by y, then 2 of b's.
    expect(enter(ledger, 3, { x: 7, y: -7 })).toEqual([
      { lender: 'a', borrower: 'x', lent: 0, reclaimed: 5 },
      { lender: 'b', borrower: 'x', lent: 0, reclaimed: 2 },
      { lender: 'a', borrower: 'y', lent: 5, reclaimed: 0 },
      { lender: 'b', borrower: 'y', lent: 2, reclaimed: 0 },
    ])
    expect(open(ledger)).toEqual({ 'b>x': 3, 'a>y': 5, 'b>y': 2 })
  })

  it('moves a claim when a lender is paid by a job that owes it nothing', () => {
    const ledger = new PairLedger()
    enter(ledger, 1, { a: 5, x: -5 })
    enter(ledger, 2, { b: 4, y: -4 })
    // y owes only b, a is owed only by x: a has its tokens back, x now owes b.
    enter(ledger, 3, { y: 4, a: -4 })
    expect(open(ledger)).toEqual({ 'a>x': 1, 'b>x': 4 })
    // A job without debts gives to a lender: it takes over the lender's claim.
    enter(ledger, 4, { c: 1, a: -1 })
    expect(open(ledger)).toEqual({ 'b>x': 4, 'c>x': 1 })
  })

  it('turns a lender into a borrower in one step', () => {
    const ledger = new PairLedger()
    enter(ledger, 1, { a: 5, x: -5 })
    enter(ledger, 2, { a: -8, x: 8 })
    expect(open(ledger)).toEqual({ 'x>a': 3 })
  })

  it('refuses a step that creates tokens', () => {
    expect(() => enter(new PairLedger(), 1, { a: 1, b: -2 })).toThrow('takes from others')
  })

  it('serves thousands of jobs, pairs growing with the jobs and not with their square', () => {
    const draw = randomStream(3, 'many')
    const ledger = new PairLedger()
    const ids = Array.from({ length: 4000 }, (_, i) => `job${i}`)
    const deltas = Float64Array.from(ids, () => 1 + draw.below(40))
    for (let i = 2000; i < 4000; i++) deltas[i] = -deltas[i - 2000]!
    ledger.enter(1, ids, [deltas])
    expect(ledger.pairs().length).toBeLessThan(4000)
    for (const [i, id] of ids.entries()) expect(ledger.balance(id)).toBe(deltas[i])
    expect(ledger.pairs().reduce((all, p) => all + p.outstanding, 0)).toBe(
      deltas.reduce((all, d) => all + Math.max(0, d), 0),
    )
  })
})

describe('saved and restored', () => {
  const restored = (saved: unknown): PairLedger => {
    const checked = checkPairLedgerState(saved)
    if (!checked.ok) throw new Error(checked.error.why)
    return PairLedger.adopt(checked.value)
  }

  it('continues unchanged, through JSON', () => {
    const draw = randomStream(1, 'restore')
    const ids = ['a', 'b', 'c', 'd', 'e', '__proto__']
    let ledger = new PairLedger()
    const untouched = new PairLedger()
    for (let period = 1; period <= 300; period++) {
      const deltas = Float64Array.from(ids, () => draw.below(41) - 20)
      deltas[0]! -= deltas.reduce((all, d) => all + d, 0)
      expect(ledger.enter(period, ids, [deltas])).toEqual(untouched.enter(period, ids, [deltas]))
      if (period % 10 === 0) ledger = restored(JSON.parse(JSON.stringify(ledger.save())))
      expect(ledger.save()).toEqual(untouched.save())
    }
    expect(untouched.pairs().length).toBeGreaterThan(0)
  })

  const saved = (): { jobs: object[]; pairs: Record<string, unknown>[] } => {
    const ledger = new PairLedger()
    enter(ledger, 1, { a: 5, b: 2, x: -7 })
    return JSON.parse(JSON.stringify(ledger.save())) as ReturnType<typeof saved>
  }
  it.each<[string, (s: ReturnType<typeof saved>) => unknown]>([
    ['nothing', () => undefined],
    ['another version', (s) => ({ ...s, version: 2 })],
    ['no pairs', (s) => ({ ...s, pairs: {} })],
    ['a job without totals', (s) => ({ ...s, jobs: [...s.jobs, { id: 'y' }] })],
    ['a job twice', (s) => ({ ...s, jobs: [...s.jobs, s.jobs[0]] })],
    ['a pair twice', (s) => ({ ...s, pairs: [...s.pairs, s.pairs[0]] })],
    ['a pair with itself', (s) => ({ ...s, pairs: [{ ...s.pairs[0], borrower: 'a' }, s.pairs[1]] })],
    ['a pair with nothing left', (s) => ({ ...s, pairs: [{ ...s.pairs[0], lent: 0 }, s.pairs[1]] })],
    ['half a token', (s) => ({ ...s, pairs: [{ ...s.pairs[0], lent: 5.5 }, s.pairs[1]] })],
    ['an instant that is none', (s) => ({ ...s, pairs: [{ ...s.pairs[0], sinceNs: null }, s.pairs[1]] })],
    ['totals that pairs do not explain', (s) => ({ ...s, pairs: s.pairs.slice(1) })],
    ['both roles', (s) => ({ ...s, pairs: [...s.pairs, { ...s.pairs[0], lender: 'x', borrower: 'a' }] })],
  ])('refuses %s', (_, spoil) => {
    expect(checkPairLedgerState(saved()).ok).toBe(true)
    expect(checkPairLedgerState(spoil(saved()))).toMatchObject({ ok: false, error: { code: 'BAD_STATE' } })
  })
})
