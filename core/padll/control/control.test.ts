import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'
import { ALGORITHMS } from '../algorithms/algorithm.ts'
import { allocate } from '../algorithms/allocate.ts'
import { parseHousekeeping } from '../rules/housekeeping.ts'
import { padllStatus } from '../status.ts'
import type { GlobalSettings } from './settings.ts'
import { VirtualCluster } from '#tests/kits/core/padll/virtual-cluster.ts'

const HOUSEKEEPING = parseHousekeeping(`1 create_channel 1000 posix_meta 0 no_op meta_op
2 create_object 1000 1 posix_meta no_op meta_op drl 10000 1073741824
3 create_channel 2000 posix 0 open no_op
4 create_object 2000 1 posix open no_op drl 10000 1073741824
5 create_channel 2001 posix 2000 open no_op
6 create_object 2001 1 posix open no_op drl 10000 1073741824
`).rules

const JOBS = ['a', 'b', 'c'] as const
const POLICIES = `1 0 demand a meta_op 500
2 0 demand b meta_op 900
3 0 demand c meta_op 100
4 0 job a open 40
5 0 job b open 60
6 0 job c open 30
`
const SETTINGS: Partial<GlobalSettings> = {
  algorithm: 'psfa',
  lease: { ns: 60 * NS_PER_S, onExpiry: 'hold' },
  limits: new Map([
    ['meta_op', 1000],
    ['open', 100],
  ]),
}

const played = (seed: number, settings: Partial<GlobalSettings> = {}): VirtualCluster => {
  const cluster = new VirtualCluster(seed, HOUSEKEEPING, { ...SETTINGS, ...settings })
  cluster.policies = POLICIES
  return cluster
}

/** Fails if the rates in force exceed the limits plus the floors. */
function watch(cluster: VirtualCluster): void {
  cluster.clock.onStep = () => {
    for (const [scope, limit] of cluster.highest) {
      const sum = cluster.rateOf(scope)
      const most = limit + cluster.objectsOf(scope)
      if (sum > most + 1e-6) throw new Error(`${scope}: ${sum} op/s in force, ${most} allowed, at ${cluster.now} ns`)
    }
  }
}

/**
 * The same where stages fall back: the rate of such a stage comes on top until it gets a new one; no other stage is
 * given it.
 */
function watchFallBack(cluster: VirtualCluster, fallback: number): void {
  const fellBack = new Set<unknown>()
  cluster.clock.onStep = () => {
    for (const [scope, limit] of cluster.highest) {
      let sum = 0
      for (const s of cluster.stages) {
        const rate = s.rateOf(scope)
        const low = fallback * (scope === 'open' ? 2 : 1)
        if (s.agent.isExpired) {
          fellBack.add(s)
          expect(rate).toBeLessThanOrEqual(low)
        }
        if (!(fellBack.has(s) && rate <= low)) sum += rate
      }
      expect(sum).toBeLessThanOrEqual(limit + cluster.objectsOf(scope))
    }
  }
}

/** Invariants once the cluster has settled. */
function expectSettled(cluster: VirtualCluster): void {
  const [run] = [...cluster.globals].filter((g) => g.controller.isCommanding)
  expect([...cluster.globals].filter((g) => g.controller.isCommanding)).toHaveLength(1)
  const status = run!.controller.status(1)
  expect(padllStatus.parse(status)).toEqual(status)
  expect(status.failures).toEqual([])
  expect(status.locals.flatMap((l) => l.stages)).toHaveLength(cluster.stages.size)
  const { algorithm = 'psfa', limits } = cluster.settings
  for (const [scope, limit] of limits ?? []) {
    const jobs = [...new Set([...cluster.stages].map((s) => s.stage.identity.job))]
    if (jobs.length === 0) continue
    const policy = (job: string, kind: 'demand' | 'limit'): number | null =>
      status.jobs.find((j) => j.job === job && j.scope === scope)?.[kind] ?? null
    const isShared = ['psharing', 'psfa', 'psfa-adaptive'].includes(algorithm)
    const allocations = allocate({
      algorithm,
      maxRate: limit,
      jobs: jobs.map((id) => ({
        id,
        demand: isShared
          ? (policy(id, 'demand') ?? policy(id, 'limit'))
          : (policy(id, 'limit') ?? policy(id, 'demand')),
        usage: 0,
        // Idle for so long that no volatility is left.
        forecast: { arrivals: 0, volatility: 0, waiting: 0 },
      })),
      epsilon: 0.25,
    })
    for (const job of jobs) {
      const rates = [...cluster.stages].filter((s) => s.stage.identity.job === job).map((s) => s.rateOf(scope))
      const sum = rates.reduce((a, b) => a + b, 0)
      expect(sum).toBe(status.jobs.find((j) => j.job === job && j.scope === scope)?.allocated)
      const rate = Math.min(allocations.ok ? allocations.value.get(job)! : NaN, policy(job, 'limit') ?? Infinity)
      const least = rates.length * (scope === 'open' ? 2 : 1)
      if (rate >= least) {
        expect(Math.abs(sum - rate)).toBeLessThan(1 + 1e-6)
        expect(Math.max(...rates) - Math.min(...rates)).toBeLessThanOrEqual(1)
      } else expect(sum).toBeLessThanOrEqual(least + 1)
    }
  }
}

