import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AllocatedPeriod, TokenAllocator } from './allocation.ts'
import { MAX_BUDGET, tokenBudget } from './budget.ts'
import type { PeriodJob } from './job-ledger.ts'

const job = (id: string, nodes: number, demand: number): PeriodJob => ({ id, nodes, demand })

function evaluate(allocator: TokenAllocator, jobs: readonly PeriodJob[], maxRatePerSec = 1000): AllocatedPeriod {
  const stepped = allocator.step({ maxRatePerSec, dtSeconds: 0.1, jobs })
  if (!stepped.ok) throw new Error(stepped.error.what)
  return stepped.value
}

const tokensOf = ({ ids, tokens }: AllocatedPeriod): Record<string, number> =>
  Object.fromEntries(ids.map((id, i) => [id, tokens[i]!]))
const recordsOf = (allocator: TokenAllocator): Record<string, number> => Object.fromEntries(allocator.records())
const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0)

describe('worked example: a of 1 node, b of 2, 100 tokens a period', () => {
  const allocator = new TokenAllocator()

  it('lends what a leaves to b', () => {
    const period = evaluate(allocator, [job('a', 1, 5), job('b', 2, 200)])
    expect(tokensOf(period)).toEqual({ a: 6, b: 94 })
    expect(recordsOf(allocator)).toEqual({ a: 27, b: -27 })
    const { initial, redistributed, recompensated } = allocator.explain()
    expect(initial.alloc).toEqual({ a: 33, b: 67 })
    expect(initial.remainder.a).toBeCloseTo(1 / 3, 12)
    expect(redistributed).toMatchObject({ surplus: { a: 28, b: 0 }, received: { a: 1, b: 27 } })
    expect(recompensated).toMatchObject({ positive: [], negative: [], coefficient: 0 })
  })

  it('reclaims all of it when a returns with a coefficient above 1', () => {
    const period = evaluate(allocator, [job('a', 1, 50), job('b', 2, 100)])
    expect(tokensOf(period)).toEqual({ a: 60, b: 40 })
    expect(recordsOf(allocator)).toEqual({ a: 0, b: 0 })
    const { recompensated } = allocator.explain()
    expect(recompensated.coefficient).toBeCloseTo(25 / 18, 12)
    expect(recompensated).toMatchObject({ positive: ['a'], negative: ['b'], reclaimed: { b: 27 }, received: { a: 27 } })
  })
})

it('reclaims a part of 1 only under the extension min', () => {
  const allocator = new TokenAllocator({ coefficient: 'min' })
  evaluate(allocator, [job('a', 1, 5), job('b', 2, 200)])
  expect(tokensOf(evaluate(allocator, [job('a', 1, 50), job('b', 2, 100)]))).toEqual({ a: 44, b: 56 })
  expect(allocator.explain().recompensated.coefficient).toBeCloseTo(1 / 6, 12)
  expect(recordsOf(allocator)).toEqual({ a: 16, b: -16 })
})

