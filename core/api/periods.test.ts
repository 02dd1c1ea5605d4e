import { expect, it } from 'vitest'
import { PERIOD_PARTS, periodBudget, serverPeriod } from './periods.ts'

it('budgets of a period sum to it, and each part has a duration in the frame', () => {
  expect(PERIOD_PARTS.reduce((sum, p) => sum + periodBudget(p, 100), 0)).toBeCloseTo(100, 9)
  const times = serverPeriod.shape.timesMs.unwrap()
  expect(Object.keys(times.shape)).toEqual(PERIOD_PARTS.map((p) => p.id))
})
