import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'
import { EnforcementObject, type Lot } from './enforcement-object.ts'
import { type BucketOptions, TokenBucket, usableRate, usableRefill } from './token-bucket.ts'

const PERIOD = 10 * NS_PER_MS
const PARTIAL: BucketOptions = { spend: 'partial', drift: false }
const SPENDS_WHOLE: BucketOptions = { spend: 'whole', drift: false }

interface Release {
  readonly ticket: number
  readonly atNs: number
}

/** An object that records its releases, operation by operation. */
function drl(rate: number, periodNs: number, options: BucketOptions) {
  const releases: Release[] = []
  let earliestNs = 0
  const onRelease = (lot: Lot, count: number, atNs: number): void => {
    if (atNs < earliestNs) throw new Error(`released at ${atNs}, when it was ${earliestNs} already`)
    for (let i = 0; i < count; i++) releases.push({ ticket: lot.ticket, atNs })
  }
  const of = { channel: 1, object: 1, scope: 'open' } as const
  const object = new EnforcementObject(of, new TokenBucket(0, rate, periodNs, options), onRelease)
  const flow = { waited: 0, waitNs: 0, longestNs: 0 }
  const arrive = (ticket: number, nowNs: number, count = 1, cost = 1): void => {
    object.advance(nowNs)
    const passed = object.arrive(nowNs, count, cost)
    for (let i = 0; i < passed; i++) releases.push({ ticket, atNs: nowNs })
    if (passed < count) object.wait({ ticket, flow, cost, arrivedNs: nowNs, count: count - passed, paid: 0 })
  }
  /** Time never goes back: releases from here on are now or later. */
  const setNow = (nowNs: number): void => {
    earliestNs = nowNs
  }
  return { object, releases, arrive, flow, setNow }
}

describe('the published bucket: drl 10000 20000', () => {
  it('holds 200 tokens and is set back to 200 every 10 ms, whatever was left', () => {
    const { releases, arrive } = drl(20_000, PERIOD, SPENDS_WHOLE)
    arrive(1, 0, 150)
    arrive(2, 5 * NS_PER_MS, 50)
    arrive(3, 25 * NS_PER_MS, 201)
    expect(releases.filter((r) => r.ticket < 3)).toHaveLength(200)
    expect(releases.filter((r) => r.ticket === 3)).toHaveLength(200)
  })

  it('takes what costs more in slices of 200: ceil(n / 200) refills from an empty bucket', () => {
    for (const options of [SPENDS_WHOLE, PARTIAL]) {
      for (const [cost, refills] of [
        [200, 1],
        [201, 2],
        [500, 3],
        [1_000_000, 5000],
      ] as const) {
        const { object, releases, arrive } = drl(20_000, PERIOD, options)
        arrive(1, 0, 200)
        arrive(2, 1, 1, cost)
        object.advance(3600 * NS_PER_S)
        expect([cost, releases.at(-1)]).toEqual([cost, { ticket: 2, atNs: refills * PERIOD }])
      }
    }
  })

  it('serves the nominal rate on the grid, and 19,463 op/s where it drifts as upstream was measured to', () => {
    for (const [drift, served] of [
      [false, 20_000],
      [true, 19_463],
    ] as const) {
      const { object, releases, arrive } = drl(20_000, PERIOD, { spend: 'whole', drift })
      arrive(1, 0, 300_000)
      object.advance(10 * NS_PER_S)
      expect(Math.abs(releases.length / 10 - served)).toBeLessThan(25)
    }
  })
})

describe('rates whose capacity is no whole number', () => {
  it('let an operation go at once that lacks no more than a rounding error', () => {
    const { object, releases, arrive } = drl(100 * (1 - 1e-12), PERIOD, PARTIAL)
    expect(object.bucket?.capacity).toBeLessThan(1)
    expect(object.arrive(0, 1, 1)).toBe(1)
    arrive(1, PERIOD, 1)
    expect(releases).toEqual([{ ticket: 1, atNs: PERIOD }])
    expect(object.isIdle).toBe(true)
  })

  it.each([1, 7, 99, 150, 250, 333, 12_345])('serves %i op/s while requests wait', (rate) => {
    const { object, releases, arrive } = drl(rate, PERIOD, PARTIAL)
    arrive(1, 0, 100 * rate)
    object.advance(50 * NS_PER_S)
    expect(Math.abs(releases.length - 50 * rate - rate / 100)).toBeLessThanOrEqual(1)
  })

  it('loses what does not fit where whole operations are taken, as upstream does', () => {
    for (const [rate, served] of [
      [150, 100],
      [99, 50],
    ] as const) {
      const { object, releases, arrive } = drl(rate, PERIOD, SPENDS_WHOLE)
      arrive(1, 0, 100_000)
      object.advance(100 * NS_PER_S)
      expect(Math.abs(releases.length / 100 - served)).toBeLessThan(0.1)
    }
  })
})

