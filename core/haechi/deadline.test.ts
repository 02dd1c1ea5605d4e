import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '../base/units.ts'
import { type Owed, poolWindow, releasable, reservedWindow } from './deadline.ts'
import { HaechiEval } from './eval.ts'
import { finishingTime, tokenShares } from './fluid.ts'
import { PAPER_PROFILE } from './settings.ts'

const equal = (tokens: readonly number[]): Owed[] => tokens.map((of) => ({ tokens: of, weight: 1 }))
const claimants = (count: number, weight = 1): { count: number; weight: number } => ({ count, weight })

describe('windows', () => {
  it('are in proportion to the reservation, between one and Q', () => {
    expect([285_000, 80_000, 400_000, 500_000, 1, 0].map((r) => reservedWindow(64, r, 400_000))).toEqual([
      46, 13, 64, 64, 1, 1,
    ])
  })

  it('are Q where the capacity of a client is not known, and an eighth of it for the pool', () => {
    expect(reservedWindow(64, 1, undefined)).toBe(64)
    expect([64, 8, 2].map(poolWindow)).toEqual([8, 1, 1])
  })
})

describe('the tokens that can be released', () => {
  // 10 clients at 100 I/O/s each finish 50 in 0.5 s; 400 tokens of 8 claimants take 0.4 s of the node.
  const small = { globalIops: 1000, localIops: 1000 }
  it('are what the node can do beside what is owed', () => {
    expect(releasable(equal([50, 50]), claimants(8), NS_PER_S, small)).toBe(Infinity)
    expect(releasable(equal([100, 100]), claimants(8), NS_PER_S, small)).toBe(Infinity)
    // Ten busy clients would take 1.2 s for 120 each: the claimants get what they do in the 0.95 s that are needed beyond 240.
    const most = releasable(equal([120, 120]), claimants(8), NS_PER_S, small)
    expect(most).toBeGreaterThan(750)
    expect(most).toBeLessThanOrEqual(760)
  })

  it('are none while nobody claims any, or if the reservations do not finish alone', () => {
    expect(releasable(equal([120]), claimants(0), NS_PER_S, small)).toBe(0)
    expect(releasable(equal([600, 600]), claimants(1), NS_PER_S, small)).toBe(0)
    expect(releasable([], claimants(1), 0, small)).toBe(Infinity)
  })

  it('are none for Experiment 3 under equal windows: its reservations take 1.022 s', () => {
    const reservations = [...Array<number>(3).fill(285_000), ...Array<number>(7).fill(80_000)]
    expect(finishingTime(reservations, PAPER_PROFILE) / NS_PER_S).toBeCloseTo(1.0221, 4)
    expect(releasable(equal(reservations), claimants(1), NS_PER_S, PAPER_PROFILE)).toBe(0)
    const weighted = reservations.map((tokens) => ({
      tokens,
      weight: reservedWindow(64, tokens, PAPER_PROFILE.localIops),
    }))
    expect(releasable(weighted, claimants(1, 8), NS_PER_S, PAPER_PROFILE)).toBeGreaterThan(0)
  })

  const tokens = fc.array(fc.integer({ min: 1, max: 300_000 }), { minLength: 1, maxLength: 12 })
  const ns = fc.integer({ min: 1e6, max: 1e9 })

  it('never delay what is owed beyond the deadline, in the fluid model of equal shares', () => {
    fc.assert(
      fc.property(tokens, fc.integer({ min: 1, max: 12 }), ns, (owed, count, remaining) => {
        const most = releasable(equal(owed), claimants(count), remaining, PAPER_PROFILE)
        fc.pre(most > 0)
        const reservations = [...owed, ...Array<number>(count).fill(0)]
        const each = Math.min(most, 1e9) / count
        const demands = [...owed, ...Array<number>(count).fill(each)]
        const { done } = tokenShares(reservations, demands, Math.min(most, 1e9), PAPER_PROFILE, remaining)
        owed.forEach((wanted, i) => expect(done[i]!).toBeGreaterThanOrEqual(wanted - 0.01))
      }),
    )
  })

  it('become fewer when more is owed, time passes, or there is less capacity', () => {
    const weight = fc.integer({ min: 1, max: 64 })
    const some = fc.array(fc.record({ tokens: fc.integer({ min: 1, max: 300_000 }), weight }), {
      minLength: 1,
      maxLength: 8,
    })
    fc.assert(
      fc.property(
        some,
        fc.integer({ min: 1, max: 8 }),
        weight,
        ns,
        fc.double({ min: 0.1, max: 1, noNaN: true }),
        (owed, count, of, remaining, part) => {
          const rivals = claimants(count, of)
          const most = releasable(owed, rivals, remaining, PAPER_PROFILE)
          const bound = most === Infinity ? Infinity : most + count
          const more = owed.map((one, i) => (i === 0 ? { ...one, tokens: one.tokens * 2 } : one))
          expect(releasable(more, rivals, remaining, PAPER_PROFILE)).toBeLessThanOrEqual(bound)
          expect(releasable(owed, rivals, remaining * part, PAPER_PROFILE)).toBeLessThanOrEqual(bound)
          const less = { globalIops: PAPER_PROFILE.globalIops * part, localIops: PAPER_PROFILE.localIops * part }
          expect(releasable(owed, rivals, remaining, less)).toBeLessThanOrEqual(bound)
        },
      ),
    )
  })
})

describe('the machine interface', () => {
  const answer = (op: string, input: object): unknown =>
    JSON.parse(new HaechiEval().answer(JSON.stringify({ op, in: input }))) as unknown

  it('answers windows and the release, null for no bound', () => {
    const node = { CG: 1000, CL: 1000, T_ns: NS_PER_S, t_ns: 0, Q: 8 }
    // Owed alone: v = 125 at weights 5 takes 0.625 s. A claimant of weight 1 adds 1 ms for each of its I/Os: 75 of them, to one.
    const late = { ...node, t_ns: 0.3 * NS_PER_S, R: [500, 125, 0], residuals: [500, 125, 0] }
    expect(answer('release', late)).toEqual({ windows: [4, 1, 1], release: 74 })
    expect(answer('release', { ...node, R: [10, 0], residuals: [10, 0] })).toEqual({ windows: [1, 1], release: null })
    expect(answer('release', { ...node, R: [10], residuals: [10, 0] })).toHaveProperty('error')
  })

  it('answers a learnt capacity, and keeps it without a measurement', () => {
    const state = { omega: 5000, W: [5000], M: 3, eta: 100 }
    expect(answer('capacity_learn', { state, measured: 4000 })).toEqual({
      state: { ...state, omega: 4000, W: [4000] },
      action: 'average',
    })
    expect(answer('capacity_learn', { state })).toEqual({ state, action: 'keep' })
  })
})
