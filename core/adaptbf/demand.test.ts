import { describe, expect, it } from 'vitest'
import { DEMAND_MEASURES } from '../controllers/settings.ts'
import { type DemandCounts, demandOf, isMeasured, tokensInForce } from './demand.ts'

const full: DemandCounts = { served: 40, dispatched: 42, arrivals: 45, queued: 9 }
const all = (counts: DemandCounts, previous?: number): Record<string, number> =>
  Object.fromEntries(DEMAND_MEASURES.map((measure) => [measure, demandOf(measure, counts, previous)]))

describe('demandOf', () => {
  it('counts by the named measure', () => {
    expect(all(full, 100)).toEqual({ served: 40, dispatched: 42, arrivals: 45, backlog: 51, saturation: 40 })
  })

  it('uses served for missing counts, and reports so', () => {
    expect(all({ served: 40 }, 100)).toEqual({ served: 40, dispatched: 40, arrivals: 40, backlog: 40, saturation: 40 })
    const measured = DEMAND_MEASURES.filter((measure) => isMeasured(measure, { served: 40 }))
    expect(measured).toEqual(['served', 'saturation'])
    expect(DEMAND_MEASURES.every((measure) => isMeasured(measure, full))).toBe(true)
  })

  it.each([
    // 90 % of the tokens, minus one
    [44, 50, 58],
    [43, 50, 43],
    // more than the tokens: a bucket was full
    [53, 50, 61],
    // without a rule in the last period, nothing is inferred
    [44, undefined, 44],
    // a job without served RPCs did not use up its tokens, however few they were
    [0, 1, 0],
  ])('infers from %d served of %s tokens a demand of %d', (served, previous, demand) => {
    expect(demandOf('saturation', { served }, previous)).toBe(demand)
  })
})

describe('tokensInForce', () => {
  const within = (leastNs: number, mostNs: number): Parameters<typeof tokensInForce>[2] => ({
    periodNs: 1e8,
    lag: { ageNs: 1e6, write: { leastNs, mostNs } },
  })

  it('are those of the last decision if nothing was written in the period, and for a job that had no rule before', () => {
    expect(tokensInForce(40, 10, { periodNs: 1e8 })).toBe(40)
    expect(tokensInForce(40, 10, { periodNs: 1e8, lag: { ageNs: 9e7, write: undefined } })).toBe(40)
    expect(tokensInForce(40, undefined, within(2e7, 4e7))).toBe(40)
  })

  it('are those of the decision before until the middle of the write', () => {
    expect(tokensInForce(40, 10, within(2e7, 4e7))).toBeCloseTo(31, 12)
    expect(tokensInForce(40, 10, within(0, 0))).toBe(40)
    expect(tokensInForce(40, 10, within(1e8, 3e8))).toBe(10)
  })
})
