import { describe, expect, it } from 'vitest'
import type { JobDemand, Observation } from '../control/controller.ts'
import { AdapTbfController } from './controller.ts'

const seen = (jobId: string, nodes: number | undefined, served: number): JobDemand => ({ jobId, nodes, served })
const observe = (...jobs: JobDemand[]): Observation => ({
  target: 'demo-OST0000',
  atNs: 5e9,
  periodNs: 1e8,
  jobs,
})
const tokensOf = (allocations: readonly { jobId: string; tokens: number }[]): Record<string, number> =>
  Object.fromEntries(allocations.map(({ jobId, tokens }) => [jobId, tokens]))

describe('AdapTbfController', () => {
  it('decides tokens, rates and records, highest priority first', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    const decision = controller.step(observe(seen('a', 1, 5), seen('b', 2, 200)))
    expect(decision).toEqual({
      target: 'demo-OST0000',
      atNs: 5e9,
      budget: 100,
      allocations: [
        { jobId: 'b', tokens: 94, ratePerSec: 940, record: -27, recordDelta: -27 },
        { jobId: 'a', tokens: 6, ratePerSec: 60, record: 27, recordDelta: 27 },
      ],
      records: new Map([
        ['a', 27],
        ['b', -27],
      ]),
    })
  })

  it('keeps the records of idle jobs and the decisions already handed out', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    const first = controller.step(observe(seen('a', 1, 5), seen('b', 2, 200)))
    const second = controller.step(observe(seen('b', 2, 200), seen('c', 2, 10)))
    expect(Object.fromEntries(first.records)).toEqual({ a: 27, b: -27 })
    expect(second.records.get('a')).toBe(27)
    expect([...second.records.values()].reduce((sum, record) => sum + record)).toBe(0)
  })

  it('counts an unknown number of nodes as one', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000 })
    const { allocations } = controller.step(observe(seen('a', undefined, 500), seen('b', 1, 500), seen('c', NaN, 500)))
    expect(tokensOf(allocations)).toEqual({ a: 34, b: 33, c: 33 })
  })

  it('takes a job that used its tokens up to want more, unless demand is what was served', () => {
    const run = (demand: 'served' | 'saturation'): Record<string, number> => {
      const controller = new AdapTbfController({ maxRatePerSec: 1000, demand })
      controller.step(observe(seen('a', 1, 50), seen('b', 1, 50)))
      // 44 of 50 tokens is saturated, 43 is not.
      return tokensOf(controller.step(observe(seen('a', 1, 44), seen('b', 1, 43))).allocations)
    }
    // Inferred: a wants 58 and has no surplus; b lends its 7 and a gets most of them.
    expect(run('saturation')).toEqual({ a: 56, b: 44 })
    expect(run('served')).toEqual({ a: 51, b: 49 })
  })

  it('infers nothing for a job that had no tokens in the last period', () => {
    const inferring = new AdapTbfController({ maxRatePerSec: 1000 })
    const literal = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    const first = observe(seen('a', 1, 3), seen('b', 1, 200))
    expect(inferring.step(first)).toEqual(literal.step(first))
  })

  it('keeps a job without tokens alive at 1 RPC/s and never exceeds what a rule takes', () => {
    const small = new AdapTbfController({ maxRatePerSec: 5 })
    expect(small.step(observe(seen('a', 1, 9))).allocations).toMatchObject([{ tokens: 0, ratePerSec: 1 }])
    const large = new AdapTbfController({ maxRatePerSec: 5e6 })
    expect(large.step(observe(seen('a', 1, 9))).allocations).toMatchObject([{ tokens: 5e5, ratePerSec: 999_999 }])
  })

  it('leaves out what cannot be counted and adds up what is listed twice', () => {
    const jobs = [
      seen('a', 1, 3),
      seen('b', 4, 30),
      seen('', 1, 5),
      seen('c', 1, NaN),
      seen('d', 1, -1),
      seen('e', 1, 0),
    ]
    const messy = new AdapTbfController({ maxRatePerSec: 1000 })
    const clean = new AdapTbfController({ maxRatePerSec: 1000 })
    const decision = messy.step(observe(...jobs, seen('a', 2, 4), seen('a', 1, Infinity)))
    expect(decision).toEqual(clean.step(observe(seen('a', 2, 7), seen('b', 4, 30))))
    expect(() => messy.step(observe(seen('a', 1e308, 1e308), seen('b', -1, 0.2)))).not.toThrow()
  })

  it('holds the last allocation when a period cannot be evaluated', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000 })
    const { allocations } = controller.step(observe(seen('a', 1, 5), seen('b', 2, 200)))
    const held = controller.step({ ...observe(seen('a', 1, 90)), periodNs: 0 })
    expect(tokensOf(held.allocations)).toEqual(tokensOf(allocations))
    expect(held.allocations.map(({ recordDelta }) => recordDelta)).toEqual([0, 0])
    expect(held.budget).toBe(100)
  })

  it('has nothing to allocate when nobody is active', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000 })
    expect(controller.step(observe())).toMatchObject({ budget: 100, allocations: [] })
  })

  it('refuses to be built without a rate', () => {
    expect(() => new AdapTbfController({ maxRatePerSec: 0 })).toThrow('above 0')
  })
})
