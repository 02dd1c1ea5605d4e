import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { apportion } from './apportion.ts'

function table(given: readonly number[], needed: readonly number[]): number[][] {
  const cells = given.map(() => needed.map(() => 0))
  apportion(given, needed, (g, t, tokens) => (cells[g]![t]! += tokens))
  return cells
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

/** Two lists of positive integers with the same sum. */
const sums = fc
  .tuple(
    fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 90 }),
    fc.array(fc.nat(), { maxLength: 90 }),
  )
  .map(([given, cuts]) => {
    const total = sum(given)
    const edges = [...new Set([0, total, ...cuts.map((cut) => cut % total)])].sort((a, b) => a - b)
    return { given, needed: edges.slice(1).map((edge, i) => edge - edges[i]!) }
  })

describe('apportion', () => {
  it('gives what is given and meets every need, in whole tokens', () => {
    fc.assert(
      fc.property(sums, ({ given, needed }) => {
        const cells = table(given, needed)
        expect(cells.map(sum)).toEqual(given)
        expect(needed.map((_, t) => sum(cells.map((row) => row[t]!)))).toEqual(needed)
        expect(cells.flat().every((cell) => Number.isInteger(cell) && cell >= 0)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('is within a token of the proportion for the first giver', () => {
    fc.assert(
      fc.property(sums, ({ given, needed }) => {
        fc.pre(given.length * needed.length <= 4096)
        const all = sum(given)
        for (const [t, tokens] of table(given, needed)[0]!.entries()) {
          expect(Math.abs(tokens - (given[0]! * needed[t]!) / all)).toBeLessThan(1)
        }
      }),
    )
  })

  it('is exact where the proportion is whole', () => {
    expect(table([6, 3], [3, 6])).toEqual([
      [2, 4],
      [1, 2],
    ])
  })

  it('does nothing without givers and takers', () => {
    expect(table([], [])).toEqual([])
  })
})
