// Forks whose planes come from the rows of a recording: an emulator run, recorded, without anything else known of its source.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { DEFAULT_LOOP_OPTIONS } from '#core/adaptbf/loop-options.ts'
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { forkScenario } from '#core/sandbox/fork.ts'
import type { ForkInputs } from '#core/sandbox/fork-inputs.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { runOf, verdictOfRuns } from '#tests/kits/core/sandbox/small-run.ts'
import { EPOCH_S } from '#tests/node/locked-host.ts'
import { tempFolder } from '#tests/node/temp-folder.ts'
import { openHost, type Host } from '../host.ts'
import { inputsFromHistory, type ForkAround } from './fork-history.ts'

const SOURCE = `
title: Planes to record
cluster: planes
clients: { count: 8 }
oss: [{ name: oss01, osts: [{ name: p-OST0000, disk: { bandwidth_mb_s: 500 } }] }]
mds: [{ name: mds01, mdts: [{ name: p-MDT0000 }] }]
control: { controller: none, mode: observe, max_rate: 300 }
padll:
  algorithm: psfa
  system_limits: { meta_op: 200 }
  policies: |
    1 0 demand 1.meta.u1 meta_op 120
    2 0 demand 2.scan.u2 meta_op 80
ccpfs:
  manager: datatype
  options: { expansion: false }
  servers: [ds01, ds02]
  files: [{ name: ckpt.h5, stripes: 3, size_mib: 12 }, { name: run.log }]
  workloads:
    - { job: ckpt, file: ckpt.h5, clients: [1, 2, 3, 4], pattern: strided, size_bytes: 47008, pace: { kind: continuous, think_ms: 40 } }
    - { job: log, file: run.log, clients: [1, 2], pattern: append, size_bytes: 512, pace: { kind: continuous, think_ms: 50 } }
haechi:
  - name: dn01
    global_iops: 12000
    local_iops: 6000
    batch: 50
    clients:
      - { name: a, job: kv, reservation: 4000, workload: { kind: constant, per_period: 3500 } }
      - { name: b, job: kv, reservation: 2000, limit: 2500, workload: { kind: backlogged } }
      - { name: c, job: scan, workload: { kind: poisson, per_s: 800 } }
  - name: dn02
    period_ms: 250
    global_iops: 8000
    local_iops: 4000
    batch: 20
    clients: [{ name: a, job: kv, reservation: 500, workload: { kind: constant, per_period: 400 } }]
jobs:
  - { id: 1.meta.u1, user: u1, clients: [1, 2], processes: 4, outstanding: 1000, op: stat, stages: { per_client: 2 }, pattern: { kind: poisson, rate: 50 } }
  - { id: 2.scan.u2, user: u2, clients: [3], processes: 2, op: open, stages: {}, pattern: { kind: poisson, rate: 20 } }
  - { id: 3.data.u3, clients: [4], op: write, size_kib: 64, pattern: { kind: poisson, rate: 10 } }
`
const LUSTRE_ONLY = `
title: No plane
cluster: planes
clients: { count: 2 }
oss: [{ name: oss01, osts: [{ name: p-OST0000, disk: { bandwidth_mb_s: 500 } }] }]
control: { controller: none, mode: observe, max_rate: 300 }
jobs: [{ id: 3.data.u3, clients: [1], op: write, size_kib: 64, pattern: { kind: poisson, rate: 10 } }]
`
const FROM = 10
const TO = 40

const RECORDED: Omit<ForkAround, 'cluster'> = {
  kind: 'RECORDED',
  servers: [],
  mdts: [],
  intervalMs: 1000,
  scenario: undefined,
  control: { controller: 'none', mode: 'observe', options: DEFAULT_LOOP_OPTIONS, maxRate: 300, periodMs: 1000 },
  notice: 'A file.',
}

function inputsOf(reader: HistoryReader, more: Partial<Pick<ForkInputs, 'workload' | 'isReplay'>> = {}): ForkInputs {
  const at = (s: number): number => (EPOCH_S + s) * 1000
  const span = { fromMs: at(FROM), toMs: at(TO) }
  const made = inputsFromHistory({ ...RECORDED, cluster: 'planes' }, reader, span, {
    workload: 'open',
    isReplay: true,
    ...more,
  })
  if (!made.ok) throw new Error(made.error.why)
  return made.value
}

function forkOf(inputs: ForkInputs): Scenario {
  const made = forkScenario(inputs)
  if (!made.ok) throw new Error(`${made.error.what}: ${made.error.why}`)
  return made.value.scenario
}

