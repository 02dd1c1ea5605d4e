import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobDemand, Observation } from './controller.ts'
import { NoneController } from './none.ts'
import { StaticController } from './static.ts'

const seen = (jobId: string, nodes: number | undefined, served = 10): JobDemand => ({ jobId, nodes, served })
const observe = (...jobs: JobDemand[]): Observation => ({ target: 'demo-OST0001', atNs: 1e9, periodNs: 1e8, jobs })

describe('StaticController', () => {
  it('divides by nodes, highest priority first, without a ledger', () => {
    const controller = new StaticController({ maxRatePerSec: 500 })
    const decision = controller.step(observe(seen('a', 1), seen('d', 5), seen('c', 3), seen('b', 1)))
    expect(decision).toEqual({
      target: 'demo-OST0001',
      atNs: 1e9,
      budget: 50,
      allocations: [
        { jobId: 'd', tokens: 25, ratePerSec: 250, record: 0, recordDelta: 0 },
        { jobId: 'c', tokens: 15, ratePerSec: 150, record: 0, recordDelta: 0 },
        { jobId: 'a', tokens: 5, ratePerSec: 50, record: 0, recordDelta: 0 },
        { jobId: 'b', tokens: 5, ratePerSec: 50, record: 0, recordDelta: 0 },
      ],
      records: new Map(),
    })
  })

  it('keeps the share of an idle job', () => {
    const controller = new StaticController({ maxRatePerSec: 1000 })
    const first = controller.step(observe(seen('a', 1), seen('b', 3)))
    const second = controller.step(observe(seen('b', undefined)))
    expect(second.allocations).toEqual(first.allocations)
    expect(controller.step(observe()).allocations).toEqual(first.allocations)
  })

  it('gives equal jobs equal rates where their tokens differ by one', () => {
    const controller = new StaticController({ maxRatePerSec: 500 })
    const { allocations } = controller.step(observe(seen('a', 1), seen('b', 1), seen('c', 1)))
    expect(allocations.map(({ tokens }) => tokens)).toEqual([17, 17, 16])
    expect(allocations.map(({ ratePerSec }) => ratePerSec)).toEqual([167, 167, 167])
  })

  it('hands the budget out exactly', () => {
    const jobs = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 3 }), fc.integer({ min: 0, max: 99 })), {
      selector: ([id]) => id,
      minLength: 1,
      maxLength: 30,
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9999 }), jobs, (maxRatePerSec, list) => {
        const controller = new StaticController({ maxRatePerSec })
        const { allocations, budget } = controller.step(observe(...list.map(([id, nodes]) => seen(id, nodes))))
        expect(budget).toBe(Math.floor(maxRatePerSec / 10))
        expect(allocations.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(budget)
        expect(allocations.every(({ ratePerSec }) => ratePerSec >= 1)).toBe(true)
      }),
    )
  })

  it('omits uncountable entries and holds the budget over a period without length', () => {
    const controller = new StaticController({ maxRatePerSec: 1000 })
    controller.step(observe(seen('a', NaN), seen('', 1), seen('b', 1, NaN), seen('c', 1, 0), seen('d', 1e308)))
    const held = controller.step({ ...observe(seen('a', 1)), periodNs: NaN })
    expect(held.budget).toBe(100)
    expect(held.allocations).toMatchObject([{ jobId: 'd' }, { jobId: 'a', ratePerSec: 1 }])
  })

  it('refuses to be built without a rate', () => {
    expect(() => new StaticController({ maxRatePerSec: NaN })).toThrow('above 0')
  })
})

describe('NoneController', () => {
  it('wants no rule', () => {
    expect(new NoneController().step(observe(seen('a', 1)))).toEqual({
      target: 'demo-OST0001',
      atNs: 1e9,
      budget: 0,
      allocations: [],
      records: new Map(),
    })
  })
})
