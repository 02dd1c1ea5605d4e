import { describe, expect, it } from 'vitest'
import { DEMAND_MEASURES } from '../controllers/settings.ts'
import { type DemandCounts, demandOf, isMeasured } from './demand.ts'

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
