import { describe, expect, it } from 'vitest'
import { debtTexts, tiesOf } from './pairs.ts'

const pairs = {
  lender: ['calm', 'big', 'calm', 'hog'],
  borrower: ['hog', 'hog', 'late', 'big'],
  tokens: [120, 40, 7, 5],
}

describe('ties of the job under the pointer', () => {
  it('are its lenders and its borrowers, by the sum of debts', () => {
    expect([...tiesOf(pairs, 'hog')].sort()).toEqual([
      ['big', 'lender'],
      ['calm', 'lender'],
      ['hog', 'self'],
    ])
    expect([...tiesOf(pairs, 'calm')].sort()).toEqual([
      ['calm', 'self'],
      ['hog', 'borrower'],
      ['late', 'borrower'],
    ])
  })
  it('are none for a job without debts, without a pointer and without a ledger', () => {
    expect(tiesOf(pairs, 'idle').size).toBe(0)
    expect(tiesOf(pairs, null).size).toBe(0)
    expect(tiesOf(null, 'hog').size).toBe(0)
  })
})

describe('debt texts', () => {
  it('name the other job and the tokens', () => {
    const words = debtTexts(pairs)
    expect(words.get('hog')).toBe('borrowed 120 from calm\nborrowed 40 from big\nlent 5 to big')
    expect(words.get('late')).toBe('borrowed 7 from calm')
    expect(words.get('idle')).toBeUndefined()
  })
  it('end after eight lines', () => {
    const many = Array.from({ length: 20 }, (_, i) => `job${i}`)
    const words = debtTexts({ lender: many, borrower: many.map(() => 'hog'), tokens: many.map(() => 1) })
    expect(words.get('hog')?.split('\n')).toHaveLength(9)
    expect(words.get('hog')).toContain('and 12 more')
  })
})
