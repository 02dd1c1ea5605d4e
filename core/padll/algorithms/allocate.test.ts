import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomStream } from '../../base/random.ts'
import { ALGORITHMS, type JobDemand, type Rates } from './algorithm.ts'
import { allocate, type AllocationInput } from './allocate.ts'

function rates(input: AllocationInput): Rates {
  const got = allocate(input)
  if (!got.ok) throw new Error(`${got.error.code}: ${got.error.message}`)
  return got.value
}
const total = (all: Rates): number => [...all.values()].reduce((sum, rate) => sum + rate, 0)

const positive = fc.double({ min: 1e-3, max: 1e12, noNaN: true })
const amount = fc.oneof(fc.constant(0), positive)
const forecast = fc.record({ arrivals: amount, volatility: amount, waiting: amount })
const jobs = fc.uniqueArray(
  fc.record<JobDemand>({
    id: fc.string({ minLength: 1, maxLength: 8 }),
    demand: fc.option(positive),
    usage: fc.option(fc.oneof(fc.constant(0), positive)),
    forecast: fc.option(forecast),
  }),
  { selector: ({ id }) => id, maxLength: 40 },
)
const input = fc.record<AllocationInput>({
  algorithm: fc.constantFrom(...ALGORITHMS),
  maxRate: positive,
  jobs,
  epsilon: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
  slots: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
  leftover: fc.option(fc.constantFrom('equal' as const, 'proportional' as const), { nil: undefined }),
})
const ROUNDING = 1e-9

describe('for any jobs', () => {
  it('the sum keeps the limit, every rate is a number, and none is negative', () => {
    fc.assert(
      fc.property(input, (given) => {
        const got = rates(given)
        expect(total(got)).toBeLessThanOrEqual(given.maxRate * (1 + ROUNDING))
        expect([...got.values()].every((rate) => Number.isFinite(rate) && rate >= 0)).toBe(true)
        if (given.algorithm !== 'static') expect([...got.keys()]).toEqual(given.jobs.map(({ id }) => id))
      }),
    )
  })

  it('those that share hand out the whole limit while a job is active', () => {
    fc.assert(
      fc.property(
        input,
        fc.constantFrom('psharing' as const, 'psfa' as const, 'psfa-adaptive' as const),
        (given, algorithm) => {
          fc.pre(given.jobs.length > 0)
          const sum = total(rates({ ...given, algorithm }))
          expect(Math.abs(sum - given.maxRate)).toBeLessThanOrEqual(given.maxRate * ROUNDING)
        },
      ),
    )
  })

  it('the order in which jobs are named changes no rate', () => {
    fc.assert(
      fc.property(input, fc.nat(), (given, seed) => {
        const random = randomStream(seed, 'order')
        const shuffled = given.jobs
          .map((job) => ({ job, key: random.uniform() }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ job }) => job)
        const one = rates(given)
        const other = rates({ ...given, jobs: shuffled })
        for (const [id, rate] of one) {
          // The usages are summed in another order, so the last digits differ.
          expect(Math.abs(rate - other.get(id)!)).toBeLessThanOrEqual(given.maxRate * ROUNDING)
        }
      }),
    )
  })

  it('a higher limit takes nothing from anyone', () => {
    fc.assert(
      fc.property(input, fc.double({ min: 1, max: 10, noNaN: true }), (given, factor) => {
        const more = rates({ ...given, maxRate: given.maxRate * factor })
        for (const [id, rate] of rates(given)) {
          expect(more.get(id)!).toBeGreaterThanOrEqual(rate - given.maxRate * factor * ROUNDING)
        }
      }),
    )
  })

  it('who demands more is not given less by priority and proportional sharing, nor who uses more by PSFA', () => {
    const factor = fc.double({ min: 1, max: 100, noNaN: true })
    fc.assert(
      fc.property(input, fc.nat(), factor, (given, at, times) => {
        fc.pre(given.jobs.length > 0)
        const grown = given.jobs[at % given.jobs.length]!
        const field = given.algorithm === 'psfa' ? 'usage' : 'demand'
        const before = { ...grown, demand: grown.demand ?? 1, usage: Math.max(grown.usage ?? grown.demand ?? 1, 1) }
        const after = { ...before, [field]: before[field] * times }
        const with_ = (job: JobDemand) => given.jobs.map((other) => (other === grown ? job : other))
        const [less, more] = [before, after].map((job) => rates({ ...given, jobs: with_(job) }).get(grown.id)!)
        expect(more!).toBeGreaterThanOrEqual(less! - given.maxRate * ROUNDING)
      }),
    )
  })

  it('demands that fit are met by proportional sharing, and by PSFA for those who use them', () => {
    fc.assert(
      fc.property(input, fc.constantFrom('psharing' as const, 'psfa' as const), (given, algorithm) => {
        const hungry = given.jobs.map((job) => ({ ...job, usage: (job.demand ?? 1) + 1 }))
        const demands = hungry.reduce((sum, { demand }) => sum + (demand ?? 1), 0)
        fc.pre(demands <= given.maxRate)
        const got = rates({ ...given, algorithm, jobs: hungry })
        for (const { id, demand } of hungry) expect(got.get(id)!).toBeGreaterThanOrEqual((demand ?? 1) * (1 - ROUNDING))
      }),
    )
  })
})

