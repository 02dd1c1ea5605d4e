import { describe, expect, it } from 'vitest'
import { EmulatedCluster } from './cluster.ts'
import { parseScenario, type Scenario } from './scenario.ts'

function scenarioOf(text: string): Scenario {
  const read = parseScenario(text)
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

/** Every feature at once: two CPTs, throttled and free jobs, a mount on a server, a shared range, metadata, stages, ccPFS. */
const EVERYTHING = scenarioOf(`
title: Books
clients: { count: 4, mounted_on: [oss01] }
oss:
  - { name: oss01, cpts: 2, osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 400, per_op_us: 300 } }, { name: t-OST0001, disk: { bandwidth_mb_s: 400 } }] }
mds:
  - { name: mds01, mdts: [{ name: t-MDT0000 }] }
control: { max_rate: 300 }
rules:
  - { service: ost_io, line: 'start cap jobid={1.*} rate=60' }
faults:
  - { what: slow-disk, target: t-OST0001, factor: 5, at_s: 1, for_s: 1 }
padll: { system_limits: { meta_op: 300 } }
ccpfs:
  servers: [lock01]
  files: [{ name: shared.dat }]
  workloads: [{ job: 9.cc.u9, file: shared.dat, clients: [3, 4], pattern: strided, size_bytes: 65536 }]
jobs:
  - { id: 1.cap.u1, clients: [1, 2], processes: 8, outstanding: 2, op: write, size_kib: 256, pattern: { kind: continuous } }
  - { id: 2.burst.u2, clients: [2], processes: 4, outstanding: 4, op: [read, write], size_kib: 128, pattern: { kind: bursts, rpcs: 30, every_s: 0.5, jitter: 0.4 } }
  - { id: 3.mount.u3, clients: [5], op: read, size_kib: 64, pattern: { kind: poisson, rate: 80 } }
  - { id: 4.range.u4, clients: [1, 2], processes: 2, op: write, size_kib: 64, cached: true, shared: r, targets: [t-OST0000], pattern: { kind: continuous } }
  - { id: 5.meta.u5, clients: [3], processes: 4, op: [create, stat, close, unlink], pattern: { kind: phases, phases: [{ for_s: 1, rate: 60 }, { for_s: 0.5, rate: 0 }] } }
  - { id: 6.staged.u6, clients: [4], processes: 4, op: [open, close], stages: {}, pattern: { kind: poisson, rate: 150 } }
`)

const seenOf = (c: EmulatedCluster) => ({
  events: c.sim.executed,
  jobs: c.jobs.map((j) => [
    j.scenario.id,
    j.servedRpcs,
    j.servedBytes,
    j.wanted,
    j.waiting,
    j.waits.count,
    j.waits.mean,
    j.waits.max,
    ...[0.1, 0.5, 0.9, 0.99].map((q) => j.waits.quantile(q)),
    j.held.count,
    j.held.mean,
  ]),
  flows: [...c.osts, ...c.mds.flatMap((m) => m.mdts)].map((t) => [t.name, t.busyNs, t.deviceNs, [...t.flow]]),
  locks: [c.ccpfs?.waits.waitedNs, c.ccpfs?.run.total.writtenBytes],
})

describe('a cluster without counters', () => {
  it('serves the same RPCs at the same times', () => {
    for (const seed of [1, 2]) {
      const [counting, plain] = [true, false].map((counters) => new EmulatedCluster(EVERYTHING, { seed, counters }))
      for (const c of [counting!, plain!]) c.sim.runUntil(4e9)
      expect(seenOf(plain!)).toEqual(seenOf(counting!))
      for (const j of counting!.jobs) expect(j.servedRpcs, j.scenario.id).toBeGreaterThan(0)
    }
  })

  it('has parameters that read as if nothing had happened', () => {
    const c = new EmulatedCluster(EVERYTHING, { counters: false })
    c.sim.runUntil(1e9)
    expect(c.osts[0]?.jobStats.jobIds).toEqual([])
    expect(c.osts[0]?.servedRpcs).toBeGreaterThan(0)
  })
})