describe('a control hierarchy', () => {
  it('gives every stage the rate that the algorithm says', () => {
    const cluster = played(1)
    watch(cluster)
    cluster.startGlobal()
    for (let n = 0; n < 3; n++) {
      const node = cluster.addNode()
      JOBS.forEach((job, i) => cluster.addStage(node, job, n * 3 + i))
    }
    cluster.clock.run(4 * NS_PER_S)
    expectSettled(cluster)
  })

  const step = fc.record({
    kind: fc.constantFrom(
      ...(['stage', 'stage', 'end', 'die', 'cut', 'node', 'kill', 'start', 'global', 'rival', 'global-cut'] as const),
      ...(['off', 'limit', 'traffic', 'wait'] as const),
    ),
    pick: fc.nat(1000),
    waitMs: fc.nat(700),
  })
  it.each(ALGORITHMS)('%s: never lets the rates in force sum to more than the limit, and settles', (algorithm) => {
    fc.assert(
      fc.property(
        fc.nat(1e6),
        fc.array(step, { maxLength: 40 }),
        fc.constantFrom('equal', 'usage'),
        (seed, steps, split) => {
          const cluster = played(seed, { algorithm, split })
          watch(cluster)
          let run = cluster.startGlobal()
          for (let n = 0; n < 3; n++) cluster.addStage(cluster.addNode(), JOBS[n]!, n)
          let instance = 10
          for (const { kind, pick, waitMs } of steps) {
            const stages = [...cluster.stages]
            const stage = stages[pick % Math.max(1, stages.length)]
            const node = cluster.nodes[pick % cluster.nodes.length]!
            if (kind === 'stage' && stages.length < 20) cluster.addStage(node, JOBS[pick % 3]!, ++instance)
            if (kind === 'end') stage?.end(true)
            if (kind === 'die') stage?.end(false)
            if (kind === 'cut') stage?.wire?.cut()
            if (kind === 'node' && cluster.nodes.length < 5) cluster.addNode()
            if (kind === 'kill') node.kill()
            if (kind === 'start') node.start()
            if (kind === 'global-cut') for (const { wire } of node.globals.values()) wire.cut()
            if (kind === 'rival') run = cluster.startGlobal()
            if (kind === 'limit') cluster.setLimit(run, pick % 2 === 0 ? 'open' : 'meta_op', 60 + 2 * pick)
            if (kind === 'traffic') stage?.work(pick)
            if (kind === 'off') node.isCutOff = !node.isCutOff
            if (kind === 'global') {
              for (const one of cluster.globals) cluster.killGlobal(one)
              run = cluster.startGlobal()
            }
            cluster.clock.run(cluster.now + waitMs * NS_PER_MS)
          }
          for (const stage of cluster.stages) stage.rest()
          for (const node of cluster.nodes) {
            node.isCutOff = false
            node.start()
          }
          // Leases of the gone run out.
          cluster.clock.run(cluster.now + 200 * NS_PER_S)
          expectSettled(cluster)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('with a fallback: the rate of an unreachable stage falls to it before others get the rest', () => {
    const fallback = 20
    const steps = fc.array(
      fc.record({
        kind: fc.constantFrom(...(['off', 'on', 'stage-off', 'stage-on', 'kill', 'start', 'global', 'stage'] as const)),
        pick: fc.nat(1000),
        waitMs: fc.nat(9000),
      }),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(fc.nat(1e6), steps, (seed, drawn) => {
        const cluster = played(seed, { lease: { ns: 4 * NS_PER_S, onExpiry: { rate: fallback } } })
        watchFallBack(cluster, fallback)
        let run = cluster.startGlobal()
        for (let n = 0; n < 4; n++) cluster.addStage(cluster.addNode(), JOBS[n % 3]!, n)
        for (const { kind, pick, waitMs } of drawn) {
          const node = cluster.nodes[pick % cluster.nodes.length]!
          const stage = [...cluster.stages][pick % cluster.stages.size]!
          if (kind === 'off' || kind === 'on') node.isCutOff = kind === 'off'
          if (kind === 'off') for (const { wire } of node.globals.values()) wire.cut()
          if (kind === 'stage-off' || kind === 'stage-on') stage.isCutOff = kind === 'stage-off'
          if (kind === 'stage-off') stage.wire?.cut()
          if (kind === 'kill') node.kill()
          if (kind === 'start') node.start()
          if (kind === 'stage' && cluster.stages.size < 10) cluster.addStage(node, JOBS[pick % 3]!, pick)
          if (kind === 'global') {
            cluster.killGlobal(run)
            run = cluster.startGlobal()
          }
          cluster.clock.run(cluster.now + waitMs * NS_PER_MS)
        }
        for (const node of cluster.nodes) {
          node.isCutOff = false
          node.start()
        }
        for (const s of cluster.stages) s.isCutOff = false
        cluster.clock.run(cluster.now + 30 * NS_PER_S)
        expectSettled(cluster)
      }),
      { numRuns: 60 },
    )
  })

  it.each([1, 2, 3, 4, 5])(
    'a node that comes back when its rates are given away takes none of them twice (%s)',
    (seed) => {
      const cluster = played(seed, { lease: { ns: 4 * NS_PER_S, onExpiry: { rate: 20 } } })
      watchFallBack(cluster, 20)
      cluster.startGlobal()
      const stages = ['a', 'b', 'c'].map((job, i) => cluster.addStage(cluster.addNode(), job, i))
      cluster.clock.run(3 * NS_PER_S)
      const [away] = cluster.nodes
      const had = stages[0]!.rateOf('meta_op')
      away!.isCutOff = true
      for (const { wire } of away!.globals.values()) wire.cut()
      cluster.clock.run(30 * NS_PER_S)
      expect(had).toBeGreaterThan(200)
      expect(stages.map((s) => s.rateOf('meta_op') > 20)).toEqual([false, true, true])
      // The unreachable stage keeps its fallback rate, which no other stage is given.
      expect(stages[1]!.rateOf('meta_op') + stages[2]!.rateOf('meta_op')).toBe(980)
      away!.isCutOff = false
      cluster.clock.run(40 * NS_PER_S)
      expectSettled(cluster)
    },
  )

  it('the rate that a stage brings to a successor counts once, however often its node returns', () => {
    const cluster = played(6)
    watch(cluster)
    const first = cluster.startGlobal()
    const near = cluster.addNode()
    const far = cluster.addNode()
    const a = cluster.addStage(near, 'a', 1)
    const b = cluster.addStage(far, 'b', 2)
    cluster.clock.run(3 * NS_PER_S)
    const rates = [a.rateOf('meta_op'), b.rateOf('meta_op')]
    far.isCutOff = true
    cluster.killGlobal(first)
    cluster.startGlobal()
    for (let i = 0; i < 5; i++) {
      cluster.clock.run(cluster.now + 2 * NS_PER_S)
      for (const { wire } of near.globals.values()) wire.cut()
    }
    cluster.clock.run(cluster.now + 2 * NS_PER_S)
    expect([a.rateOf('meta_op'), b.rateOf('meta_op')]).toEqual(rates)
  })

  it('a stale global controller changes no rate, and reports that it is no longer in command', () => {
    const cluster = played(3, { algorithm: 'static' })
    const old = cluster.startGlobal()
    const node = cluster.addNode()
    const stage = cluster.addStage(node, 'b', 1)
    cluster.clock.run(3 * NS_PER_S)
    expect(stage.rateOf('open')).toBe(60)
    const next = cluster.startGlobal()
    cluster.clock.run(5 * NS_PER_S)
    expect(old.controller.setPolicies('1 0 job b open 33', cluster.now).ok).toBe(true)
    cluster.clock.run(10 * NS_PER_S)
    expect(stage.rateOf('open')).toBe(60)
    expect(old.controller.isCommanding).toBe(false)
    expect(old.controller.status(1).failures.map((f) => f.code)).toContain('SUPERSEDED')
    expect(next.controller.isCommanding).toBe(true)
  })

  it('two controllers of one epoch: the one that started later continues', () => {
    const cluster = played(4)
    const old = cluster.startGlobal(7, 'one')
    const node = cluster.addNode()
    cluster.addStage(node, 'a', 1)
    cluster.clock.run(3 * NS_PER_S)
    const next = cluster.startGlobal(7, 'another')
    cluster.clock.run(10 * NS_PER_S)
    expect([old, next].map((g) => g.controller.isCommanding)).toEqual([false, true])
    expect(next.controller.epoch).toBe(8)
    expect(node.local?.epoch).toBe(8)
  })

  it('a successor gives no more than it finds until the leases of all that it has not heard of have run out', () => {
    const cluster = played(5, { lease: { ns: 5 * NS_PER_S, onExpiry: 'hold' } })
    const first = cluster.startGlobal()
    const near = cluster.addNode()
    const far = cluster.addNode()
    const a = cluster.addStage(near, 'a', 1)
    const b = cluster.addStage(far, 'b', 2)
    cluster.clock.run(3 * NS_PER_S)
    const had = a.rateOf('meta_op')
    const held = b.rateOf('meta_op')
    expect(had + held).toBe(1000)
    far.isCutOff = true
    cluster.killGlobal(first)
    const next = cluster.startGlobal()
    cluster.clock.run(10 * NS_PER_S)
    expect([a.rateOf('meta_op'), b.rateOf('meta_op')]).toEqual([had, held])
    expect(next.controller.status(1).failures.map((f) => f.code)).toEqual(['TAKING_OVER'])
    cluster.clock.run(25 * NS_PER_S)
    expect(a.rateOf('meta_op')).toBe(1000)
  })
})