it('leaves jobs that no policy names out of static limits, and needs no system limit for them', () => {
  const named = { id: 'a', demand: 500, usage: 9 }
  const other = { id: 'b', demand: null, usage: 9 }
  expect([...rates({ algorithm: 'static', maxRate: Infinity, jobs: [named, other] })]).toEqual([['a', 500]])
})

it('scales fixed rates beyond the limit, unless that is allowed', () => {
  const given = { algorithm: 'priority', maxRate: 100 } as const
  const jobs = [
    { id: 'a', demand: 50, usage: 0 },
    { id: 'b', demand: 150, usage: 0 },
  ]
  expect([...rates({ ...given, jobs }).values()]).toEqual([25, 75])
  expect([...rates({ ...given, jobs, oversubscription: 'allow' }).values()]).toEqual([50, 150])
  const vast = jobs.map(({ id }) => ({ id, demand: Number.MAX_VALUE, usage: null }))
  expect([...rates({ ...given, jobs: vast }).values()]).toEqual([50, 50])
})

it.each<[string, Partial<Record<keyof AllocationInput, unknown>>]>([
  ['E_ALGORITHM', { algorithm: 'toString' }],
  ['E_MAX_RATE', { maxRate: 0 }],
  ['E_MAX_RATE', { maxRate: -1 }],
  ['E_MAX_RATE', { maxRate: NaN }],
  ['E_MAX_RATE', { maxRate: Infinity }],
  ['E_EPSILON', { epsilon: -0.01 }],
  ['E_EPSILON', { epsilon: 1.01 }],
  ['E_EPSILON', { epsilon: NaN }],
  ['E_SLOTS', { slots: 0 }],
  ['E_SLOTS', { slots: 1.5 }],
  ['E_OVERSUBSCRIPTION', { oversubscription: 'maybe' }],
  ['E_LEFTOVER', { leftover: 'usage' }],
  ['E_JOB_ID', { jobs: [{ id: '', demand: 1, usage: 1 }] }],
  ['E_JOB_ID', { jobs: [1, 2].map((demand) => ({ id: 'a', demand, usage: 1 })) }],
  ['E_DEMAND', { jobs: [{ id: 'a', demand: 0, usage: 1 }] }],
  ['E_DEMAND', { jobs: [{ id: 'a', demand: -1, usage: 1 }] }],
  ['E_DEMAND', { jobs: [{ id: 'a', demand: Infinity, usage: 1 }] }],
  ['E_FORECAST', { jobs: [{ id: 'a', demand: 1, usage: 1, forecast: { arrivals: -1, volatility: 0, waiting: 0 } }] }],
  ['E_FORECAST', { jobs: [{ id: 'a', demand: 1, usage: 1, forecast: { arrivals: 1, volatility: NaN, waiting: 0 } }] }],
  ['E_USAGE', { jobs: [{ id: 'a', demand: 1, usage: -1 }] }],
  ['E_USAGE', { jobs: [{ id: 'a', demand: 1, usage: NaN }] }],
])('%s for %j', (code, changes) => {
  const given = { algorithm: 'psfa', maxRate: 100, jobs: [{ id: 'a', demand: 1, usage: 1 }], ...changes }
  expect(allocate(given as AllocationInput)).toMatchObject({ ok: false, error: { code } })
})
