import { expect, test } from 'vitest'
import type { Plan } from './plan.ts'
import { StageRecord, type StageScope } from './stage-record.ts'
import { lowerings, raisings } from './global-controller.ts'

function scopeOf(job: string, most: number, target: number, isUnsure = false): StageScope {
  const identity = { job, instance: 0, pid: 1, ppid: 1, hostname: 'n', user: 'u' }
  const channels = [{ channel: 1, object: 1, scope: 'open', rate: most } as const]
  const of = new StageRecord({ key: job, identity, channels }, 0, 0).scopes.get('open')!
  of.target = target
  of.isUnsure = isUnsure
  return of
}

const planOf = (budget: number, ...limited: readonly StageScope[]): Plan => ({
  scopes: [{ scope: 'open', budget, limited, free: [], allocated: new Map() }],
  faults: [],
})
const commands = (orders: readonly { of: StageScope; rate: number }[]): [string, number][] =>
  orders.map(({ of, rate }) => [of.stage.key, rate])

test('lowerings go first, raises get the remaining headroom', () => {
  const plan = planOf(100, scopeOf('a', 80, 50), scopeOf('b', 20, 50))
  expect(commands(lowerings(plan))).toEqual([['a', 50]])
  expect(commands(raisings(plan))).toEqual([])
  plan.scopes[0]!.limited[0]!.most = 60
  expect(commands(raisings(plan))).toEqual([['b', 40]])
})

test('if the rates in force may exceed the limit, a stage that may have less goes to its floor first', () => {
  const back = scopeOf('back', 400, 275, true)
  const plan = planOf(1000, back, scopeOf('b', 1000, 725))
  expect(commands(lowerings(plan))).toEqual([
    ['back', 1],
    ['b', 725],
  ])
  // Within the free rate it is sent its rate once more.
  expect(commands(lowerings(planOf(2000, back)))).toEqual([['back', 275]])
})
