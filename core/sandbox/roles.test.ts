import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bandOf, medianOf, spreadOf } from './band.ts'
import { maxMinShares } from './max-min.ts'
import { rolesOf, type BaselineJob } from './roles.ts'

const job = (jobId: string, more: Partial<BaselineJob>): BaselineJob => ({
  jobId,
  isData: true,
  fairRpcs: 0,
  servedRpcs: 0,
  waitP95Ms: 10,
  ...more,
})

describe('bands', () => {
  it('are medians and percentiles of what was measured, and null where nothing was', () => {
    const values = Array.from({ length: 21 }, (_, i) => i)
    expect(bandOf(values)).toEqual({ median: 10, low: 1, high: 19 })
    expect(bandOf([NaN, 4, NaN, 2])).toEqual({ median: 3, low: 2.1, high: 3.9 })
    expect(bandOf([NaN, Infinity])).toBeNull()
    expect([medianOf([]), spreadOf(null), spreadOf({ median: 0, low: 0, high: 0 })]).toEqual([NaN, NaN, NaN])
    expect(spreadOf({ median: 100, low: 96, high: 104 })).toBeCloseTo(0.04, 12)
  })
})

describe('max-min shares', () => {
  it('fill the small wishes and split the rest by weight', () => {
    expect([...maxMinShares(100, [10, Infinity, Infinity], [1, 1, 2])]).toEqual([10, 30, 60])
    expect([...maxMinShares(100, [10, 20], [1, 1])]).toEqual([10, 20])
    expect([...maxMinShares(0, [10], [1])]).toEqual([0])
  })

  it('share out all of the capacity, or every wish, and none gets more by weight than one that is not filled', () => {
    const case_ = fc.record({
      capacity: fc.integer({ min: 0, max: 100_000 }),
      jobs: fc.array(fc.tuple(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 1, max: 64 })), {
        minLength: 1,
        maxLength: 30,
      }),
    })
    fc.assert(
      fc.property(case_, ({ capacity, jobs }) => {
        const wishes = jobs.map(([w]) => w)
        const shares = maxMinShares(
          capacity,
          wishes,
          jobs.map(([, n]) => n),
        )
        const total = wishes.reduce((a, b) => a + b, 0)
        expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(Math.min(capacity, total), 5)
        const levels = jobs.map(([, n], i) => (shares[i] as number) / n)
        const unfilled = levels.filter((_, i) => (shares[i] as number) < (wishes[i] as number) - 1e-6)
        for (const level of unfilled) expect(level).toBeGreaterThanOrEqual(Math.max(...levels) - 1e-6)
      }),
    )
  })
})

describe('roles', () => {
  const hog = job('4690.hog', { fairRpcs: 2000, servedRpcs: 6000, waitP95Ms: 20 })
  const victim = job('4711.cfd', { fairRpcs: 5000, servedRpcs: 2500, waitP95Ms: 2100 })
  const other = job('4655.vasp', { fairRpcs: 3000, servedRpcs: 1500, waitP95Ms: 900 })

  it('name the job furthest above its fair share, and of those below theirs the one that waits longest', () => {
    expect(rolesOf([other, victim, hog])).toEqual({ hog: '4690.hog', victim: '4711.cfd' })
  })

  it('do not call a job a victim that has all of its share, however long it waits', () => {
    const slow = job('1.slow', { fairRpcs: 10, servedRpcs: 10, waitP95Ms: 60_000 })
    expect(rolesOf([slow, victim, hog])).toEqual({ hog: '4690.hog', victim: '4711.cfd' })
  })

  it('are empty where every job has its share, where one job runs alone, and where nothing runs', () => {
    const none = { hog: undefined, victim: undefined }
    const fair = [job('a', { fairRpcs: 10, servedRpcs: 10 }), job('b', { fairRpcs: 898, servedRpcs: 900 })]
    expect(rolesOf(fair)).toEqual(none)
    expect(rolesOf([job('a', { fairRpcs: 10, servedRpcs: 10 })])).toEqual(none)
    expect(rolesOf([])).toEqual(none)
    expect(rolesOf([job('a', { servedRpcs: NaN }), job('b', { fairRpcs: NaN })])).toEqual(none)
  })

  it('have a hog without a victim where no waiting job is below its share', () => {
    expect(rolesOf([hog, job('a', { fairRpcs: 4000, servedRpcs: 0, waitP95Ms: NaN })])).toEqual({
      hog: '4690.hog',
      victim: undefined,
    })
  })

  it('compare jobs of OSTs with each other, and jobs of metadata where there are no others', () => {
    const storm = job('9.storm', { isData: false, fairRpcs: 40_000, servedRpcs: 80_000 })
    expect(rolesOf([storm, victim, hog]).hog).toBe('4690.hog')
    const quiet = job('8.quiet', { isData: false, fairRpcs: 40_100, servedRpcs: 100, waitP95Ms: 5 })
    expect(rolesOf([storm, quiet])).toEqual({ hog: '9.storm', victim: '8.quiet' })
  })

  it('do not depend on the order of the jobs', () => {
    const one = fc.record({
      fairRpcs: fc.integer({ min: 0, max: 1000 }),
      servedRpcs: fc.integer({ min: 0, max: 1000 }),
      waitP95Ms: fc.integer({ min: 0, max: 1000 }),
    })
    const case_ = fc
      .array(one, { maxLength: 12 })
      .map((all) => all.map((j, i) => job(String(i), j)))
      .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
    fc.assert(
      fc.property(case_, ([all, shuffled]) => {
        expect(rolesOf(shuffled)).toEqual(rolesOf(all))
      }),
    )
  })
})
