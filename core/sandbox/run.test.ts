import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EmulatedCluster } from '../emulator/cluster.ts'
import { ModelControl } from './control-model.ts'
import { runVariant } from './run.ts'
import { AS_IT_IS, HOG_AND_OTHERS, jobOf, runOf, scenarioOf } from '#tests/kits/core/sandbox/small-run.ts'
import type { Variant } from './variant.ts'
import { binOf, binsOf } from './measure.ts'

const SMALL = scenarioOf(HOG_AND_OTHERS)
const sum = (values: Iterable<number>): number => [...values].reduce((s, v) => s + v, 0)
/** RPCs in the bins that begin in [from, to) seconds. */
const between = (rpcs: Float64Array, binS: number, from: number, to: number): number =>
  sum(rpcs.filter((_, i) => i * binS >= from - 1e-9 && i * binS < to - 1e-9))

describe('runVariant', () => {
  it('gives the same report for the same input, and another one for another seed', () => {
    const once = runOf(SMALL, { controller: 'adaptbf' })
    expect(runOf(SMALL, { controller: 'adaptbf' })).toEqual(once)
    expect(runOf(SMALL, { controller: 'adaptbf' }, { seed: 2 }).jobs).not.toEqual(once.jobs)
  })

  it('has series that sum to the totals, and totals that fit each other', () => {
    const r = runOf(SMALL, { controller: 'adaptbf' })
    for (const j of r.jobs) {
      expect(sum(j.rpcs)).toBe(j.servedRpcs)
      expect(sum(j.bytes)).toBe(j.servedBytes)
      expect(j.wantedRpcs).toBeGreaterThanOrEqual(j.servedRpcs)
      expect(j.waitP50Ms).toBeLessThanOrEqual(j.waitP95Ms)
      expect(j.waitP95Ms).toBeLessThanOrEqual(j.waitP99Ms)
    }
    for (const t of r.targets) {
      expect(sum(t.rpcs)).toBe(t.servedRpcs)
      expect(t.utilisation).toBeGreaterThan(0)
      expect(t.utilisation).toBeLessThanOrEqual(1)
      expect(t.serviceMs).toBeGreaterThan(6)
    }
    // The client sees a reply one latency later than the device.
    expect(sum(r.targets.map((t) => t.servedRpcs)) - sum(r.jobs.map((j) => j.servedRpcs))).toBeLessThan(70)
    expect(r.throughputRpcs).toBeCloseTo(sum(r.jobs.map((j) => j.servedRpcs)) / 8, 9)
    expect(sum(r.jobs.map((j) => j.record))).toBe(0)
  })

  it('shows what a policy does: the hog gives way, and fairness rises', () => {
    const none = runOf(SMALL)
    const fair = runOf(SMALL, { controller: 'adaptbf' })
    expect(jobOf(fair, '1.hog.u1').servedRpcs).toBeLessThan(jobOf(none, '1.hog.u1').servedRpcs)
    expect(jobOf(fair, '2.calm.u2').waitP95Ms).toBeLessThan(jobOf(none, '2.calm.u2').waitP95Ms)
    expect(fair.jain).toBeGreaterThan(none.jain)
    expect(none.jobs.map((j) => j.record)).toEqual([NaN, NaN, NaN])
  })

  it('counts the seconds in which a job waits and gets nothing, and misses of the objective', () => {
    const rules = [{ service: 'ost_io', line: 'start stall jobid={1.hog.u1} rate=1' }] as const
    const one = scenarioOf([HOG_AND_OTHERS[0]!.replace('processes: 16', 'processes: 1')], {
      rest: 'faults: [{ what: disk-stops, target: s-OST0000, at_s: 1.5, for_s: 4 }, { what: disk-stops, target: s-OST0001, at_s: 1.5, for_s: 4 }, { what: disk-stops, target: s-OST0002, at_s: 1.5, for_s: 4 }, { what: disk-stops, target: s-OST0003, at_s: 1.5, for_s: 4 }]',
    })
    // From 2 s to 5 s nothing is replied: three whole seconds.
    expect(runOf(one).starvedS).toBe(3)
    expect(runOf(SMALL, {}, { sloWaitMs: 1e9 }).sloMisses).toBe(0)
    // No replies: no wait was measured, and every job waits for longer than the objective.
    const stopped = scenarioOf(HOG_AND_OTHERS, {
      rest: `faults: [${[0, 1, 2, 3].map((n) => `{ what: disk-stops, target: s-OST000${n}, at_s: 0 }`).join(',')}]`,
    })
    expect(runOf(stopped, {}, { sloWaitMs: 1000 })).toMatchObject({ sloMisses: 3, throughputRpcs: 0, jain: NaN })
    const held = runOf(SMALL, { rules }, { sloWaitMs: 1000 })
    expect(held.jobs.filter((j) => j.waitP95Ms > 1000).map((j) => j.jobId)).toEqual(['1.hog.u1'])
    expect(held.sloMisses).toBe(1)
  })
})

