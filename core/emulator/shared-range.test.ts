import { describe, expect, it } from 'vitest'
import type { EmulatedCluster } from './cluster.ts'
import { clusterOf, rule, served, servedBetween } from '#tests/kits/core/emulator/small-cluster.ts'

const writer = (id: string, clients: string, more = ''): string =>
  `{ id: ${id}, clients: ${clients}, processes: 2, op: write, size_kib: 256, cached: true, shared: f, targets: [t-OST0000], pattern: { kind: continuous }${more} }`

/** Served RPCs by queue, from the counters of the classes. */
const queuesOf = (c: EmulatedCluster): Record<string, number> => {
  const rules = c.oss[0]!.service.rules()
  return Object.fromEntries(rules.map((r) => [`${r.queue} ${r.name}`, r.ref]))
}

describe('a shared range', () => {
  it('is written back by force whenever another client wants it, each time before that one writes', () => {
    const c = clusterOf([writer('1.a', '[1]'), writer('2.b', '[2]')])
    c.sim.runUntil(10e9)
    expect(queuesOf(c)).toEqual({ 'reg default': 0, 'hp default': 2 })
    // The lock alternates: both write back equally often.
    expect(served(c, '1.a')).toBeGreaterThan(1000)
    expect(Math.abs(served(c, '1.a') - served(c, '2.b'))).toBeLessThanOrEqual(1)
    const [a, b] = c.jobs
    expect(a!.waits.count).toBeGreaterThanOrEqual(served(c, '1.a'))
    // Each wait is for a write-back of 0.2 ms and its round trip.
    expect(b!.waits.max).toBeLessThan(3e6)
    expect(c.osts[0]!.jobStats.read()).toContain(`samples: ${String(served(c, '1.a')).padStart(11)}, unit: bytes`)
  })

  it('stays in the cache of a client that is alone with it, and is written back after 5 s like all dirty pages', () => {
    const c = clusterOf([writer('1.a', '[1]', ', start_s: 1')])
    expect(servedBetween(c, '1.a', 0, 6)).toBe(0)
    expect(c.jobs[0]!.waits.count).toBeGreaterThan(10_000)
    // At 6, 11, 16, 21, 26 and 31 s.
    expect(servedBetween(c, '1.a', 6, 31.1)).toBe(6)
    expect(queuesOf(c)).toEqual({ 'reg default': 1, 'hp default': 0 })
  })

  it('holds up every client as long as the rule of the high-priority queue holds up the write-back', () => {
    const c = clusterOf([writer('1.a', '[1]'), writer('2.b', '[2, 3]')])
    rule(c, 'hp start r jobid={1.a} rate=2')
    c.sim.runUntil(20e9)
    // Each cycle through three clients has one write-back of the throttled job.
    expect(Math.abs(served(c, '1.a') - 42)).toBeLessThanOrEqual(3)
    expect(Math.abs(served(c, '2.b') - 2 * served(c, '1.a'))).toBeLessThanOrEqual(4)
  })

  it('goes first through a client whose slots are full', () => {
    const hog =
      '{ id: 9.hog, clients: [1], processes: 32, op: write, size_kib: 4, targets: [t-OST0000], pattern: { kind: continuous } }'
    const c = clusterOf([writer('1.a', '[1]'), writer('2.b', '[2]'), hog])
    rule(c, 'start h jobid={9.hog} rate=5')
    expect(servedBetween(c, '1.a', 1, 3) / 2).toBeGreaterThan(200)
  })

  it('causes no RPCs when its jobs have ended', () => {
    const c = clusterOf([writer('1.a', '[1]', ', stop_s: 2'), writer('2.b', '[2]', ', stop_s: 3')])
    c.sim.runUntil(20e9)
    const all = served(c, '1.a') + served(c, '2.b')
    c.sim.runUntil(60e9)
    expect(served(c, '1.a') + served(c, '2.b')).toBe(all)
    expect(c.oss[0]!.service.queued).toBe(0)
  })
})
