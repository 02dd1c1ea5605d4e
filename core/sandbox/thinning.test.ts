import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseScenario } from '../emulator/scenario.ts'
import { parsePolicies } from '../padll/rules/policy-schedule.ts'
import { HOG_AND_OTHERS, runOf, scenarioOf } from '#tests/kits/core/sandbox/small-run.ts'
import { thinned, thinnedVariant } from './thinning.ts'
import { AS_IT_IS } from '#tests/kits/core/sandbox/small-run.ts'

/** Stationary: random arrivals, and processes in a closed loop. */
const STATIONARY = scenarioOf([
  '{ id: 1.loop.u1, clients: [1, 2], processes: 6, outstanding: 2, op: write, size_kib: 64, pattern: { kind: continuous } }',
  '{ id: 2.open.u2, clients: [3, 4], processes: 8, outstanding: 16, op: read, size_kib: 64, pattern: { kind: poisson, rate: 40 } }',
  '{ id: 3.slow.u3, clients: [5], processes: 4, outstanding: 4, op: write, size_kib: 256, pattern: { kind: poisson, rate: 25 } }',
])

describe('thinning', () => {
  it('by 1 is the scenario and the variant as they are', () => {
    expect(thinned(STATIONARY, 1)).toBe(STATIONARY)
    expect(thinnedVariant(AS_IT_IS, 1)).toBe(AS_IT_IS)
    expect(runOf({ ...STATIONARY, thinning: 1 }, {}, { seconds: 3 })).toEqual(runOf(STATIONARY, {}, { seconds: 3 }))
  })

  it('by 4 keeps throughput, shares and waits of a scenario that does not change with time', () => {
    for (const controller of ['none', 'static'] as const) {
      const [all, few] = [1, 4].map((k) =>
        runOf({ ...STATIONARY, thinning: k }, { controller, periodMs: 400 }, { seconds: 40 }),
      )
      if (!all || !few) throw new Error('two runs')
      expect(few.events).toBeLessThan(all.events / 3)
      expect(few.throughputRpcs / all.throughputRpcs).toBeCloseTo(1, 1)
      expect(Math.abs(few.utilisation - all.utilisation)).toBeLessThan(0.05)
      all.jobs.forEach((a, i) => {
        const f = few.jobs[i]!
        const share = (served: number, of: number): number => served / of
        const x = share(a.servedRpcs, all.throughputRpcs * 40)
        const y = share(f.servedRpcs, few.throughputRpcs * 40)
        expect(Math.abs(x - y), a.jobId).toBeLessThan(0.03)
        expect(f.waitP95Ms / a.waitP95Ms, a.jobId).toBeGreaterThan(0.75)
        expect(f.waitP95Ms / a.waitP95Ms, a.jobId).toBeLessThan(1.33)
      })
    }
  })

  it('multiplies counts and series, and compresses times', () => {
    const jobs = [
      ...HOG_AND_OTHERS.slice(1, 2),
      '{ id: 4.late.u4, clients: [8], op: write, size_kib: 64, start_s: 8, stop_s: 16, pattern: { kind: poisson, rate: 50 } }',
      '{ id: 5.some.u5, clients: [8], processes: 2, op: read, size_kib: 64, total_rpcs: 400, pattern: { kind: poisson, rate: 100 } }',
    ]
    const r = runOf({ ...scenarioOf(jobs), thinning: 4 }, {}, { seconds: 24 })
    expect([r.seconds, r.thinning]).toEqual([24, 4])
    for (const j of r.jobs) {
      expect(j.servedRpcs % 4).toBe(0)
      expect(j.rpcs.reduce((s, n) => s + n, 0)).toBe(j.servedRpcs)
    }
    const late = r.jobs[1]!
    const at = (s: number): number => Math.floor(s / r.binS)
    expect(late.rpcs.slice(0, at(8)).every((n) => n === 0)).toBe(true)
    expect(late.rpcs.slice(at(17)).every((n) => n === 0)).toBe(true)
    // 50/s for the 8 s from the 8th on.
    expect(late.servedRpcs).toBeGreaterThan(400 * 0.6)
    expect(late.servedRpcs).toBeLessThan(400 * 1.4)
    expect(r.jobs[2]!.servedRpcs).toBe(400)
  })

  it('squeezes the steps of policies', () => {
    const file = new URL('../../resources/scenarios/paper-padll-four-jobs.yaml', import.meta.url)
    const text = readFileSync(file, 'utf8')
    const last = '4 0 demand job4 meta_op 400\n'
    const steps = ['20 demand job1 meta_op 900', '22 demand job1 meta_op 800', '41 job job2 open 90']
    const read = parseScenario(text.replace(last, `${last}${steps.map((s, i) => `    ${i + 5} ${s}\n`).join('')}`))
    if (!read.ok) throw new Error(read.error.why)
    const { padll } = thinned(read.value, 4)
    const { policies, faults } = parsePolicies(padll?.policies ?? '')
    expect(faults).toEqual([])
    expect(policies.slice(-2).map((p) => [p.atS, p.kind, p.job, p.scope, p.value])).toEqual([
      [5, 'demand', 'job1', 'meta_op', 800],
      [10, 'limit', 'job2', 'open', 90],
    ])
    expect(policies.slice(0, -2).map((p) => [p.atS, p.value])).toEqual([150, 250, 300, 400].map((v) => [0, v]))
    expect(runOf({ ...read.value, thinning: 4 }, {}, { seconds: 8 }).throughputRpcs).toBeGreaterThan(0)
  })

  it('keeps the load of bursts that have few RPCs', () => {
    const few = scenarioOf([
      '{ id: 1.few.u1, clients: [1], op: write, size_kib: 64, outstanding: 8, pattern: { kind: bursts, rpcs: 3, every_s: 6 } }',
    ])
    const pattern = thinned(few, 8).jobs[0]?.pattern
    expect(pattern).toEqual({ kind: 'bursts', rpcs: 1, every_s: 2, jitter: 0 })
  })
})