type Step =
  | { kind: 'arrive'; afterNs: number; count: number; cost: number }
  | { kind: 'advance'; afterNs: number }
  | { kind: 'rate'; afterNs: number; rate: number }
  | { kind: 'refill'; afterNs: number; periodNs: number }

const afterNs = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 * NS_PER_MS }), fc.constant(PERIOD))
const rate = fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.constantFrom(1, 50, 99, 100, 150, 20_000))
const cost = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 60 }))
const arrivals = fc.record({
  kind: fc.constant('arrive' as const),
  afterNs,
  count: fc.integer({ min: 1, max: 40 }),
  cost,
})
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: arrivals },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance' as const), afterNs }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rate' as const), afterNs, rate }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('refill' as const),
      afterNs,
      periodNs: fc.constantFrom(PERIOD, 3_000_000),
    }),
  },
)

/** Reference by the rules of spec/padll 1.6, one operation, one refill and one event at a time. */
function oracle(steps: readonly Step[], rate0: number, spendsWhole: boolean, endNs: number): Release[] {
  const releases: Release[] = []
  const queue: { ticket: number; need: number; cost: number }[] = []
  let rateNow = rate0
  let period = PERIOD
  let now = 0
  let ticket = 0
  let capacity = (rateNow * period) / NS_PER_S
  let tokens = capacity
  let deadline = period
  const serve = (): void => {
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      const slice = Math.min(first.need, capacity)
      if (spendsWhole && tokens < slice - 1e-9) return
      const taken = Math.min(tokens, first.need)
      tokens -= taken
      first.need -= taken
      if (first.need > 1e-9 * first.cost) {
        if (tokens <= 1e-12 || !spendsWhole) return
      } else {
        releases.push({ ticket: first.ticket, atNs: now })
        queue.shift()
      }
    }
  }
  const until = (t: number): void => {
    while (deadline <= t) {
      now = deadline
      tokens = capacity
      deadline += period
      serve()
    }
    now = t
  }
  for (const s of steps) {
    until(now + s.afterNs)
    if (s.kind === 'arrive') {
      ticket++
      for (let i = 0; i < s.count; i++) queue.push({ ticket, need: s.cost, cost: s.cost })
    } else if (s.kind === 'rate') rateNow = s.rate
    else if (s.kind === 'refill') {
      period = s.periodNs
      deadline = Math.min(deadline, now + period)
    }
    capacity = (rateNow * period) / NS_PER_S
    tokens = Math.min(tokens, capacity)
    serve()
  }
  until(endNs)
  return releases
}

function played(steps: readonly Step[], rate0: number, options: BucketOptions, fine: boolean) {
  const one = drl(rate0, PERIOD, options)
  let now = 0
  let ticket = 0
  const to = (t: number): void => {
    while (fine && one.object.wakeAtNs <= t) one.object.advance(one.object.wakeAtNs)
    now = t
    if (fine) one.setNow(now)
  }
  for (const s of steps) {
    to(now + s.afterNs)
    if (s.kind === 'arrive') one.arrive(++ticket, now, s.count, s.cost)
    else if (s.kind === 'advance') one.object.advance(now)
    else if (s.kind === 'rate') one.object.command({ channel: 1, object: 1, rate: s.rate }, now)
    else one.object.command({ channel: 1, object: 1, refillNs: s.periodNs }, now)
  }
  const endNs = now + 2 * NS_PER_S
  to(endNs)
  one.object.advance(endNs)
  return { ...one, endNs }
}

