import { describe, expect, it } from 'vitest'
import type { JobDemand, Observation } from '../control/controller.ts'
import { randomStream } from '../base/random.ts'
import { AdapTbfController, type AdapTbfOptions } from './controller.ts'
import type { JobMeasure, TargetObservation } from './demand.ts'
import { PERIOD_MAX_NS, PERIOD_MIN_NS } from './period.ts'

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

  it('measures a longer period against the tokens that the rates yield in it', () => {
    const demand = 'saturation'
    const step = (periodNs: number, ...jobs: JobDemand[]): Readonly<Record<string, number>> => {
      const controller = new AdapTbfController({ maxRatePerSec: 1000, demand })
      controller.step({ ...observe(seen('a', 1, 50), seen('b', 1, 50)), periodNs: 1e8 })
      const { allocations, records } = controller.step({ ...observe(...jobs), periodNs })
      expect([...records.values()].reduce((sum, record) => sum + record)).toBe(0)
      return Object.fromEntries(allocations.map((a) => [a.jobId, a.ratePerSec]))
    }
    // 44 of 50 tokens is saturated, 43 is not; so is 89 of 100, and 88 is not.
    expect(step(1e8, seen('a', 1, 44), seen('b', 1, 43))).toEqual({ a: 560, b: 440 })
    expect(step(2e8, seen('a', 1, 89), seen('b', 1, 88))).toEqual({ a: 545, b: 455 })
  })

  it('counts an unknown number of nodes as one', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000 })
    const { allocations } = controller.step(observe(seen('a', undefined, 500), seen('b', 1, 500), seen('c', NaN, 500)))
    expect(tokensOf(allocations)).toEqual({ a: 34, b: 33, c: 33 })
  })

  it('judges a job by the tokens that were in force while its last decision was being written', () => {
    const demandAfterRise = (lag: Observation['lag']): number | undefined => {
      const controller = new AdapTbfController({ maxRatePerSec: 1000 })
      const tokens = [seen('b', 1, 60), seen('b', 1, 100)].map((b) => {
        return tokensOf(controller.step(observe(seen('a', 1, 5), b)).allocations)['a']
      })
      expect(tokens).toEqual([6, 82])
      // Half of the period with 6 tokens and half with 82 permit 44.
      controller.step({ ...observe(seen('a', 1, 45), seen('b', 1, 20)), lag })
      expect(controller.report.lag).toBe(lag)
      return controller.report.demand.get('a')
    }
    expect(demandAfterRise(undefined)).toBe(45)
    expect(demandAfterRise({ ageNs: 1e6, write: undefined })).toBe(45)
    expect(demandAfterRise({ ageNs: 1e6, write: { leastNs: 4e7, mostNs: 6e7 } })).toBe(82 + 8)
  })

  it('infers more demand for a job that used up its tokens, unless demand is `served`', () => {
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

  it('omits uncountable entries and adds up duplicates', () => {
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

  it('has nothing to allocate without active jobs', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000 })
    expect(controller.step(observe())).toMatchObject({ budget: 100, allocations: [] })
  })

  it('refuses to be built without a rate', () => {
    expect(() => new AdapTbfController({ maxRatePerSec: 0 })).toThrow('above 0')
  })
})

/** Periods of 100 ms, starting at 5 s. */
const observeAt = (period: number, ...jobs: JobMeasure[]): TargetObservation => ({
  ...observe(),
  atNs: 5e9 + period * 1e8,
  jobs,
})

describe('a period that cannot be evaluated', () => {
  const lend = (controller: AdapTbfController): void => {
    controller.step(observeAt(1, seen('a', 1, 5), seen('b', 2, 200)))
  }

  it.each([0, -1e8, NaN, Infinity, PERIOD_MIN_NS - 1, PERIOD_MAX_NS + 1])('is held: one of %d ns', (periodNs) => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000 })
    lend(controller)
    const before = controller.save()
    const { allocations, records } = controller.step({ ...observeAt(2, seen('a', 1, 90)), periodNs })
    expect(controller.report.held).toMatchObject({ code: 'BAD_PERIOD' })
    expect(allocations.map(({ jobId, tokens, recordDelta }) => [jobId, tokens, recordDelta])).toEqual([
      ['b', 94, 0],
      ['a', 6, 0],
    ])
    expect(records.get('a')).toBe(27)
    expect(controller.save().allocator).toEqual(before.allocator)
  })

  it('takes both ends of the range', () => {
    for (const periodNs of [PERIOD_MIN_NS, PERIOD_MAX_NS]) {
      const controller = new AdapTbfController({ maxRatePerSec: 1000 })
      const decision = controller.step({ ...observeAt(1, seen('a', 1, 90)), periodNs })
      expect(controller.report.held).toBeUndefined()
      expect(decision.allocations[0]?.ratePerSec).toBe(1000)
    }
  })

  it('is held for one period when the clock goes back, then judged by the new clock', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000 })
    lend(controller)
    controller.step(observeAt(-30, seen('a', 1, 90)))
    expect(controller.report.held).toMatchObject({ code: 'CLOCK_BACKWARDS' })
    controller.step(observeAt(NaN, seen('a', 1, 90)))
    expect(controller.report.held).toMatchObject({ code: 'CLOCK_BACKWARDS' })
    controller.step(observeAt(-29, seen('a', 1, 90)))
    expect(controller.report.held).toBeUndefined()
  })

  it('is held when nothing was observed, and the next one continues from it', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    const untouched = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    for (const c of [controller, untouched]) lend(c)
    expect(tokensOf(controller.hold('demo-OST0000', 5.2e9).allocations)).toEqual({ a: 6, b: 94 })
    expect(controller.report.held).toMatchObject({ code: 'NOT_OBSERVED' })
    const next = observeAt(3, seen('a', 1, 50), seen('b', 2, 100))
    expect(controller.step(next)).toEqual(untouched.step(next))
  })

  it('resets utilization when the rules were not in force', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    lend(controller)
    controller.forgetTokens()
    const fresh = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    const next = observeAt(2, seen('c', 1, 5), seen('d', 2, 200))
    expect(tokensOf(controller.step(next).allocations)).toEqual(tokensOf(fresh.step(next).allocations))
  })
})