describe('a variant', () => {
  const rules: Variant['rules'] = [{ service: 'ost_io', line: 'start cap jobid={1.*} rate=25' }]

  it('writes its rules when it begins, and runs as the scenario does before', () => {
    const r = runOf(SMALL, { rules, onS: 4 })
    const hog = jobOf(r, '1.hog.u1')
    const job = jobOf(
      runOf(scenarioOf(HOG_AND_OTHERS, { control: '{ max_rate: 300 }' }), { controller: 'adaptbf' }),
      '1.hog.u1',
    )
    // Until then AdapTBF decides: the file has enforce.
    expect(between(hog.rpcs, r.binS, 0, 4)).toBe(between(job.rpcs, r.binS, 0, 4))
    // Each of two servers allows it 25/s, plus RPCs that threads had taken before.
    expect(between(hog.rpcs, r.binS, 5, 8)).toBeLessThanOrEqual(3 * 50 + 6)
    expect(between(hog.rpcs, r.binS, 5, 8)).toBeGreaterThan(3 * 50 - 20)
  })

  it('leaves a scenario alone that only observes', () => {
    const idle = scenarioOf(HOG_AND_OTHERS, { control: '{ max_rate: 300, mode: observe }' })
    const r = runOf(idle, { controller: 'adaptbf', onS: 4 })
    const free = runOf(SMALL)
    expect([...r.jobs[0]!.rpcs].slice(0, 20)).toEqual([...free.jobs[0]!.rpcs].slice(0, 20))
    expect(r.jobs[0]!.servedRpcs).toBeLessThan(free.jobs[0]!.servedRpcs)
  })

  it('says what a server refuses', () => {
    const r = runOf(SMALL, {
      rules: [
        ...rules,
        { service: 'ost_io', line: 'start cap jobid={2.*} rate=1' },
        { service: 'mdt', line: 'start a jobid={b} rate=1' },
      ],
    })
    expect(r.remarks).toEqual([
      'oss01 (ost_io) refused "start cap jobid={2.*} rate=1": EEXIST',
      'oss02 (ost_io) refused "start cap jobid={2.*} rate=1": EEXIST',
      'no server runs mdt: "start a jobid={b} rate=1" is not written',
    ])
  })

  it('is reported if it has no effect', () => {
    const r = runOf(SMALL, { metadata: 'psfa', locks: 'seqdlm', haechi: 'off' })
    expect(r.remarks).toHaveLength(3)
    expect(r.jobs).toEqual(runOf(SMALL).jobs)
  })

  it('takes over from the controller of the scenario without leaving rules behind', () => {
    const cluster = new EmulatedCluster(SMALL, { counters: false })
    const control = new ModelControl(
      cluster,
      { ...AS_IT_IS, controller: 'static', onS: 2 },
      { thinning: 1, remark: () => {} },
    )
    const names = (untilNs: number): string[] => {
      while (cluster.sim.now < untilNs) {
        cluster.sim.runUntil(Math.min(untilNs, control.nextNs))
        if (cluster.sim.now >= control.nextNs) control.step(cluster.sim.now)
      }
      return [...new Set(cluster.oss[0]!.io.nrs.rules().map((r) => r.name.slice(0, 3)))].sort()
    }
    expect(names(2e9 - 1)).toEqual(['ab_', 'def'])
    expect(names(3e9)).toEqual(['def', 'st_'])
    const bare = new EmulatedCluster(SMALL, { counters: false })
    const none = new ModelControl(bare, { ...AS_IT_IS, onS: 1 }, { thinning: 1, remark: () => {} })
    while (none.nextNs < Infinity) {
      bare.sim.runUntil(none.nextNs)
      none.step(bare.sim.now)
    }
    expect(bare.oss[0]!.io.nrs.rules().map((r) => r.name)).toEqual(['default', 'default'])
  })
})

