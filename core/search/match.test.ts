import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Cheapest, matchCost, searchWords } from './match.ts'

const rank = (text: string, names: string[]): string[] =>
  names
    .flatMap((name) => {
      const cost = matchCost(searchWords(text), [name])
      return cost === undefined ? [] : [{ name, cost }]
    })
    .sort((a, b) => a.cost - b.cost)
    .map(({ name }) => name)

describe('a search', () => {
  it('puts the whole name first, then a beginning, then the beginning of a part, then the inside', () => {
    const names = ['a4690b', 'x.4690.u1', '46900.wrf', '4690.python.u1021', '4690', 'other']
    expect(rank('4690', names)).toEqual(['4690', '46900.wrf', '4690.python.u1021', 'x.4690.u1', 'a4690b'])
  })

  it('wants every word, in whatever field and letter case', () => {
    const fields = ['4690.python.u1021', 'Ana', 'climate']
    expect(matchCost(searchWords('ANA pyth'), fields)).toBeDefined()
    expect(matchCost(searchWords('ana wrf'), fields)).toBeUndefined()
    expect(matchCost(searchWords('  '), fields)).toBeUndefined()
    const byName = matchCost(searchWords('ana'), ['ana.x', ''])
    expect(byName).toBeLessThan(matchCost(searchWords('ana'), ['x.y', 'ana']) ?? 0)
  })

  it('takes every text as text', () => {
    for (const text of ['.*', '(', '[a-', '\\', '%', '_', '<img src=x>', '\u202E'])
      expect([matchCost(searchWords(text), ['plain']), matchCost(searchWords(text), [`a ${text} b`])]).toEqual([
        undefined,
        expect.any(Number),
      ])
  })

  it('finds whatever part of a name is typed', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), fc.nat(40), fc.nat(40), (name, a, b) => {
        const words = searchWords(name.slice(Math.min(a, b), Math.max(a, b)))
        if (words.length > 0) expect(matchCost(words, [name])).toBeDefined()
      }),
    )
  })
})

it('the cheapest are those of a whole sort, and all are counted', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 60 }), fc.integer({ min: 1, max: 10 }), (costs, most) => {
      const cheapest = new Cheapest<number>(most)
      costs.forEach((cost, i) => cheapest.add(cost, i))
      const sorted = costs.map((cost, i) => ({ cost, i })).sort((a, b) => a.cost - b.cost || a.i - b.i)
      expect(cheapest.items).toEqual(sorted.slice(0, most).map(({ i }) => i))
      expect(cheapest.total).toBe(costs.length)
    }),
  )
})