describe('report', () => {
  it('names jobs without nodes, counts substituted measures, and gives the demand', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'backlog' })
    controller.step(
      observeAt(1, { ...seen('a', 3, 10), dispatched: 12, queued: 5 }, seen('b', undefined, 7), seen('c', NaN, 1)),
    )
    const { unmapped, substituted, demand } = controller.report
    expect({ unmapped, substituted, demand: Object.fromEntries(demand) }).toEqual({
      unmapped: ['b', 'c'],
      substituted: 2,
      demand: { a: 17, b: 7, c: 1 },
    })
  })

  it('counts a job that only waits, and one that is listed twice once', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'backlog' })
    const { allocations } = controller.step(
      observeAt(
        1,
        { ...seen('waits', 1, 0), dispatched: 0, queued: 9 },
        { ...seen('twice', undefined, 2), dispatched: 3, queued: 4 },
        { ...seen('twice', 1, 1), dispatched: 1, queued: 2 },
      ),
    )
    expect(tokensOf(allocations)).toEqual({ waits: 47, twice: 53 })
    expect(controller.report.demand.get('twice')).toBe(10)
    expect(controller.report.unmapped).toEqual([])
  })

  it('reports lenders and borrowers', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    controller.step(observeAt(1, seen('a', 1, 5), seen('b', 2, 200)))
    expect(controller.report.moves).toEqual([{ lender: 'a', borrower: 'b', lent: 27, reclaimed: 0 }])
    controller.step(observeAt(2, seen('a', 1, 50), seen('b', 2, 100)))
    expect(controller.report.moves).toEqual([{ lender: 'a', borrower: 'b', lent: 0, reclaimed: 27 }])
    expect(controller.pairs.totals('a')).toEqual({ lent: 27, reclaimed: 27, borrowed: 0, repaid: 0 })
  })
})

describe('extensions', () => {
  const stream = (period: number, queued: number): TargetObservation =>
    observeAt(period, { ...seen('a', 1, 10), queued: 0 }, { ...seen('b', 1, 90), queued })

  it('overdraft raises rates and nothing else', () => {
    const plain = new AdapTbfController({ maxRatePerSec: 1000, demand: 'backlog' })
    const over = new AdapTbfController({ maxRatePerSec: 1000, demand: 'backlog', overdraft: 1 })
    for (const c of [plain, over]) c.step(stream(1, 40))
    const observation = observeAt(2, { ...seen('a', 1, 1), queued: 0 }, { ...seen('b', 1, 90), queued: 40 })
    const without = plain.step(observation)
    const with1 = over.step(observation)
    expect(with1.allocations.map((a) => ({ ...a, ratePerSec: 0 }))).toEqual(
      without.allocations.map((a) => ({ ...a, ratePerSec: 0 })),
    )
    const extra = over.report.overdraft.get('b') ?? 0
    expect(extra).toBeGreaterThan(0)
    const rateOf = (d: typeof without): number => d.allocations.find(({ jobId }) => jobId === 'b')!.ratePerSec
    expect(rateOf(with1)).toBe(rateOf(without) + 10 * extra)
    expect(plain.report.overdraft.size).toBe(0)
  })

  it('autoT adapts to the device, but not to 0 when it hangs', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'backlog', autoT: true })
    for (let period = 1; period <= 100; period++) controller.step({ ...stream(period, 40), deviceBusy: 1 })
    expect(controller.maxRatePerSec).toBeCloseTo(1000, 0)
    for (let period = 101; period <= 300; period++) {
      controller.step({ ...observeAt(period, { ...seen('a', 1, 0), queued: 8 }), deviceBusy: 1 })
    }
    expect(controller.maxRatePerSec).toBe(100)
    const without = new AdapTbfController({ maxRatePerSec: 1000, demand: 'backlog' })
    for (let period = 1; period <= 9; period++) without.step({ ...stream(period, 40), deviceBusy: 1 })
    expect(without.maxRatePerSec).toBe(1000)
  })

  it.each<[string, Partial<AdapTbfOptions>]>([
    ['BAD_RATE', { maxRatePerSec: 0 }],
    ['BAD_RATE', { maxRatePerSec: -1 }],
    ['BAD_RATE', { maxRatePerSec: NaN }],
    ['BAD_RATE', { maxRatePerSec: Infinity }],
    ['BAD_DEMAND_MEASURE', { demand: 'guess' as 'served' }],
    ['BAD_COEFFICIENT', { coefficient: 'mean' as 'min' }],
    ['BAD_OVERDRAFT', { overdraft: 1.5 }],
    ['BAD_OVERDRAFT', { overdraft: NaN }],
  ])('refuses as a value: %s of %o', (code, options) => {
    expect(AdapTbfController.create({ maxRatePerSec: 1000, ...options })).toMatchObject({ ok: false, error: { code } })
  })
})