describe('rules without text', () => {
  it('are those of the plans, RPC by RPC, whatever the settings', () => {
    const settings: Partial<Variant>[] = [
      { controller: 'adaptbf' },
      { controller: 'adaptbf', periodMs: 250, adaptbf: { deadbandPercent: 10, overdraft: 0.5 } },
      { controller: 'adaptbf', adaptbf: { demand: 'backlog', coefficient: 'min', autoT: true } },
      { controller: 'static', maxRate: 200, onS: 1.5 },
      { controller: 'adaptbf', maxRate: 200, onS: 1.5 },
    ]
    for (const s of settings) {
      const [direct, text] = [false, true].map((asText) => {
        const cluster = new EmulatedCluster(SMALL, { counters: false })
        const control = new ModelControl(cluster, { ...AS_IT_IS, ...s }, { thinning: 1, remark: () => {}, asText })
        while (cluster.sim.now < 5e9) {
          cluster.sim.runUntil(Math.min(5e9, control.nextNs))
          if (cluster.sim.now >= control.nextNs) control.step(cluster.sim.now)
        }
        return [cluster.sim.executed, ...cluster.jobs.map((j) => [j.servedRpcs, j.waits.mean, j.waits.quantile(0.9)])]
      })
      expect(direct, JSON.stringify(s)).toEqual(text)
    }
  })
})

describe('what cannot run', () => {
  const fails = (variant: object, task: object = {}): string | undefined => {
    const all = { index: 0, seed: 1, seconds: 1, sloWaitMs: 1, ...task, variant: { ...AS_IT_IS, ...variant } }
    const done = runVariant(SMALL, all)
    return done.ok ? undefined : `${done.error.code}: ${done.error.why}`
  }

  it('ends with a value that says why', () => {
    expect(fails({})).toBeUndefined()
    expect(fails({}, { seconds: 0 })).toContain('SANDBOX_CANNOT_RUN: a length of 0 s')
    expect(fails({}, { seconds: NaN })).toContain('SANDBOX_CANNOT_RUN')
    expect(fails({}, { seed: 0.5 })).toContain('seed')
    expect(fails({ maxRate: -1 })).toContain('-1 RPC/s')
    expect(fails({ periodMs: 0 })).toContain('SANDBOX_CANNOT_RUN')
    expect(fails({ onS: -1 })).toContain('start at -1 s')
    expect(fails({ adaptbf: { spill: true } })).toContain('SANDBOX_CANNOT_RUN')
    expect(fails({ adaptbf: { overdraft: 2 } })).toContain('overdraft')
    expect(fails({}, { eventsMax: 100 })).toContain('SANDBOX_TOO_LARGE')
  })
})

describe('the bins of a series', () => {
  it('cover the run, and are at most 240', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 1e6, noNaN: true }), (seconds) => {
        const bin = binOf(seconds)
        const count = binsOf(seconds)
        expect(count).toBeLessThanOrEqual(240)
        expect(bin * count).toBeGreaterThanOrEqual(seconds * (1 - 1e-8))
        expect(bin * (count - 1)).toBeLessThan(seconds)
      }),
    )
    expect([60, 240, 600, 5].map(binOf)).toEqual([1, 1, 5, 0.1])
  })
})
