import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomStream } from '../../base/random.ts'
import type { Forecast, JobDemand } from './algorithm.ts'
import { allocate, fallsBack } from './allocate.ts'
import { ArrivalHistory, sumOfForecasts } from './psfa-adaptive.ts'

const job = (
  id: string,
  demand: number,
  [arrivals, volatility, waiting]: readonly [number, number, number],
): JobDemand => ({
  id,
  demand,
  usage: arrivals,
  forecast: { arrivals, volatility, waiting },
})

function rates(
  jobs: readonly JobDemand[],
  maxRate: number,
  algorithm: 'psfa' | 'psfa-adaptive' = 'psfa-adaptive',
): number[] {
  const got = allocate({ algorithm, maxRate, jobs })
  if (!got.ok) throw new Error(got.error.message)
  return jobs.map(({ id }) => got.value.get(id)!)
}

describe('headroom', () => {
  it('is what the needs leave of the limit, in proportion to the volatility', () => {
    expect(rates([job('a', 50, [20, 30, 0]), job('b', 50, [30, 10, 10])], 100)).toEqual([50, 50])
  })

  it('of equal volatility is equal, whatever the demands are', () => {
    expect(rates([job('a', 90, [10, 5, 0]), job('b', 10, [10, 5, 0])], 100)).toEqual([50, 50])
  })
})

describe('needs beyond the limit', () => {
  it('have the demands as reservations', () => {
    expect(rates([job('a', 30, [80, 1, 0]), job('b', 70, [80, 1, 500])], 100)).toEqual([30, 70])
  })

  it('of a job that does not use its demand leave the rest to the one that lags most', () => {
    // b needs 20 of its 70; a and c lag 8 and 2 cycles: a gets the rest.
    const jobs = [job('a', 10, [10, 1, 80]), job('b', 70, [20, 1, 0]), job('c', 20, [10, 1, 30])]
    expect(rates(jobs, 100)).toEqual([60, 20, 20])
  })

  it('end with the lags of those that got more being equal, and above those of the others', () => {
    const amount = fc.double({ min: 1, max: 1e6, noNaN: true })
    const some = fc.array(fc.tuple(amount, amount, amount), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(some, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (all, part) => {
        const jobs = all.map(([demand, arrivals, waiting], i) => job(`j${i}`, demand, [arrivals, 1, waiting]))
        const needs = all.map(([, arrivals, waiting]) => arrivals + waiting)
        const maxRate = needs.reduce((a, b) => a + b) * part
        const got = rates(jobs, maxRate)
        const reserved = all.map(([demand], i) => Math.min(demand, needs[i]!))
        fc.pre(reserved.reduce((a, b) => a + b) < maxRate)
        const lags = all.map(([, arrivals], i) => (needs[i]! - got[i]!) / arrivals)
        const raised = lags.filter((_, i) => got[i]! > reserved[i]! * (1 + 1e-6))
        const largest = Math.max(...lags)
        for (const [i, rate] of got.entries()) expect(rate).toBeGreaterThanOrEqual(reserved[i]! * (1 - 1e-9))
        for (const lag of raised) expect(Math.abs(lag - largest)).toBeLessThanOrEqual(1e-6 * Math.max(1, largest))
      }),
    )
  })
})

it('leaves fewer operations waiting than any other split of the rest, when changes have one shape', () => {
  // Arrivals of the next cycle: the forecast, plus the volatility times one of the same nine changes for every job.
  const changes = [-2, -1.2, -0.7, -0.3, 0, 0.3, 0.7, 1.2, 2]
  const waitingAfter = (jobs: readonly JobDemand[], split: readonly number[]): number =>
    jobs.reduce((sum, { forecast }, i) => {
      const { arrivals, volatility } = forecast as Forecast
      return sum + changes.reduce((all, z) => all + Math.max(0, arrivals + z * volatility - split[i]!), 0)
    }, 0)
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 100, max: 1000 }), fc.integer({ min: 1, max: 50 })), {
        minLength: 2,
        maxLength: 6,
      }),
      fc.integer({ min: 0, max: 300 }),
      fc.nat(),
      (all, rest, seed) => {
        const jobs = all.map(([arrivals, volatility], i) => job(`j${i}`, 1, [arrivals, volatility, 0]))
        const maxRate = all.reduce((sum, [arrivals]) => sum + arrivals, 0) + rest
        const random = randomStream(seed, 'split')
        const shares = jobs.map(() => random.uniform())
        const whole = shares.reduce((a, b) => a + b)
        const other = all.map(([arrivals], i) => arrivals + (shares[i]! / whole) * rest)
        expect(waitingAfter(jobs, rates(jobs, maxRate))).toBeLessThanOrEqual(waitingAfter(jobs, other) + 1e-6)
      },
    ),
  )
})

it('uses the demand of a job in its first cycle', () => {
  expect(rates([{ id: 'a', demand: 40, usage: null }, job('b', 60, [20, 40, 0])], 100)).toEqual([60, 40])
})

it('is replaced by PSFA where the waiting operations of a job are not known', () => {
  const jobs = [job('a', 50, [20, 1, 80]), { id: 'b', demand: 50, usage: 10 }]
  expect(fallsBack('psfa-adaptive', jobs)).toBe(true)
  expect(rates(jobs, 100)).toEqual(rates(jobs, 100, 'psfa'))
  expect(fallsBack('psfa-adaptive', [jobs[0]!, { id: 'c', demand: 1, usage: null }])).toBe(false)
  expect(fallsBack('psfa', jobs)).toBe(false)
})

describe('a forecast', () => {
  it('expects the last arrivals again, and learns the mean change', () => {
    const history = new ArrivalHistory()
    expect(history.add(100, 5)).toEqual({ arrivals: 100, volatility: 100, waiting: 5 })
    expect(history.add(140, 0)).toEqual({ arrivals: 140, volatility: 40, waiting: 0 })
    expect(history.add(140, 0)).toEqual({ arrivals: 140, volatility: 36, waiting: 0 })
  })

  it('of a job is the sum of those of its stages that are known', () => {
    const one = { arrivals: 1, volatility: 2, waiting: 3 }
    expect(sumOfForecasts([one, null, one])).toEqual({ arrivals: 2, volatility: 4, waiting: 6 })
    expect(sumOfForecasts([null])).toBeNull()
  })
})
