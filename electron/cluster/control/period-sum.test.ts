import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AdapTbfController } from '#core/adaptbf/controller.ts'
import { idlePeriod, type ServerPeriod } from './control-loop.ts'
import { PeriodSum } from './period-sum.ts'

const served = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 1, max: 80 }))

it('tokens, demand and moves add up to those of the periods, and records are the newest', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ served, isTaken: fc.boolean(), isHeld: fc.boolean() }), { minLength: 1, maxLength: 40 }),
      (steps) => {
        const controller = new AdapTbfController({ maxRatePerSec: 1000 })
        const sum = new PeriodSum()
        const total = { budget: 0, tokens: 0, demand: 0, delta: 0, moved: 0 }
        const got = { budget: 0, tokens: 0, demand: 0, delta: 0, moved: 0 }
        const count = (into: typeof total, period: ServerPeriod): void => {
          for (const d of period.decisions) {
            into.budget += d.budget
            for (const a of d.allocations) {
              into.tokens += a.tokens
              into.delta += a.recordDelta
            }
          }
          for (const { demand, moves } of period.reports.values()) {
            for (const n of demand.values()) into.demand += n
            for (const m of moves) into.moved += m.lent - m.reclaimed
          }
        }
        let newest: ServerPeriod | undefined
        const take = (): void => {
          const taken = sum.take()
          if (!taken) return
          count(got, taken)
          expect(taken.decisions[0]?.records).toEqual(newest?.decisions[0]?.records)
          expect(taken.decisions[0]?.atNs).toBe(newest?.decisions[0]?.atNs)
        }
        for (const [i, step] of steps.entries()) {
          const atNs = (i + 1) * 1e8
          const jobs = Object.entries(step.served).map(([jobId, n]) => ({ jobId, nodes: 1, served: n }))
          const decision = step.isHeld
            ? controller.hold('t', atNs)
            : controller.step({ target: 't', atNs, periodNs: 1e8, jobs })
          const reports = new Map([['t', controller.report]])
          newest = { ...idlePeriod('oss01'), decisions: [decision], reports, allocateMs: 1 }
          count(total, newest)
          sum.add(newest)
          if (step.isTaken) take()
        }
        take()
        expect(got).toEqual(total)
        expect(sum.take()).toBeUndefined()
      },
    ),
  )
})

it('is held only if no period was evaluated, and has the rules that were written last', () => {
  const controller = new AdapTbfController({ maxRatePerSec: 1000 })
  const sum = new PeriodSum()
  const periodOf = (decision: ReturnType<AdapTbfController['step']>): ServerPeriod => ({
    ...idlePeriod('oss01', [], 'read'),
    decisions: [decision],
    reports: new Map([['t', controller.report]]),
  })
  sum.add(periodOf(controller.step({ target: 't', atNs: 1, periodNs: 1e8, jobs: [] })))
  sum.add(periodOf(controller.hold('t', 2)))
  sum.written({ ...idlePeriod('oss01', [], 'written'), applyMs: 6 })
  const both = sum.take()
  expect(both?.reports.get('t')?.held).toBeUndefined()
  expect(both).toMatchObject({ rulesText: 'written', applyMs: 3 })
  sum.add(periodOf(controller.hold('t', 3)))
  expect(sum.take()?.reports.get('t')?.held?.code).toBe('NOT_OBSERVED')
  // Written after the sum was taken: the next reading shows it.
  sum.written({ ...idlePeriod('oss01', [], 'late'), applyMs: 6 })
  expect(sum.take()).toBeUndefined()
})