describe('edges', () => {
  it('gives a single job everything and moves no record', () => {
    const allocator = new TokenAllocator()
    const { ids, tokens, records, recordDeltas } = evaluate(allocator, [job('a', 4, 1)])
    expect([ids, ...[tokens, records, recordDeltas].map((column) => [...column])]).toEqual([['a'], [100], [0], [0]])
  })

  it('moves nothing without a surplus', () => {
    const allocator = new TokenAllocator()
    evaluate(allocator, [job('a', 1, 500), job('b', 3, 500)])
    expect(allocator.explain().redistributed.surplusTotal).toBe(0)
    expect(recordsOf(allocator)).toEqual({ a: 0, b: 0 })
  })

  it('reclaims nothing while the lenders are idle', () => {
    const allocator = new TokenAllocator()
    evaluate(allocator, [job('a', 1, 5), job('b', 1, 200)])
    evaluate(allocator, [job('b', 1, 200), job('c', 1, 200)])
    expect(allocator.explain().recompensated).toMatchObject({ positive: [], negative: ['b'], reclaimed: { b: 0 } })
    expect(recordsOf(allocator)).toEqual({ a: 45, b: -45, c: 0 })
  })

  it('keeps records and remainders but not tokens without active jobs, and allocates nothing', () => {
    const allocator = new TokenAllocator()
    evaluate(allocator, [job('a', 1, 5), job('b', 2, 200)])
    const rho = allocator.remainder('a')
    expect(evaluate(allocator, [job('a', 1, 0)])).toMatchObject({ budget: 100, ids: [] })
    expect(recordsOf(allocator)).toEqual({ a: 27, b: -27 })
    expect(allocator.remainder('a')).toBe(rho)
    expect(allocator.previousTokens('b')).toBeUndefined()
    expect(allocator.explain().recompensated).toMatchObject({ alloc: {}, record: {} })
  })

  it('allocates no tokens where a period is shorter than one', () => {
    const allocator = new TokenAllocator()
    expect(tokensOf(evaluate(allocator, [job('a', 1, 5), job('b', 2, 200)], 5))).toEqual({ a: 0, b: 0 })
  })

  it('never gives a job more than its turn: fewer tokens than jobs rotate', () => {
    const allocator = new TokenAllocator()
    const jobs = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => job(id, 1, 100))
    const totals = new Map<string, number>()
    for (let period = 0; period < 70; period++) {
      const tokens = tokensOf(evaluate(allocator, jobs, 30))
      for (const { id } of jobs) totals.set(id, (totals.get(id) ?? 0) + tokens[id]!)
    }
    expect([...totals.values()]).toEqual(Array(7).fill(30))
  })

  it('does not know a job that was listed without demand only', () => {
    const allocator = new TokenAllocator()
    evaluate(allocator, [job('a', 1, 0), job('b', 1, -3), job('c', 1, 9)])
    expect(recordsOf(allocator)).toEqual({ c: 0 })
    expect(allocator.remainder('a')).toBeUndefined()
  })

  it('processes by nodes, then by code units of the id', () => {
    const allocator = new TokenAllocator()
    const { ids } = evaluate(allocator, [job('b', 1, 9), job('é', 1, 9), job('B', 1, 9), job('z', 2, 9)])
    expect(ids).toEqual(['z', 'B', 'b', 'é'])
    // a joins, z shrinks but keeps its order, b leaves, B grows
    expect(evaluate(allocator, [job('z', 1, 9), job('é', 1, 9), job('a', 1, 9), job('B', 3, 9)]).ids).toEqual([
      'B',
      'a',
      'z',
      'é',
    ])
  })
})

describe('input that cannot be counted', () => {
  const good = [job('a', 1, 5), job('b', 2, 200)]
  it.each([
    ['BAD_RATE', { maxRatePerSec: 0 }],
    ['BAD_RATE', { maxRatePerSec: NaN }],
    ['BAD_PERIOD', { dtSeconds: -0.1 }],
    ['BAD_PERIOD', { dtSeconds: Infinity }],
    ['BUDGET_TOO_LARGE', { maxRatePerSec: 1e308, dtSeconds: 1e308 }],
    ['BUDGET_TOO_LARGE', { maxRatePerSec: MAX_BUDGET, dtSeconds: 1.1 }],
    ['EMPTY_JOB_ID', { jobs: [job('', 1, 1)] }],
    ['DUPLICATE_JOB_ID', { jobs: [...good, job('a', 1, 5)] }],
    ['DUPLICATE_JOB_ID', { jobs: [job('new', 1, 0), job('new', 1, 5)] }],
    ['BAD_NODES', { jobs: [job('new', 1, 5), job('a', NaN, 5)] }],
    ['BAD_NODES', { jobs: [job('a', 1e308, 5)] }],
    ['BAD_DEMAND', { jobs: [job('new', 1, 5), job('a', 1, 2.5)] }],
    ['BAD_DEMAND', { jobs: [job('a', 1, 1e300)] }],
    ['BAD_DEMAND', { jobs: [job('a', 1, -Infinity)] }],
  ])('%s: %o', (code, bad) => {
    const tried = new TokenAllocator()
    const untried = new TokenAllocator()
    for (const allocator of [tried, untried]) evaluate(allocator, good)
    const before = tried.explain()
    const stepped = tried.step({ maxRatePerSec: 1000, dtSeconds: 0.1, jobs: good, ...bad })
    expect(stepped).toMatchObject({ ok: false, error: { code } })
    expect(tried.explain()).toEqual(before)
    expect(tried.records()).toEqual(untried.records())
    const next = [job('a', 1, 50), job('b', 2, 100), job('new', 2, 7)]
    expect(evaluate(tried, next)).toEqual(evaluate(untried, next))
  })
})

