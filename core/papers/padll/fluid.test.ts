import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALGORITHMS } from '../../padll/algorithms/algorithm.ts'
import { generateTrace, TRACE_A, TRACE_C } from '../../padll/trace/trace.ts'
import { runFluid, stageLoads, splitRate } from './fluid.ts'
import { totals } from './metrics.ts'
import { controlOf, MAX_RATE, type ScenarioNumber, SCENARIOS, SETUP_NAMES, type SetupName } from './scenarios.ts'

interface Golden {
  completion_min: Record<string, { jobs: number[]; makespan: number }>
  baseline_peak: { s1: number; s2: number }
}
const golden = JSON.parse(
  readFileSync(new URL('../../../tests/cases/padll-trace.json', import.meta.url), 'utf8'),
) as Record<'A' | 'C', Golden>
/** Minutes as printed in the golden file. */
const printed = (seconds: number): number => Math.round((seconds / 60) * 1000) / 1000

describe.each([
  ['A', TRACE_A],
  ['C', TRACE_C],
] as const)('trace %s', (name, parameters) => {
  const trace = generateTrace(parameters)
  const run = (scenario: ScenarioNumber, setup: SetupName) =>
    runFluid({ jobs: SCENARIOS[scenario], trace, control: controlOf(setup) })

  it.each(Object.entries(golden[name].completion_min))(
    '%s ends when the golden run does',
    (cell, { jobs, makespan }) => {
      const got = run(Number(cell[0]) as ScenarioNumber, cell.slice(1) as SetupName)
      expect({ jobs: got.durations.map(printed), makespan: printed(got.makespan) }).toEqual({ jobs, makespan })
      expect(Math.max(...totals(got))).toBeLessThanOrEqual(MAX_RATE * (1 + 1e-12))
    },
  )

  it('peaks as the golden run does without a limit', () => {
    const { s1, s2 } = golden[name].baseline_peak
    expect(Math.max(...totals(run(1, 'baseline'))) / s1).toBeCloseTo(1, 12)
    expect(Math.max(...totals(run(2, 'baseline'))) / s2).toBeCloseTo(1, 12)
  })

  it.each(SETUP_NAMES)('serves every operation under %s', (setup) => {
    const { served } = run(3, setup)
    const all = trace.reduce((sum, rate) => sum + rate, 0)
    served.forEach((values, job) => {
      expect(values.reduce((sum, rate) => sum + rate, 0) / (all * SCENARIOS[3][job]!.load)).toBeCloseTo(1, 9)
    })
  })
})

it('loses nothing and keeps the limit with late rates, slow cycles and unequal stages', () => {
  const trace = generateTrace(TRACE_A).subarray(0, 400)
  const all = trace.reduce((sum, rate) => sum + rate, 0)
  fc.assert(
    fc.property(
      fc.constantFrom(...ALGORITHMS),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 0, max: 3 }),
      fc.double({ min: 0, max: 0.9, noNaN: true }),
      fc.constantFrom('equal' as const, 'usage' as const),
      (algorithm, cycleS, delayS, imbalance, by) => {
        const stages = { load: stageLoads(imbalance), by }
        const run = runFluid({ jobs: SCENARIOS[2], trace, control: { algorithm, cycleS, delayS }, stages })
        const total = totals(run)
        expect(total.reduce((sum, rate) => sum + rate, 0) / all).toBeCloseTo(1, 6)
        // Rates of two cycles overlap for the length of the delay.
        if (delayS === 0) expect(Math.max(...total)).toBeLessThanOrEqual(MAX_RATE * (1 + 1e-9))
      },
    ),
    { numRuns: 40 },
  )
})

it('cuts a rate into whole parts that sum to it', () => {
  expect(splitRate(11.9, 'equal', [0, 0, 0, 0])).toEqual([3, 3, 3, 2])
  expect(splitRate(100, 'usage', [0, 3, 0, 5])).toEqual([10, 30, 10, 50])
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.array(fc.nat(1e6), { minLength: 1 }),
      (rate, usage) => {
        expect(splitRate(rate, 'usage', usage).reduce((sum, part) => sum + part, 0)).toBe(Math.floor(rate))
      },
    ),
  )
})
