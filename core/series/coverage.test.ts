import fc from 'fast-check'
import { expect, it } from 'vitest'
import { coverage, COVERAGE_REASONS, shareOfAll, type CoverageFacts, type OperationCoverage } from './coverage.ts'

const one = (jobs: number | undefined, target: number | undefined, facts?: CoverageFacts): OperationCoverage => {
  const map = (n: number | undefined): Map<string, number> => new Map(n === undefined ? [] : [['write', n]])
  return coverage(map(jobs), map(target), facts)[0] as OperationCoverage
}

it('is the share of what the target did that its jobs did', () => {
  expect(one(100, 100)).toMatchObject({ share: 1, surplus: 0, reasons: [] })
  expect(one(75, 100)).toMatchObject({ share: 0.75, surplus: 0, reasons: ['NO_JOB_ID'] })
  expect(one(undefined, 100)).toMatchObject({ jobs: 0, share: 0, reasons: ['NO_JOB_ID'] })
})

it('names expiry only where entries are gone, and operations that jobs never have', () => {
  expect(one(75, 100, { entriesGone: 2 }).reasons).toEqual(['NO_JOB_ID', 'EXPIRED'])
  expect(one(0, 100, { countedByJob: new Set(['read']) }).reasons).toEqual(['NOT_COUNTED'])
})

it('never says more than all, and shows what is beyond it', () => {
  expect(one(120, 100)).toMatchObject({ share: 1, surplus: 20, reasons: ['NOT_AT_ONCE'] })
  expect(one(5, undefined)).toMatchObject({ share: undefined, surplus: 5, reasons: ['NOT_AT_ONCE'] })
})

it('says nothing of a target that did nothing, or whose counters were cleared', () => {
  expect(one(0, 0)).toMatchObject({ share: undefined, surplus: 0, reasons: [] })
  expect(one(10, -5)).toMatchObject({ share: undefined, surplus: 0, reasons: ['TARGET_RESET'] })
})

it('lets no surplus of one operation make up for another', () => {
  const ops = coverage(
    new Map([
      ['read', 150],
      ['write', 50],
    ]),
    new Map([
      ['read', 100],
      ['write', 100],
      ['sync', -1],
    ]),
  )
  expect(ops.map((o) => o.name)).toEqual(['read', 'write', 'sync'])
  expect(shareOfAll(ops)).toBe(0.75)
  expect(shareOfAll([])).toBeUndefined()
})

it('stays between nothing and all, with a reason for whatever is not whole', () => {
  const amounts = fc
    .dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(1000))
    .map((o) => new Map(Object.entries(o)))
  fc.assert(
    fc.property(amounts, amounts, (jobs, target) => {
      const ops = coverage(jobs, target)
      for (const o of ops) {
        if (o.share !== undefined) expect(o.share >= 0 && o.share <= 1).toBe(true)
        if ((o.share ?? 1) < 0.999 || o.surplus > 0) expect(o.reasons.length).toBeGreaterThan(0)
        for (const r of o.reasons) expect(COVERAGE_REASONS[r]).not.toBe('')
      }
      const all = shareOfAll(ops)
      if (all !== undefined) expect(all >= 0 && all <= 1).toBe(true)
    }),
  )
})
