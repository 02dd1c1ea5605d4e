import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SEEDS_MAX } from '#core/api/papers.ts'
import { readSeeds, seedsText } from './seeds.ts'

it.each([
  ['1-5', [1, 2, 3, 4, 5]],
  ['1\u20135', [1, 2, 3, 4, 5]],
  ['1, 2, 7', [1, 2, 7]],
  [' 7 3-4,3 ', [7, 3, 4]],
  ['0', [0]],
  ['999999999999999', [999_999_999_999_999]],
])('%s', (text, seeds) => {
  expect(readSeeds(text)).toEqual({ seeds })
})

it.each([
  ['', 'at least one'],
  [' , ', 'at least one'],
  ['x', 'x is not a seed'],
  ['-3', '-3 is not a seed'],
  ['1.5', '1.5 is not a seed'],
  ['1e3', '1e3 is not a seed'],
  ['1000000000000000', 'at most 15 digits'],
  ['5-1', 'descending order'],
  ['1-21', 'at most 20'],
  ['0-999999999999999', 'at most 20'],
  ['1-15 20-30', 'at most 20'],
])('refuses %j', (text, words) => {
  expect(readSeeds(text)).toEqual({ fault: expect.stringContaining(words) as string })
})

it('reads back what it writes', () => {
  const seeds = fc.uniqueArray(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: SEEDS_MAX })
  fc.assert(fc.property(seeds, (all) => void expect(readSeeds(seedsText(all))).toEqual({ seeds: all })))
  expect(seedsText([1, 2, 3, 7])).toBe('1\u20133, 7')
})