/** A host that ran a scenario, and its history. */
async function recorded(text: string): Promise<{ host: Host; reader: HistoryReader }> {
  const scenarioFile = join(tempFolder(), 'planes.yaml')
  writeFileSync(scenarioFile, text)
  const opened = await openHost({
    shell: 'terminal',
    historyFile: ':memory:',
    paced: false,
    epochSeconds: EPOCH_S,
    scenarioFile,
  })
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  const { source, monitor } = opened.value
  await source.runTo((TO + 2) * NS_PER_S, (atNs) => monitor.tick(atNs))
  monitor.history.flush()
  return { host: opened.value, reader: monitor.history.reader() }
}

describe('a fork of a recording with rows of planes', () => {
  let r: Awaited<ReturnType<typeof recorded>>
  let fork: Scenario
  beforeAll(async () => {
    r = await recorded(SOURCE)
    fork = forkOf(inputsOf(r.reader))
  })
  afterAll(() => r.host.close())

  it('lists the planes, and what is assumed of them', () => {
    expect(fork.fork!.planes).toEqual(['metadata', 'locks', 'tokens'])
    const text = fork.fork!.unknown.join('\n')
    for (const part of [
      'stages of PADLL, ccPFS and its locks, data nodes: from the recorded rows',
      'PADLL: algorithm, split, cycle and lease are not recorded',
      'allocated is assumed as its demand',
      'one MDT is assumed',
      'ccPFS: lock modes and byte ranges of clients',
      'Data nodes: the capacity estimate is taken as the profile',
    ])
      expect(text).toContain(part)
    expect(text).not.toContain('ccPFS and RDMA data nodes: a recording does not have enough')
  })

  it('has the jobs, stages, demand and limit of PADLL', () => {
    expect(fork.padll!.system_limits).toEqual({ meta_op: 200 })
    const stages = fork.jobs.flatMap((j) => (j.stages ? [[j.id, j.clients.length, j.stages.per_client]] : []))
    expect(stages).toEqual([
      ['1.meta.u1', 2, 2],
      ['2.scan.u2', 1, 1],
    ])
    const free = new EmulatedCluster({ ...fork, jobs: fork.jobs.map(({ stages: _, ...j }) => j) })
    free.sim.runUntil(30 * NS_PER_S)
    for (const [id, rate] of [
      ['1.meta.u1', 200],
      ['2.scan.u2', 40],
    ] as const) {
      const wanted = free.jobs[fork.jobs.findIndex((j) => j.id === id)]!.wanted / 30
      expect(Math.abs(wanted / rate - 1)).toBeLessThan(0.1)
    }
  })

  it('has the clients of the data nodes with reservations, limits, periods, capacity and used rates', () => {
    const [first, second] = fork.haechi
    expect(first).toMatchObject({ name: 'dn01', period_ms: 1000, global_iops: 12_000, variant: 'haechi' })
    expect(second).toMatchObject({ name: 'dn02', period_ms: 250, global_iops: 8000 })
    expect(first!.clients.map((c) => [c.name, c.job, c.reservation, c.limit])).toEqual([
      ['a', 'kv', 4000, null],
      ['b', 'kv', 2000, 2500],
      ['c', 'scan', 0, null],
    ])
    const c = new EmulatedCluster(fork)
    c.sim.runUntil(20 * NS_PER_S)
    const used = [[3500, 2500, 800], [400]]
    c.dataNodes.forEach((node, n) => {
      const periods = node.runs[0]!.node.periods.items
      used[n]!.forEach((rate, i) => {
        const mean = periods.reduce((sum, p) => sum + (p.completed[i] ?? 0), 0) / periods.length
        expect(Math.abs(mean / rate - 1)).toBeLessThan(0.05)
      })
    })
  })

  it('has the files, lock servers and manager, and requests locks at the recorded rates', () => {
    expect(fork.ccpfs).toMatchObject({ manager: 'datatype', servers: ['ds01', 'ds02'] })
    expect(fork.ccpfs!.files.map((f) => [f.name, f.stripes])).toEqual([
      ['ckpt.h5', 3],
      ['run.log', 1],
    ])
    const rows = inputsOf(r.reader).rows!.tables.get('lock_resources')!
    expect(rows).toHaveLength(4)
    const { ccpfs, sim } = new EmulatedCluster(fork)
    sim.runUntil(30 * NS_PER_S)
    const counted = ccpfs!.trace.resources(30 * NS_PER_S, 30 * NS_PER_S)
    for (const { name, place, values } of rows) {
      const now = counted.find((c) => ccpfs!.describe(c.resource)?.name === name)!
      expect(ccpfs!.describe(now.resource)?.server).toBe(place)
      expect(Math.abs(now.grants / 30 / values['grants_per_s']! - 1)).toBeLessThan(0.15)
      expect(Math.abs(now.conflicts / 30 / values['conflicts_per_s']! - 1)).toBeLessThan(0.25)
    }
  })

  it('takes a client that waits for tokens as one that wants more, and one that left as gone', () => {
    const inputs = inputsOf(r.reader, { workload: 'closed', isReplay: false })
    const tables = new Map(inputs.rows!.tables)
    const clients = tables.get('token_clients')!
    const changed = clients.map((c) => {
      if (c.place === 'dn01' && c.name === 'c') return { ...c, toS: 12 }
      return c.place === 'dn01' && c.name === 'a' ? { ...c, means: { ...c.means, starved: 0.8 } } : c
    })
    tables.set('token_clients', changed)
    const other = forkOf({ ...inputs, rows: { tables } })
    expect(other.haechi[0]!.clients.map((c) => [c.name, c.workload.kind])).toEqual([
      ['a', 'backlogged'],
      ['b', 'constant'],
    ])
    const text = other.fork!.unknown.join('\n')
    expect(text).toContain('1 client waited for tokens')
    expect(text).toContain('1 client had left before the fork')
    // In a replay it leaves when it did.
    const replayed = forkOf({ ...inputs, isReplay: true, rows: { tables } })
    expect(replayed.haechi[0]!.clients.map((c) => c.leave_s)).toEqual([undefined, undefined, 13])
  })

  it('attack: names of users and odd periods do not cost a plane', () => {
    const inputs = inputsOf(r.reader)
    const tables = new Map(inputs.rows!.tables)
    const named = ['\u0000', '=cmd|x', '\u001b[2J', '💾 / 1', '__proto__', 'a'.repeat(256), '/', '']
    tables.set(
      'token_clients',
      named.map((name) => {
        const client = tables.get('token_clients')!.find((c) => c.place === 'dn01')!
        const values = { ...client.values, reservation: 333, limit: NaN }
        return { ...client, name, jobId: name.repeat(300), values }
      }),
    )
    // 40 periods of 0.7 s, and an estimate below the reservations.
    const node = tables.get('token_nodes')!.find((n) => n.name === 'dn01')!
    const odd = { first: { epoch: 0, estimate: 10 }, values: { epoch: 40, estimate: 10 }, fromS: 0, toS: 28, rows: 29 }
    tables.set('token_nodes', [{ ...node, ...odd }])
    const resources = tables.get('lock_resources')!
    tables.set('lock_resources', [
      ...resources,
      ...named.map((n) => ({ ...resources[0]!, name: `${n} / 0`, place: n })),
    ])
    const hostile = forkOf({ ...inputs, rows: { tables } })
    expect(hostile.fork!.planes).toEqual(['metadata', 'locks', 'tokens'])
    expect(hostile.haechi[0]).toMatchObject({ period_ms: 700, capacity: [{ at_s: 0, iops: 15 }] })
    expect(hostile.haechi[0]!.clients).toHaveLength(named.length)
    expect(hostile.ccpfs!.files.map((f) => f.name)).toEqual(expect.arrayContaining(['ckpt.h5', '=cmd|x', '__proto__']))
    expect(hostile.fork!.unknown.join(' ')).toContain('resources without the name of a file')
  })

  it('runs with a verdict over the planes', () => {
    const report = runOf(fork, {}, { seconds: 6 })
    const keys = report.planes.map((p) => p.key)
    for (const key of ['metadataServed', 'locksWritten', 'tokensCompleted'] as const) expect(keys).toContain(key)
    const { parts } = verdictOfRuns(fork, [{}, { metadata: 'off' }], 10)
    expect(parts.map((p) => p.text).join('')).toContain('metadata above the system limit')
  })
})

describe('a fork of a recording without rows of planes', () => {
  it('is as it was: no plane, and the reason', async () => {
    const { reader, host } = await recorded(LUSTRE_ONLY)
    const inputs = inputsOf(reader)
    expect(inputs.rows).toBeUndefined()
    const fork = forkOf(inputs)
    expect(fork.fork!.planes).toEqual([])
    expect(fork.padll ?? fork.ccpfs).toBeUndefined()
    expect(fork.haechi).toEqual([])
    expect(fork.mds).toEqual([])
    expect(fork.fork!.unknown).toContain(
      "PADLL's stages, extent locks, ccPFS and RDMA data nodes: a recording does not have enough to fork them.",
    )
    await host.close()
  })
})