describe('saved and restored', () => {
  const options: AdapTbfOptions = { maxRatePerSec: 1000, demand: 'backlog', autoT: true }
  const jobs = (draw: ReturnType<typeof randomStream>): JobMeasure[] =>
    ['a', 'b', 'c', 'd', '__proto__'].map((jobId, i) => ({
      ...seen(jobId, i + 1, draw.below(60)),
      queued: draw.below(3) === 0 ? draw.below(9) : 0,
    }))

  it('continues as if the console had not been restarted', () => {
    const draw = randomStream(5, 'restart')
    const untouched = new AdapTbfController(options)
    let restarted = new AdapTbfController(options)
    for (let period = 1; period <= 200; period++) {
      const observation = { ...observeAt(period, ...jobs(draw)), deviceBusy: draw.uniform() }
      expect(restarted.step(observation)).toEqual(untouched.step(observation))
      expect(restarted.report.moves).toEqual(untouched.report.moves)
      if (period % 7 !== 0) continue
      const restored = AdapTbfController.restore(JSON.parse(JSON.stringify(restarted.save())), options)
      if (!restored.ok) throw new Error(restored.error.why)
      restarted = restored.value
      expect(restarted.save()).toEqual(untouched.save())
    }
    expect(untouched.maxRatePerSec).not.toBe(1000)
  })

  interface Saved {
    maxRatePerSec: number
    last: { budget: number; allocations: object[] }
    allocator: { jobs: Record<string, unknown>[] }
    pairs: { jobs: object[]; pairs: object[] }
  }
  const saved = (): Saved => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    controller.step(observeAt(1, seen('a', 1, 5), seen('b', 2, 200)))
    return JSON.parse(JSON.stringify(controller.save())) as Saved
  }
  const a = 0
  const b = 1
  it.each<[string, (s: Saved) => unknown]>([
    ['nothing', () => null],
    ['text', () => 'records'],
    ['another version', (s) => ({ ...s, version: 0 })],
    ['no rate', (s) => ({ ...s, maxRatePerSec: 0 })],
    ['no last allocation', (s) => ({ ...s, last: undefined })],
    ['a last allocation without rates', (s) => ({ ...s, last: { ...s.last, allocations: [{ jobId: 'a' }] } })],
    [
      'a last allocation that no rule takes',
      (s) => ({ ...s, last: { ...s.last, allocations: [{ ...s.last.allocations[0], ratePerSec: 0 }] } }),
    ],
    ['jobs that are no list', (s) => ({ ...s, allocator: { version: 1, jobs: {} } })],
    ['a record that is no number', (s) => (Object.assign(s.allocator.jobs[a]!, { record: '27' }), s)],
    ['records that do not sum to 0', (s) => (Object.assign(s.allocator.jobs[a]!, { record: 28 }), s)],
    ['a remainder beyond all jobs', (s) => (Object.assign(s.allocator.jobs[a]!, { rho: 3 }), s)],
    ['remainders that do not sum to 0', (s) => (Object.assign(s.allocator.jobs[a]!, { rho: 1.9 }), s)],
    ['a job twice', (s) => (Object.assign(s.allocator.jobs[b]!, { id: s.allocator.jobs[a]!.id }), s)],
    ['tokens below 0', (s) => (Object.assign(s.allocator.jobs[a]!, { tokens: -1 }), s)],
    ['records without pairs', (s) => ({ ...s, pairs: { version: 1, jobs: [], pairs: [] } })],
    ['pairs without records', (s) => ({ ...s, allocator: { version: 1, jobs: [] } })],
  ])('refuses %s', (_, spoil) => {
    expect(AdapTbfController.restore(saved(), options).ok).toBe(true)
    expect(AdapTbfController.restore(spoil(saved()), options)).toMatchObject({
      ok: false,
      error: { code: 'BAD_STATE' },
    })
  })

  it('refuses options before it looks at the state', () => {
    expect(AdapTbfController.restore(saved(), { maxRatePerSec: 0 })).toMatchObject({ error: { code: 'BAD_RATE' } })
  })
})
