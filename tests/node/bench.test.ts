/** Figures of docs/performance.md: their computation from runs, and the reason that the page gives for each missed budget. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { benches, suites } from '../../bench/catalogue.ts'
import { fitted } from '../../bench/growth.ts'
import { median } from '#core/base/statistics.ts'
import { lineOf, measure, told, type Measured } from '../../bench/measure.ts'
import { figures } from '../../bench/performance-page.ts'

const root = join(import.meta.dirname, '../..')

describe('a cost', () => {
  it('is the median of its runs with their spread, the warm-up left out, beside the median of its baseline', async () => {
    const took = [900, 4, 2, 9, 3, 5]
    const plain = [1, 2, 2, 2, 2, 2]
    const of = await measure({
      id: 'a',
      unit: 'ms',
      runs: 5,
      must: { most: 3 },
      limit: 'the disk',
      run: () => took.shift() ?? NaN,
      baseline: () => plain.shift() ?? NaN,
    })
    expect(of).toEqual({
      id: 'a',
      unit: 'ms',
      value: 4,
      spread: [2, 9],
      n: 5,
      baseline: 2,
      ratio: 2,
      must: { most: 3 },
      holds: false,
      limit: 'the disk',
    })
    expect(lineOf(of)).toContain('MISSED: at most 3')
  })

  it('holds at its bound, from either side', () => {
    expect(told({ id: 'a', unit: 'ms', must: { most: 5 } }, [5]).holds).toBe(true)
    expect(told({ id: 'a', unit: '/s', must: { least: 5 } }, [5]).holds).toBe(true)
    expect(told({ id: 'a', unit: '/s', must: { least: 5 } }, [4.9]).holds).toBe(false)
    expect(told({ id: 'a', unit: 'ms' }, [5])).not.toHaveProperty('holds')
  })

  it('is between the lowest and the highest', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1e-3, max: 1e9, noNaN: true }), { minLength: 1 }), (values) => {
        const { value, spread } = told({ id: 'a', unit: 'ms' }, values)
        expect(value).toBeGreaterThanOrEqual(spread[0])
        expect(value).toBeLessThanOrEqual(spread[1])
        const middle = median(values)
        expect(2 * values.filter((v) => v <= middle).length).toBeGreaterThanOrEqual(values.length)
        expect(2 * values.filter((v) => v >= middle).length).toBeGreaterThanOrEqual(values.length)
      }),
    )
  })
})

describe('growth', () => {
  it('finds the power of a size and of its logarithm', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 3, noNaN: true }),
        fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
        (p, a) => {
          const sizes = [10, 1000, 30_000]
          const power = (x: number): number => a * x ** p
          expect(fitted(sizes, sizes.map(power), 'size')).toBeCloseTo(p, 6)
          expect(
            fitted(
              sizes,
              sizes.map((n) => power(Math.log2(n))),
              'log',
            ),
          ).toBeCloseTo(p, 6)
        },
      ),
    )
  })

  it('shows the cost at each size beside the exponent', async () => {
    const of = await measure({
      id: 'g',
      unit: 'exponent',
      sizes: [10, 100, 1000],
      axis: 'size',
      runs: 5,
      cost: (_now, n) => n * n,
    })
    expect(of.value).toBeCloseTo(2, 3)
    expect(of.points).toEqual([
      [10, 100],
      [100, 10_000],
      [1000, 1_000_000],
    ])
  })
})

describe('the catalogue', () => {
  it('says of every cost that has a budget what limits it', () => {
    expect(benches.filter(({ must, limit }) => must && (limit ?? '') === '').map(({ id }) => id)).toEqual([])
  })
})

describe('docs/performance.md', () => {
  const ids = [...benches, ...suites].map(({ id }) => id)
  const kept = JSON.parse(readFileSync(join(root, 'docs/performance.json'), 'utf8')) as {
    machine: string
    benches: Measured[]
  }
  const page = readFileSync(join(root, 'docs/performance.md'), 'utf8')

  it('is the table of the figures beside it', () => {
    expect(page).toContain(figures(kept.benches, ids, kept.machine))
  })

  it('has every cost that can be measured, each with its figure or named as without one, and no other', () => {
    const known = kept.benches.map(({ id }) => id)
    expect(new Set(known).size).toBe(known.length)
    for (const id of ids) expect(page).toContain(`\`${id}`)
    expect(known.filter((of) => !ids.some((id) => of === id || of.startsWith(`${id}.`)))).toEqual([])
  })

  it('says of every missed budget why', () => {
    const silent = kept.benches.filter(({ holds, limit }) => holds === false && (limit ?? '') === '')
    expect(silent.map(({ id }) => id)).toEqual([])
  })

  it('has medians of at least five runs, and growth over at least three sizes', () => {
    expect(kept.benches.filter(({ n }) => n < 5)).toEqual([])
    expect(kept.benches.filter(({ points }) => points !== undefined && points.length < 3)).toEqual([])
  })
})
