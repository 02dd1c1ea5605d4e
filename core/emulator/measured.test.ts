/** TBF behavior measured on real servers, reproduced on the emulated cluster. */
import { describe, expect, it } from 'vitest'
import { parseNrsPolicies } from '../lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '../lustre/nrs-tbf-rule.ts'
import type { EmulatedCluster } from './cluster.ts'
import { clusterOf, rule, served, servedBetween } from '#tests/kits/core/emulator/small-cluster.ts'

const near = (actual: number, expected: number, by: number): void =>
  expect(Math.abs(actual - expected), `${actual} is ${expected} within ${by}`).toBeLessThanOrEqual(by)

/** One job, as YAML. */
const writers = (id: string, n: number, more = ''): string =>
  `{ id: ${id}, clients: [1], processes: ${n}, op: write, size_kib: 4, pattern: { kind: continuous }${more} }`

const refs = (c: EmulatedCluster, name: string): Record<string, number> => {
  const read = c.oss[0]!.service.readRules()
  if (!read.ok) throw new Error(read.error)
  const { rules } = parseNrsTbfRule(read.value)
  return Object.fromEntries(rules.filter((r) => r.name === name).map((r) => [`${r.queue} ${r.cpt}`, r.ref]))
}

const tbf = (c: EmulatedCluster): { state: string; queued: number; active: number } => {
  const read = c.oss[0]!.service.readPolicies()
  if (!read.ok) throw new Error(read.error)
  const { policies } = parseNrsPolicies(read.value)
  return policies.find((p) => p.name === 'tbf' && p.queue === 'reg')!
}

const policies = (c: EmulatedCluster, value: string): void => {
  expect(c.oss[0]!.service.writePolicies(value)).toEqual({ ok: true, value: undefined })
  c.oss[0]!.io.kick()
}

describe('pacing of a synchronous client', () => {
  it('100 RPCs at 10/s take 9.6 to 10.7 s', () => {
    const c = clusterOf([writers('dd.0', 1, ', total_rpcs: 100')])
    rule(c, 'start r jobid={dd.0} rate=10')
    c.sim.runUntil(20e9)
    near(c.jobs[0]!.finishedNs! / 1e9, 10.15, 0.55)
  })

  it('and half of that, 4.7 to 5.4 s, from two clients on two CPTs', () => {
    const job = writers('dd.0', 2, ', total_rpcs: 100').replace('[1]', '[1, 2]')
    const c = clusterOf([job], { oss: 'cpts: 2' })
    rule(c, 'start r jobid={dd.0} rate=10')
    c.sim.runUntil(20e9)
    near(c.jobs[0]!.finishedNs! / 1e9, 5.05, 0.35)
  })

  it('two jobs of one rule have its rate each', () => {
    const c = clusterOf([writers('dd.1', 4), writers('dd.2', 4)], { clients: '{ count: 1, max_rpcs_in_flight: 16 }' })
    rule(c, 'start r jobid={dd.*} rate=10')
    c.sim.runUntil(10e9)
    for (const id of ['dd.1', 'dd.2']) near(served(c, id), 102, 3)
  })

  it('a changed rate gives three fresh tokens, then its own pace', () => {
    const c = clusterOf([writers('dd.0', 4)])
    rule(c, 'start r jobid={dd.0} rate=10')
    expect(servedBetween(c, 'dd.0', 4, 5)).toBe(10)
    rule(c, 'change r rate=20')
    near(servedBetween(c, 'dd.0', 5, 5.12), 5, 1)
    near(servedBetween(c, 'dd.0', 6, 8), 40, 1)
  })

  it('a stopped rule paces what is queued until the next arrival', () => {
    const c = clusterOf([writers('dd.0', 8)])
    rule(c, 'start r jobid={dd.0} rate=1')
    c.sim.runUntil(5.4e9)
    rule(c, 'stop r')
    // All slots of the client are in use: nothing arrives before the next token.
    expect(servedBetween(c, 'dd.0', 5.4, 5.99)).toBe(0)
    expect(refs(c, 'default')).toEqual({ 'reg 0': 0, 'hp 0': 0 })
    expect(servedBetween(c, 'dd.0', 6.1, 7.1)).toBeGreaterThan(1000)
    expect(refs(c, 'default')).toEqual({ 'reg 0': 1, 'hp 0': 0 })
  })

  it('a new rank does nothing until a rule is started', () => {
    const c = clusterOf([writers('ga.0', 4)])
    rule(c, 'start a jobid={ga.*} rate=20', 'start b jobid={ga.0} rate=5')
    c.sim.runUntil(3.05e9)
    rule(c, 'change a rank=b')
    near(servedBetween(c, 'ga.0', 4, 7), 15, 1)
    rule(c, 'start dummy jobid={zz}')
    near(servedBetween(c, 'ga.0', 8, 11), 60, 1)
  })

  it('realtime saves what a job does not use', () => {
    // 60 RPCs at 20/s take 2.85 s; until the next burst the bucket refills at 20/s.
    const burst = writers('j', 1, ', outstanding: 64').replace(
      'kind: continuous',
      'kind: bursts, rpcs: 60, every_s: 7.85',
    )
    for (const [realtime, atOnce] of [
      ['', 3],
      [' realtime=1', 60],
    ] as const) {
      const c = clusterOf([burst], { clients: '{ count: 1, max_rpcs_in_flight: 64 }' })
      rule(c, `start r jobid={j} rate=20${realtime}`)
      expect(servedBetween(c, 'j', 0, 3.1)).toBe(60)
      expect(servedBetween(c, 'j', 3.1, 7.8)).toBe(0)
      expect(servedBetween(c, 'j', 7.8, 7.89)).toBe(atOnce)
    }
  })

  it('the latency of timers is what a rate loses, and a setting of the server', () => {
    for (const [us, perSecond] of [
      [0, 1000],
      [50, 952.4],
      [200, 833.3],
    ] as const) {
      const c = clusterOf([writers('j', 8)], { oss: `timer_latency_us: ${us}` })
      rule(c, 'start r jobid={j} rate=1000')
      near(servedBetween(c, 'j', 1, 6) / 5, perSecond, 1)
    }
  })
})

