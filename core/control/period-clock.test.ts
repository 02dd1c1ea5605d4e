import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PeriodClock, PeriodIntervals } from './period-clock.ts'

describe('the clock of a server', () => {
  it('keeps its deadlines however late each is taken', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 50 }),
        (periodMs, phase, steps) => {
          const clock = new PeriodClock(0, periodMs, phase)
          let nowMs = 0
          let passed = 0
          for (const step of steps) {
            nowMs += step
            passed += clock.pass(nowMs)
            expect(clock.dueMs).toBeGreaterThan(nowMs)
            expect(clock.dueMs).toBeCloseTo((phase + passed) * periodMs, 3)
          }
        },
      ),
    )
  })

  it('starts servers with different phases at different times of the period', () => {
    const due = [0, 1, 2, 3].map((i) => new PeriodClock(1000, 100, i / 4).dueMs)
    expect(due).toEqual([1000, 1025, 1050, 1075])
  })

  it('applies a longer period after the last deadline, and a shorter one', () => {
    const clock = new PeriodClock(0, 100, 0)
    expect(clock.pass(0)).toBe(1)
    clock.setPeriod(200, 50)
    expect(clock.dueMs).toBe(200)
    expect(clock.pass(210)).toBe(1)
    clock.setPeriod(100, 250)
    expect(clock.dueMs).toBe(300)
    // A deadline that a shorter period would have had meanwhile was not missed.
    clock.setPeriod(20, 250)
    expect(clock.dueMs).toBe(260)
  })
})

describe('the times between periods', () => {
  it('are ranked over the last minute, with missed deadlines', () => {
    const intervals = new PeriodIntervals()
    for (let i = 0; i <= 100; i++) intervals.end(i * 100)
    intervals.end(10_150)
    intervals.miss(10_150, 2)
    expect(intervals.at(10_200)).toEqual({ periods: 101, missed: 2, p50Ms: 100, p99Ms: 100 })
    intervals.end(10_450)
    expect(intervals.at(10_450).p99Ms).toBe(150)
    expect(intervals.at(70_000)).toMatchObject({ periods: 2, missed: 2, p50Ms: 150, p99Ms: 300 })
    expect(intervals.at(80_000)).toEqual({ periods: 0, missed: 0, p50Ms: null, p99Ms: null })
  })

  it('do not include an interruption', () => {
    const intervals = new PeriodIntervals()
    intervals.end(0)
    intervals.end(100)
    intervals.interrupt()
    intervals.end(5000)
    expect(intervals.at(5000)).toMatchObject({ periods: 1, p99Ms: 100 })
  })
})
