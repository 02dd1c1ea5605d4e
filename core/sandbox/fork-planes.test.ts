import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_LOOP_OPTIONS } from '../adaptbf/loop-options.ts'
import { EmulatedCluster } from '../emulator/cluster.ts'
import { parseScenario, type Scenario } from '../emulator/scenario.ts'
import { parsePolicies, PolicySchedule } from '../padll/rules/policy-schedule.ts'
import { forkScenario } from './fork.ts'
import type { ForkInputs, ForkJob, ForkPadll } from './fork-inputs.ts'
import { carriedPlanes, policiesAfter, withStagedDemand } from './fork-planes.ts'

const BINS = 60
const flat = (v: number): number[] => Array<number>(BINS).fill(v)
const job = (jobId: string, mdops: number, more: Partial<ForkJob> = {}): ForkJob => ({
  jobId,
  user: 'u',
  account: '',
  nodes: 1,
  hosts: [],
  throttled: 0,
  targets: [],
  ops: new Map([
    ['open', 2],
    ['close', 6],
    ['getattr', 4],
  ]),
  rpcs: flat(0),
  readBps: flat(0),
  writeBps: flat(0),
  mdops: flat(mdops),
  ...more,
})
const inputs = (more: Partial<ForkInputs> = {}): ForkInputs => ({
  cluster: 'altair',
  kind: 'LIVE',
  atMs: 1_795_000_000_000,
  binS: 1,
  spanS: BINS,
  gaps: [],
  binAtS: flat(0).map((_, i) => i),
  isReplay: false,
  workload: 'open',
  jobs: [job('7.meta.u1', 90)],
  mdts: [{ name: 'altair-MDT0000', server: 'mds01', perOpUs: 200 }],
  rules: [],
  controllerRules: 0,
  unknown: [],
  targets: [{ name: 'altair-OST0000', server: 'oss01', rpcs: flat(1), serviceMs: flat(8), queued: flat(0) }],
  servers: [
    { name: 'oss01', kind: 'oss', version: '2.15.8', cpts: 1, policy: 'fifo' },
    { name: 'mds01', kind: 'mds', version: '2.15.8', cpts: 1, policy: 'fifo' },
  ],
  control: { controller: 'none', mode: 'observe', maxRate: 500, periodMs: 1000, options: DEFAULT_LOOP_OPTIONS },
  ...more,
})
const PADLL: ForkPadll = {
  controller: 'qos01',
  algorithm: 'psharing',
  epsilon: 0.5,
  split: 'usage',
  intervalMs: 2000,
  collectRounds: 2,
  leaseS: 20,
  expiryRate: 40,
  limits: [{ scope: 'meta_op', rate: 100 }],
  policies: { text: '1 0 demand 7.meta.u1 meta_op 60\n2 30 demand 7.meta.u1 meta_op 90\n', elapsedS: 45 },
  jobs: [
    { job: '7.meta.u1', user: 'u1', hosts: ['cn01', 'cn01', 'cn02'], asked: 300, queued: 17 },
    { job: '8.unseen.u2', user: 'u2', hosts: ['cn03'], asked: 50, queued: 0 },
  ],
}
function forkOf(i: ForkInputs): Scenario {
  const made = forkScenario(i)
  if (!made.ok) throw new Error(`${made.error.what}: ${made.error.why}`)
  return made.value.scenario
}

describe('a fork of a live PADLL', () => {
  const scenario = forkOf(inputs({ padll: PADLL }))
  const notes = scenario.fork!.unknown.join('\n')

  it('keeps its settings, limits and policies in force', () => {
    expect(scenario.padll).toMatchObject({
      controller_node: 'qos01',
      algorithm: 'psharing',
      epsilon: 0.5,
      split: 'usage',
      interval_ms: 2000,
      collect_rounds: 2,
      system_limits: { meta_op: 100 },
      lease: { seconds: 20, on_expiry: 40 },
    })
    const { policies } = parsePolicies(scenario.padll!.policies)
    expect(policies.map((p) => [p.atS, p.value])).toEqual([[0, 90]])
  })

  it('keeps the demand that arrived at the stages, on their clients, also of jobs that the servers do not show', () => {
    const [meta, unseen] = scenario.jobs
    expect(meta).toMatchObject({ id: '7.meta.u1', stages: { per_client: 2 } })
    expect(meta!.clients).toHaveLength(2)
    expect(unseen).toMatchObject({ id: '8.unseen.u2', user: 'u2', stages: { per_client: 1 } })
    const free = new EmulatedCluster({ ...scenario, jobs: scenario.jobs.map(({ stages: _, ...j }) => j) })
    free.sim.runUntil(10e9)
    for (const [i, rate] of [300, 50].entries()) {
      expect(Math.abs(free.jobs[i]!.wanted / 10 / rate - 1)).toBeLessThan(0.1)
    }
  })

  it('runs, and its stages hold the demand at the limit', () => {
    const c = new EmulatedCluster(scenario)
    c.sim.runUntil(20e9)
    const before = c.jobs.reduce((n, j) => n + j.servedRpcs, 0)
    c.sim.runUntil(40e9)
    const rate = (c.jobs.reduce((n, j) => n + j.servedRpcs, 0) - before) / 20
    expect(rate).toBeGreaterThan(70)
    expect(rate).toBeLessThan(115)
  })

  it('names what is not carried', () => {
    for (const part of [
      'stages of PADLL: as at the instant',
      'token buckets',
      '17 operations that waited in stages',
      'mount points of the stages are not reported',
      '1 job without Lustre counters',
    ])
      expect(notes).toContain(part)
  })

  it('names the demand that has no metadata server, and a recording that has no stages', () => {
    const without = forkOf(
      inputs({
        padll: PADLL,
        mdts: [],
        servers: [inputs().servers[0]!],
        jobs: [job('7.meta.u1', 0, { rpcs: flat(9) })],
      }),
    )
    expect(without.fork!.unknown.join('\n')).toContain('the demand of 2 jobs is not carried: no MDT was read')
    expect(forkOf(inputs({ kind: 'RECORDED' })).fork!.unknown.join('\n')).toContain('a recording does not have enough')
  })

  it('gives a controller that runs on a server a node of its own', () => {
    const { padll } = forkOf(inputs({ padll: { ...PADLL, controller: 'mds01' } }))
    expect(padll!.controller_node).toBe('mds01-padll')
  })

  it('takes a queue without more arrivals than service for processes that the limit holds back', () => {
    const [stage] = PADLL.jobs
    const throttled = (asked: number, queued: number): number =>
      withStagedDemand(inputs({ padll: { ...PADLL, jobs: [{ ...stage!, asked, queued }] } }))[0]!.throttled
    expect([throttled(90, 40), throttled(90, 1), throttled(300, 40)]).toEqual([1, 0, 0])
  })

  it('leaves jobs without stages as they are', () => {
    expect(withStagedDemand(inputs())).toEqual(inputs().jobs)
    const other = job('9.other.u3', 5)
    expect(withStagedDemand(inputs({ padll: PADLL, jobs: [other] }))).toContain(other)
  })
})