describe('CPTs', () => {
  const local = '{ count: 1, mounted_on: [oss01] }'
  const onTwo = (jobs: readonly string[], policy = 'tbf jobid'): EmulatedCluster =>
    clusterOf(jobs, { oss: 'cpts: 2', clients: local, policy })
  const rateOf = (c: EmulatedCluster, id: string): number => servedBetween(c, id, 1, 21) / 20

  it('a local client reaches all of them: twice the rate with many threads, a little more than once with one', () => {
    const many = onTwo([writers('ga.0', 8).replace('[1]', '[2]')])
    rule(many, 'start r jobid={ga.0} rate=10')
    expect(servedBetween(many, 'ga.0', 0, 0.05)).toBe(6)
    near(rateOf(many, 'ga.0'), 19.9, 0.2)
    const one = onTwo([writers('ga.0', 1).replace('[1]', '[2]')])
    rule(one, 'start r jobid={ga.0} rate=10')
    near(rateOf(one, 'ga.0'), 10.6, 0.5)
  })

  it.each([5, 10, 20, 100])('a tcp client reaches one: exactly %i/s, and a class on that CPT alone', (rate) => {
    const c = onTwo([writers('ga.0', 8)])
    rule(c, `start r jobid={ga.0} rate=${rate}`)
    near(rateOf(c, 'ga.0') / rate, 1, 0.01)
    expect(refs(c, 'r')).toEqual({ 'reg 0': 0, 'reg 1': 1, 'hp 0': 0, 'hp 1': 0 })
  })

  it('one job id from a tcp and a local client has R on each CPT; with the NID in the key the tcp client has its own R', () => {
    const both = writers('ga.0', 16).replace('[1]', '[1, 2]')
    for (const [policy, measured] of [
      ['tbf jobid', 19.6],
      ['tbf', 29.85],
    ] as const) {
      const c = onTwo([both], policy)
      rule(c, 'start r jobid={ga.0} rate=10')
      near(rateOf(c, 'ga.0'), measured, 0.5)
    }
  })
})

describe('the high-priority queue', () => {
  const shared = (more = ''): string =>
    `{ id: ga.0, clients: [1, 2], processes: 2, op: write, size_kib: 256, cached: true, shared: f, targets: [t-OST0000], pattern: { kind: continuous }${more} }`

  it('takes the write-back that lock callbacks ask for; a rule of that queue limits it', () => {
    const c = clusterOf([shared()])
    rule(c, 'start r jobid={ga.0} rate=5')
    near(servedBetween(c, 'ga.0', 1, 11) / 10, 5, 0.1)
    expect(refs(c, 'r')).toEqual({ 'reg 0': 0, 'hp 0': 1 })
  })

  it('is not touched by a rule of the regular queue alone', () => {
    const c = clusterOf([shared()])
    rule(c, 'reg start r jobid={ga.0} rate=5')
    expect(servedBetween(c, 'ga.0', 1, 11) / 10).toBeGreaterThan(500)
    expect(refs(c, 'r')).toEqual({ 'reg 0': 0 })
  })
})

