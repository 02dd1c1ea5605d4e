import { describe, expect, it } from 'vitest'
import { generateTrace, TRACE_A } from '../../padll/trace/trace.ts'
import { Hierarchy } from './hierarchy.ts'
import { totals } from './metrics.ts'
import { JOIN_S, MAX_RATE, SCENARIOS, STAGES } from './scenarios.ts'
import { BUCKETS, runStaged } from './staged.ts'

const trace = generateTrace(TRACE_A).subarray(0, 600)
/** Operations of a job in whole numbers, as submitted. */
const submitted = (load: number): number => trace.reduce((sum, rate) => sum + Math.round(rate * load), 0)
const jobs = SCENARIOS[3]
/** The same without a limit. */
const unlimited = runStaged(jobs, trace, null)
/** Minimum rate of all stages, op/s, beyond the limit if necessary. */
const FLOORS = jobs.length * STAGES

describe.each(['equal', 'usage'] as const)('jobs behind stages and controllers, rates cut by %s', (split) => {
  const hierarchy = new Hierarchy({ control: { algorithm: 'psfa' }, jobs, split })
  const run = runStaged(jobs, trace, hierarchy)

  it('are served all that they submit, within the limit and what the buckets hold', () => {
    run.served.forEach((values, job) => {
      expect(values.reduce((sum, rate) => sum + rate, 0)).toBe(submitted(jobs[job]!.load))
    })
    expect(Math.max(...totals(run))).toBeLessThanOrEqual(MAX_RATE + BUCKETS)
    // The workload demands more than that, so the limit was effective.
    expect(Math.max(...totals(unlimited))).toBeGreaterThan(2 * MAX_RATE)
    expect(unlimited.durations).toEqual(jobs.map(() => trace.length))
  })

  it('have their rates from their first second on, and free them when they leave', () => {
    expect(run.rates[1]![JOIN_S]).toBeGreaterThan(10_000)
    const together = run.rates.map((rates) => rates[2 * JOIN_S]!)
    expect(together.reduce((sum, rate) => sum + rate, 0)).toBeLessThanOrEqual(MAX_RATE + FLOORS)
    const end = run.durations[0]!
    const otherRates = (t: number): number => run.rates.slice(1).reduce((sum, rates) => sum + rates[t]!, 0)
    expect(otherRates(end + 2)).toBeGreaterThan(0.99 * MAX_RATE)
    expect(hierarchy.global.status(0).jobs.filter(({ stages }) => stages > 0)).toEqual([])
  })
})
