/** The sandbox against the console: the same scenario, once by the model's own loop, once by shells and text. */
import { describe, expect, it } from 'vitest'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { runVariant } from '#core/sandbox/run.ts'
import { demo, emulatedCluster, smallScenario } from './emulated-cluster.ts'

/** Runs both: RPCs served, wait and record of each job; and the events of the whole world. */
async function bothWays(scenario: Scenario, seconds: number): Promise<{ model: unknown; console: unknown }> {
  const { emulator } = await (async () => {
    const c = emulatedCluster(scenario, { controller: scenario.control.controller })
    await c.run(seconds)
    expect(c.monitor.failures).toEqual([])
    return { emulator: c.source.emulator }
  })()
  const run = runVariant(scenario, {
    variant: {
      name: 'as it is',
      controller: scenario.control.controller,
      maxRate: null,
      periodMs: null,
      adaptbf: {},
      rules: [],
      metadata: null,
      metadataLimits: [],
      haechi: 'scenario',
      tokens: {},
      locks: null,
      lockOptions: {},
      onS: 0,
    },
    index: 0,
    seed: scenario.seed,
    seconds,
    sloWaitMs: 100,
  })
  if (!run.ok) throw new Error(run.error.why)
  expect(run.value.remarks).toEqual([])
  return {
    model: run.value.jobs.map((j) => [j.jobId, j.servedRpcs, j.wantedRpcs, j.waitP50Ms, j.waitP95Ms]),
    console: emulator.jobs.map((j) => {
      const wait = (q: number): number => (j.waits.count === 0 ? NaN : j.waits.quantile(q) / 1e6)
      return [j.scenario.id, j.servedRpcs, j.wanted, wait(0.5), wait(0.95)]
    }),
  }
}

const jobs = [
  { id: '1.hog.u1' },
  { id: '2.calm.u2', clients: [2, 3], processes: 2, pattern: { kind: 'poisson', rate: 40 } },
  { id: '3.burst.u3', clients: [2, 4], processes: 4, pattern: { kind: 'bursts', rpcs: 20, every_s: 1.5, jitter: 0.3 } },
  { id: 'login.cp.root', clients: [4], processes: 1, in_slurm: false },
  { id: '4.late.u4', clients: [1, 2, 3], processes: 3, start_s: 1.7 },
]

describe('a run of the sandbox', () => {
  it('serves every job of the demo exactly what it is served under the console', async () => {
    const { model, console } = await bothWays(demo(), 3.5)
    expect(model).toEqual(console)
  })

  it.each([
    ['the paper', {}],
    ['arrivals and a deadband', { demand: 'arrivals', deadband_percent: 10 }],
    ['what waits, overdraft and T that follows', { demand: 'backlog', overdraft: 0.5, auto_t: true }],
  ])('does so with AdapTBF: %s', async (_, adaptbf) => {
    const { model, console } = await bothWays(smallScenario(jobs, { adaptbf }), 5)
    expect(model).toEqual(console)
  })

  it('does so with fixed shares, and without control', async () => {
    for (const controller of ['static', 'none'] as const) {
      const scenario = smallScenario(jobs)
      const { model, console } = await bothWays({ ...scenario, control: { ...scenario.control, controller } }, 4)
      expect(model, controller).toEqual(console)
    }
  })

  it('does so with rules of people in the way, and metadata controlled on its servers', async () => {
    const read = parseScenario(`
title: Both planes
policy: tbf
clients: { count: 4 }
oss: [{ name: oss01, cpts: 2, osts: [{ name: b-OST0000, disk: { bandwidth_mb_s: 400, per_op_us: 4000 } }] }]
mds: [{ name: mds01, mdts: [{ name: b-MDT0000, channels: 2 }] }]
rules: [{ service: ost_io, line: 'start night jobid={1.*} rate=40' }]
control:
  max_rate: 200
  metadata: { algorithm: priority, limits: { meta_op: 400 }, policies: "1 0 demand 3.meta.u3 meta_op 200\\n2 2 demand 4.meta.u4 meta_op 100" }
jobs:
  - { id: 1.a.u1, clients: [1], processes: 8, op: write, size_kib: 64, pattern: { kind: continuous } }
  - { id: 2.b.u2, clients: [2, 3], processes: 8, op: read, size_kib: 64, pattern: { kind: continuous } }
  - { id: 3.meta.u3, clients: [3], processes: 8, op: [create, stat, unlink, close], pattern: { kind: continuous } }
  - { id: 4.meta.u4, clients: [4], processes: 8, op: [mkdir, rmdir], pattern: { kind: poisson, rate: 40 } }
`)
    if (!read.ok) throw new Error(read.error.why)
    const { model, console } = await bothWays(read.value, 5)
    expect(model).toEqual(console)
  })
})