describe('what an operator sees', () => {
  const onOneTarget = ', targets: [t-OST0000]'

  /** A job of `n` writers at 5/s beside an unlimited one on the same client; 8 s. */
  const beside = (n: number, slots = 8): EmulatedCluster => {
    const c = clusterOf([writers('1.hog', n, onOneTarget), writers('2.free', 1, onOneTarget)], {
      clients: `{ count: 1, max_rpcs_in_flight: ${slots} }`,
    })
    rule(c, 'start h jobid={1.hog} rate=5')
    c.sim.runUntil(8e9)
    return c
  }

  it('a throttled job with more writers than slots leaves its neighbor five RPCs in 8 s', () => {
    const alone = served(beside(1), '2.free')
    expect(alone).toBeGreaterThan(8 * 1000)
    expect(served(beside(4), '2.free')).toBeGreaterThan(0.99 * alone)
    expect(served(beside(8), '2.free')).toBeLessThan(0.2 * alone)
    near(served(beside(16), '2.free'), 5, 2)
    expect(served(beside(16, 64), '2.free')).toBeGreaterThan(0.99 * alone)
  })

  it('meanwhile the slots of the client are queued, none is active, and only req_waittime has the wait', () => {
    const c = beside(16)
    expect(tbf(c)).toMatchObject({ state: 'started', queued: 8, active: 0 })
    const { counters } = c.oss[0]!.io.stats
    // Measured: at most 1.60 s: eight RPCs at 5/s.
    near(counters.get('req_waittime')!.max / 1e6, 1.6, 0.05)
    expect(counters.get('req_qdepth')).toMatchObject({ min: 0, max: 0, sum: 0 })
    expect(counters.get('ost_write')!.max).toBeLessThan(1000)
    expect(c.osts[0]!.stats.counters.get('write')!.max).toBeLessThan(1000)
  })

  it('fifo releases 100 queued RPCs at once; the policy is stopping, then stopped', () => {
    const c = clusterOf([writers('j', 100)], { clients: '{ count: 1, max_rpcs_in_flight: 128 }' })
    rule(c, 'start r jobid={j} rate=1')
    c.sim.runUntil(5e9)
    expect(tbf(c).queued).toBe(100)
    const before = served(c, 'j')
    policies(c, 'fifo')
    expect(tbf(c).state).toBe('stopping')
    c.sim.runUntil(5.05e9)
    expect(served(c, 'j') - before).toBeGreaterThan(100)
    expect(tbf(c)).toMatchObject({ state: 'stopped', queued: 0, active: 0 })
  })

  it('2.15 lets them go at the rate of the rule instead', () => {
    const c = clusterOf([writers('j', 8)], { oss: 'version: 2.15.8' })
    rule(c, 'start r jobid={j} rate=1')
    c.sim.runUntil(5.5e9)
    policies(c, 'fifo')
    const queued = [6, 7, 8, 9, 10, 11, 12, 13].map((s) => {
      c.sim.runUntil((s + 0.5) * 1e9)
      return tbf(c).queued
    })
    expect(queued).toEqual([7, 6, 5, 4, 3, 2, 1, 0])
    expect(tbf(c).state).toBe('stopped')
  })

  it('another type drains what is queued at once, and forgets all rules', () => {
    const c = clusterOf([writers('j', 8)])
    rule(c, 'start r jobid={j} rate=1')
    c.sim.runUntil(5.5e9)
    policies(c, 'tbf nid')
    expect(servedBetween(c, 'j', 5.5, 6.5)).toBeGreaterThan(1000)
    expect(refs(c, 'r')).toEqual({})
    expect(refs(c, 'default')['reg 0']).toBe(1)
  })
})

describe('metadata', () => {
  const mds = '{ name: mds01, mdts: [{ name: t-MDT0000, per_op_us: 300 }] }'
  const job = (id: string, op: string, more = ''): string =>
    `{ id: ${id}, clients: [1], processes: 4, op: ${op}, pattern: { kind: continuous }${more} }`
  const withMds = (jobs: readonly string[], policy: string, text: string): EmulatedCluster => {
    const c = clusterOf(jobs, { mds, policy })
    expect(c.mds[0]!.mdt.nrs.writeRule(text)).toEqual({ ok: true, value: undefined })
    return c
  }

  it('a job limit holds mkdir, and create with close as one token a pair: close is another service', () => {
    const mkdir = withMds([job('ga.0', 'mkdir')], 'tbf jobid', 'start r jobid={ga.0} rate=20')
    near(servedBetween(mkdir, 'ga.0', 1, 11) / 10, 19.85, 0.2)
    const pairs = withMds([job('ga.0', '[create, close]')], 'tbf jobid', 'start r jobid={ga.0} rate=20')
    near(servedBetween(pairs, 'ga.0', 1, 11) / 2 / 10, 19.84, 0.3)
  })

  it('opcode={mds_reint} limits mkdir, and not create, which travels as ldlm_enqueue', () => {
    const c = withMds([job('a', 'mkdir'), job('b', 'create')], 'tbf opcode', 'start r opcode={mds_reint} rate=20')
    near(servedBetween(c, 'a', 1, 3) / 2, 19.73, 0.8)
    expect(servedBetween(c, 'b', 3, 5) / 2).toBeGreaterThan(500)
    const enqueue = withMds([job('b', 'create')], 'tbf opcode', 'start r opcode={ldlm_enqueue} rate=20')
    near(servedBetween(enqueue, 'b', 1, 3) / 2, 20, 0.6)
  })
})
