import { describe, expect, it } from 'vitest'
import { FifoServer } from '../sim/fifo-server.ts'
import { Simulation } from '../sim/simulation.ts'
import { EmulatedCluster } from './cluster.ts'
import { parseScenario, type Scenario } from './scenario.ts'

function scenario(more: string, patternOf = '{ kind: continuous }'): Scenario {
  const read = parseScenario(`title: Faults
clients: { count: 2, network_mb_s: 100 }
oss:
  - name: oss01
    osts:
      - { name: t-OST0000, disk: { bandwidth_mb_s: 1000, per_op_us: 5000, channels: 1 } }
      - { name: t-OST0001, disk: { bandwidth_mb_s: 1000, per_op_us: 5000, channels: 1 } }
mds:
  - name: mds01
    mdts: [{ name: t-MDT0000, per_op_us: 1000, channels: 1 }]
control: { controller: none, max_rate: 200 }
jobs:
  - { id: a, clients: [1], op: write, size_kib: 64, targets: [t-OST0000], pattern: ${patternOf} }
  - { id: b, clients: [2], op: write, size_kib: 64, targets: [t-OST0001], pattern: ${patternOf} }
  - { id: m, clients: [1], op: stat, pattern: ${patternOf} }
${more}`)
  if (!read.ok) throw new Error(`${read.error.line}: ${read.error.why}`)
  return read.value
}

/** RPCs of each job in [from, to) s. */
function served(c: EmulatedCluster, from: number, to: number): number[] {
  c.sim.runUntil(from * 1e9 - 1)
  const before = c.jobs.map((j) => j.servedRpcs)
  c.sim.runUntil(to * 1e9 - 1)
  return c.jobs.map((j, i) => j.servedRpcs - (before[i] as number))
}

describe('faults', () => {
  it('make a disk slower by their factor, and only that one, for as long as they last', () => {
    const c = new EmulatedCluster(
      scenario('faults: [{ what: slow-disk, target: t-OST0000, factor: 4, at_s: 2, for_s: 3 }]'),
    )
    const before = served(c, 1, 2)
    const during = served(c, 3, 4)
    const after = served(c, 6, 7)
    expect(before[0]! / during[0]!).toBeGreaterThan(3)
    expect(before[0]! / during[0]!).toBeLessThan(4.2)
    expect(Math.abs(during[1]! - before[1]!)).toBeLessThanOrEqual(2)
    expect(Math.abs(after[0]! - before[0]!)).toBeLessThanOrEqual(2)
  })

  it('multiply where they overlap, and each ends by itself', () => {
    const text = `faults:
  - { what: slow-disk, target: t-MDT0000, factor: 2, at_s: 1, for_s: 4 }
  - { what: slow-disk, target: t-MDT0000, factor: 3, at_s: 2, for_s: 1 }`
    const c = new EmulatedCluster(scenario(text))
    const at = (s: number): number => served(c, s, s + 0.9)[2]!
    const none = at(0.05)
    const two = at(1.05)
    const six = at(2.05)
    const twoAgain = at(3.05)
    const noneAgain = at(5.05)
    expect(none / two).toBeGreaterThan(1.7)
    expect(two / six).toBeGreaterThan(2.6)
    expect(Math.abs(twoAgain - two)).toBeLessThanOrEqual(2)
    expect(Math.abs(noneAgain - none)).toBeLessThanOrEqual(2)
  })

  it('stop a disk: what it had begun ends, the rest waits and is served afterwards, none is lost', () => {
    const c = new EmulatedCluster(scenario('faults: [{ what: disk-stops, target: t-OST0000, at_s: 1, for_s: 5 }]'))
    expect(served(c, 1.1, 5.9)[0]).toBe(0)
    expect(served(c, 6, 7)[0]).toBeGreaterThan(100)
    const job = c.jobs[0]!
    expect(job.wanted - job.servedRpcs).toBeLessThanOrEqual(1)
  })

  it('stop it for good without an end', () => {
    const c = new EmulatedCluster(scenario('faults: [{ what: disk-stops, target: t-OST0000, at_s: 1 }]'))
    expect(served(c, 2, 10)[0]).toBe(0)
  })

  it('slow the network of the clients that they name', () => {
    const text = 'faults: [{ what: slow-network, factor: 50, clients: [2], at_s: 2 }]'
    const c = new EmulatedCluster(scenario(text))
    const before = served(c, 1, 2)
    const during = served(c, 3, 4)
    expect(Math.abs(during[0]! - before[0]!)).toBeLessThanOrEqual(2)
    expect(before[1]! / during[1]!).toBeGreaterThan(4)
  })

  it('silence the shells of a server, which serves all the same', () => {
    const c = new EmulatedCluster(scenario('faults: [{ what: server-silent, server: oss01, at_s: 1, for_s: 1 }]'))
    const seen: boolean[] = []
    for (const s of [0.5, 1.5, 2.5]) {
      c.sim.runUntil(s * 1e9)
      seen.push(c.node('oss01')!.isSilent)
    }
    expect(seen).toEqual([false, true, false])
    expect(served(c, 3, 4)[0]).toBeGreaterThan(100)
  })

  it('are the same for the same seed', () => {
    const text = 'faults: [{ what: slow-disk, target: t-OST0000, factor: 3.7, at_s: 0.3, for_s: 1.1 }]'
    const run = (): string => {
      const c = new EmulatedCluster(scenario(text, '{ kind: poisson, rate: 90 }'))
      c.sim.runUntil(3e9)
      return JSON.stringify([c.sim.executed, c.jobs.map((j) => [j.servedRpcs, j.waits.mean])])
    }
    expect(run()).toBe(run())
  })
})

it('a stopped station starts nothing, and later continues with its queue in order', () => {
  const sim = new Simulation()
  const station = new FifoServer(sim, 2)
  const ended: [number, number][] = []
  for (let i = 0; i < 5; i++) station.submit(10, () => ended.push([i, sim.now]))
  station.setSlowness(Infinity)
  sim.runUntil(100)
  expect(ended).toEqual([
    [0, 10],
    [1, 10],
  ])
  station.setSlowness(2)
  sim.runUntil(200)
  expect(ended.slice(2)).toEqual([
    [2, 120],
    [3, 120],
    [4, 140],
  ])
  expect([station.queued, station.busy]).toEqual([0, 0])
})

describe('a process with think time', () => {
  it('runs at the rate given by response time and think time', () => {
    const c = new EmulatedCluster(scenario('', '{ kind: continuous, think_ms: 45 }'))
    // 45 ms of think time and about 5.7 ms of service and network.
    const n = served(c, 0, 60)[0]! / 60
    expect(n).toBeGreaterThan(17)
    expect(n).toBeLessThan(22.5)
  })
})