it('keeps the processing order right after a refused period that named other nodes', () => {
  const allocator = new TokenAllocator()
  evaluate(allocator, [job('a', 1, 5), job('b', 2, 200)])
  const refused = [job('a', 9, 5), job('b', 2, 200), job('b', 2, 200)]
  expect(allocator.step({ maxRatePerSec: 1000, dtSeconds: 0.1, jobs: refused }).ok).toBe(false)
  expect(evaluate(allocator, [job('a', 9, 5), job('b', 2, 200)]).ids).toEqual(['a', 'b'])
})

describe('tokenBudget', () => {
  it.each([
    [1000, 0.29, 290],
    [333, 0.1, 33],
    [10, 0.3, 3],
    [700, 0.7, 490],
    [1100, 1.1, 1210],
    [5, 0.1, 0],
    [999_999_999, 0.29, 289_999_999],
    [1e9, 0.29, 290_000_000],
  ])('%d/s for %d s is %d', (rate, dt, tokens) => {
    expect(tokenBudget(rate, dt)).toBe(tokens)
  })

  it('is the floor of the decimals, for every rate and every millisecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: 1, max: 60_000 }), (rate, ms) => {
        expect(tokenBudget(rate, ms / 1000)).toBe(Number((BigInt(rate) * BigInt(ms)) / 1000n))
      }),
    )
  })
})

describe('random periods with jobs that join and leave', () => {
  const anyJob = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '__proto__', '4711'),
    nodes: fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }),
    demand: fc.oneof(fc.integer({ min: -1, max: 30 }), fc.integer({ min: 0, max: 5000 })),
  })
  const periods = fc.array(fc.uniqueArray(anyJob, { selector: ({ id }) => id, maxLength: 10 }), { maxLength: 30 })
  const rate = fc.integer({ min: 1, max: 5000 })

  it('conserves tokens, records and remainders', () => {
    fc.assert(
      fc.property(rate, periods, (maxRate, sequence) => {
        const allocator = new TokenAllocator()
        for (const jobs of sequence) {
          const before = allocator.records()
          const allocated = evaluate(allocator, jobs, maxRate)
          const { budget, ids } = allocated
          const { initial } = allocator.explain()
          const records = allocator.records()
          expect(budget).toBe(Math.floor(maxRate / 10))
          expect(sum(allocated.tokens)).toBe(ids.length > 0 ? budget : 0)
          expect(sum(records.values())).toBe(0)
          const remainders = [...records.keys()].map((id) => allocator.remainder(id)!)
          expect(Math.abs(sum(remainders))).toBeLessThan(1e-9)
          for (const rho of remainders) expect(Math.abs(rho)).toBeLessThan(Math.max(1, records.size))
          for (const [i, id] of ids.entries()) {
            const tokens = allocated.tokens[i]!
            const record = allocated.records[i]!
            const recordDelta = allocated.recordDeltas[i]!
            expect(tokens).toBeGreaterThanOrEqual(0)
            expect(Number.isInteger(tokens) && Number.isInteger(record)).toBe(true)
            expect(records.get(id)).toBe(record)
            expect(recordDelta).toBe(record - (before.get(id) ?? 0))
            expect(recordDelta).toBe(initial.alloc[id]! - tokens)
            expect(allocator.previousTokens(id)).toBe(tokens)
          }
        }
      }),
      { numRuns: 200 },
    )
  })

  it('is the same in any order of the input', () => {
    fc.assert(
      fc.property(rate, periods, fc.infiniteStream(fc.nat()), (maxRate, sequence, keys) => {
        const straight = new TokenAllocator()
        const shuffled = new TokenAllocator()
        for (const jobs of sequence) {
          const keyed = jobs.map((one) => ({ one, key: keys.next().value as number }))
          const mixed = keyed.sort((a, b) => a.key - b.key).map(({ one }) => one)
          expect(evaluate(shuffled, mixed, maxRate)).toEqual(evaluate(straight, jobs, maxRate))
        }
      }),
    )
  })
})