describe('a fork of an emulated ccPFS and data nodes', () => {
  const read = parseScenario(`
title: Planes
control: { max_rate: 300 }
clients: { count: 4 }
oss: [{ name: oss01, osts: [{ name: p-OST0000, disk: { bandwidth_mb_s: 500 } }] }]
ccpfs:
  servers: [lock01]
  files: [{ name: a.dat }]
  workloads:
    - { job: 1.x.u1, file: a.dat, clients: [1, 2], pattern: strided, size_bytes: 65536, stop_s: 20 }
    - { job: 2.x.u1, file: a.dat, clients: [3], pattern: strided, size_bytes: 65536, start_s: 10, stop_s: 90 }
    - { job: 3.x.u1, file: a.dat, clients: [4], pattern: strided, size_bytes: 65536, start_s: 70 }
haechi:
  - name: dn01
    global_iops: 40000
    local_iops: 20000
    clients:
      - { name: a, reservation: 9000 }
      - { name: b, leave_s: 40 }
      - { name: c, start_s: 60, leave_s: 80 }
jobs:
  - { id: 1.x.u1, clients: [1, 2], op: read, size_kib: 4, pattern: { kind: poisson, rate: 1 } }
  - { id: 2.x.u1, clients: [3], op: read, size_kib: 4, pattern: { kind: poisson, rate: 1 } }
  - { id: 3.x.u1, clients: [4], op: read, size_kib: 4, pattern: { kind: poisson, rate: 1 } }
`)
  if (!read.ok) throw new Error(read.error.why)
  const scenario = read.value
  const of = (elapsedS: number, more: Partial<ForkInputs> = {}) =>
    carriedPlanes(inputs({ kind: 'EMULATED', scenario, elapsedS, ...more }))

  it('keeps files and clients, at the instant: workloads that ended are gone, later ones keep their distance', () => {
    const { sections, lost } = of(50)
    expect(sections.ccpfs!.files).toEqual(scenario.ccpfs!.files)
    expect(sections.ccpfs!.workloads.map((w) => [w.job, w.clients, w.start_s, w.stop_s])).toEqual([
      ['2.x.u1', [3], 0, 40],
      ['3.x.u1', [4], 20, undefined],
    ])
    expect(lost.join(' ')).toContain('1 workload had ended')
    expect(lost.join(' ')).toContain('held locks, cached and unflushed data are not')
  })

  it('keeps the present clients of a data node with their reservations, its QoS and its capacity', () => {
    const present = { name: 'a', reservation: 7000, limit: 12_000 }
    const dataNodes = [
      { name: 'dn01', variant: 'basic', preset: 'paper-literal', iops: 30_000, clients: [present] } as const,
    ]
    const [node] = of(50, { dataNodes }).sections.haechi!
    expect(node).toMatchObject({ variant: 'basic', preset: 'paper-literal', capacity: [{ at_s: 0, iops: 30_000 }] })
    expect(node!.clients.map((c) => [c.name, c.reservation, c.limit, c.start_s, c.leave_s])).toEqual([
      ['a', 7000, 12_000, 0, undefined],
      ['c', 0, null, 10, 30],
    ])
  })

  it('is the scenario itself at its start', () => {
    const { sections } = of(0)
    expect(sections.ccpfs).toEqual(scenario.ccpfs)
    expect(sections.haechi).toEqual(scenario.haechi)
  })
})

describe('policies as of a time', () => {
  it('are those in force then, and change later as they would have', () => {
    const step = fc.record({ at: fc.nat(100), job: fc.constantFrom('a', 'b'), value: fc.integer({ min: 1, max: 999 }) })
    const inForce = (text: string, atS: number): unknown => {
      const schedule = new PolicySchedule(parsePolicies(text))
      schedule.advance(atS)
      return schedule.now.map(({ kind, job: of, scope, value }) => [kind, of, scope, value]).toSorted()
    }
    fc.assert(
      fc.property(
        fc.uniqueArray(step, { selector: (s) => `${s.job} ${s.at}`, minLength: 1, maxLength: 8 }),
        fc.nat(120),
        fc.nat(60),
        (steps, elapsedS, laterS) => {
          const text = steps.map((s, i) => `${i + 1} ${s.at} demand ${s.job} meta_op ${s.value}`).join('\n')
          expect(inForce(policiesAfter(text, elapsedS), laterS)).toEqual(inForce(text, elapsedS + laterS))
        },
      ),
    )
  })
})