describe('an object', () => {
  const steps = fc.array(anyStep, { maxLength: 30 })

  it('releases each operation when the rules say, however coarse its steps are', () => {
    fc.assert(
      fc.property(steps, rate, fc.boolean(), fc.boolean(), (all, rate0, spendsWhole, fine) => {
        const { releases, endNs } = played(all, rate0, spendsWhole ? SPENDS_WHOLE : PARTIAL, fine)
        expect(releases).toEqual(oracle(all, rate0, spendsWhole, endNs))
      }),
      { numRuns: 300 },
    )
  })

  it('releases in order of arrival, loses no request, and counts as it releases', () => {
    fc.assert(
      fc.property(steps, rate, fc.boolean(), fc.boolean(), (all, rate0, spendsWhole, drift) => {
        const { object, releases, flow } = played(all, rate0, { spend: spendsWhole ? 'whole' : 'partial', drift }, true)
        for (const [i, r] of releases.entries()) {
          const before = releases[i - 1] ?? r
          expect(r.ticket).toBeGreaterThanOrEqual(before.ticket)
          expect(r.atNs).toBeGreaterThanOrEqual(before.atNs)
        }
        const costs = all.filter((s) => s.kind === 'arrive')
        const served = releases.reduce((sum, r) => sum + (costs[r.ticket - 1]?.cost ?? NaN), 0)
        const counts = object.collect()
        expect(counts).toMatchObject({ served, arrived: served + counts.queued, throttledNs: flow.waitNs })
        expect(counts.arrived).toBe(costs.reduce((sum, s) => sum + s.count * s.cost, 0))
        expect(counts.waited).toBeLessThanOrEqual(served)
        expect(object.collect()).toMatchObject({
          served: 0,
          arrived: 0,
          waited: 0,
          queued: counts.queued,
          throttledNs: 0,
        })
      }),
    )
  })

  it('never takes more than one capacity in a period of the grid', () => {
    fc.assert(
      fc.property(fc.array(arrivals, { maxLength: 40 }), rate, fc.boolean(), (all, rate0, spendsWhole) => {
        const { releases } = played(all, rate0, spendsWhole ? SPENDS_WHOLE : PARTIAL, false)
        const capacity = (rate0 * PERIOD) / NS_PER_S
        const most = Math.max(0, ...all.map((s) => s.cost))
        // Served over any run of periods; the first one's releases may have been paid for earlier.
        const bySlot = new Map<number, number>()
        for (const r of releases) {
          const slot = Math.floor(r.atNs / PERIOD)
          bySlot.set(slot, (bySlot.get(slot) ?? 0) + (all[r.ticket - 1]?.cost ?? NaN))
        }
        const slots = [...bySlot.keys()]
        const allowed = (n: number): number => n * capacity + (spendsWhole && most <= capacity ? 0 : most) + 1e-6
        for (const [i, from] of slots.entries()) {
          let sum = 0
          for (const to of slots.slice(i)) {
            sum += bySlot.get(to) as number
            expect(sum).toBeLessThanOrEqual(allowed(to - from + 1))
          }
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe('a new rate', () => {
  it('takes tokens over the new capacity away and gives none before the next refill', () => {
    const bucket = new TokenBucket(0, 20_000, PERIOD, PARTIAL)
    bucket.setRate(1, 5000)
    expect(bucket.tokens).toBe(50)
    bucket.setRate(2, 40_000)
    expect([bucket.tokens, bucket.capacity]).toEqual([50, 400])
    expect(bucket.takeMany(PERIOD - 1, 1000, 1)).toBe(50)
    expect(bucket.takeMany(PERIOD, 1000, 1)).toBe(400)
  })

  it('releases nothing in the past if a shorter period is polled more often', () => {
    const { object, releases, arrive, setNow } = drl(20_000, PERIOD, { spend: 'whole', drift: true })
    arrive(1, 0, 200)
    arrive(2, 50_000)
    const late = 10_320_000
    object.advance(late)
    setNow(late)
    object.command({ channel: 1, object: 1, refillNs: 3 * NS_PER_MS }, late)
    expect(releases.at(-1)).toEqual({ ticket: 2, atNs: late })
  })

  it('is not put off by changes that never end', () => {
    const { object, releases, arrive } = drl(100, NS_PER_S, PARTIAL)
    arrive(1, 0, 1000)
    for (let i = 1; i <= 2000; i++) {
      object.command({ channel: 1, object: 1, refillNs: NS_PER_S - (i & 1), rate: 100 + (i & 1) }, i * 5 * NS_PER_MS)
    }
    expect(releases.length).toBeGreaterThan(900)
  })
})

describe('bad input', () => {
  it('takes 0 for the floor of 1 op/s, and nothing that is no rate', () => {
    expect(usableRate(0)).toEqual({ ok: true, value: 1 })
    expect(usableRate(0.5)).toEqual({ ok: true, value: 1 })
    for (const bad of [-1, NaN, Infinity, -Infinity, 1e300]) {
      expect(usableRate(bad)).toMatchObject({ ok: false, error: { code: 'E_RATE' } })
    }
  })

  it('takes no refill period that would spin or never end', () => {
    for (const bad of [0, -1, NaN, Infinity, 1, 0.5, PERIOD + 0.5, 1e15]) {
      expect(usableRefill(bad)).toMatchObject({ ok: false, error: { code: 'E_REFILL' } })
    }
    expect(usableRefill(PERIOD).ok).toBe(true)
  })

  it('changes nothing where one of two settings is bad', () => {
    const { object } = drl(100, PERIOD, PARTIAL)
    expect(object.command({ channel: 1, object: 1, rate: 5, refillNs: NaN }, 0).ok).toBe(false)
    expect(object.command({ channel: 1, object: 1, rate: NaN, refillNs: 2 * PERIOD }, 0).ok).toBe(false)
    expect([object.bucket?.rate, object.bucket?.periodNs]).toEqual([100, PERIOD])
  })
})
