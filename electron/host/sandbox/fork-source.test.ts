import { beforeAll, describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { demo, emulatedCluster, smallScenario, type Emulated } from '../../../tests/node/emulated-cluster.ts'
import { parsePolicies } from '#core/padll/rules/policy-schedule.ts'
import { EmulatedSource } from '../../cluster/emulated-source.ts'
import { openHost } from '../host.ts'
import { gather, forkOf } from './fork.ts'

const EPOCH = 1_767_225_600_000

/** Four jobs on two servers that serve about 190 RPC/s each, with the given faults. */
function scene(faults: readonly object[] = []): Scenario {
  const s = smallScenario([
    { id: '1.hog.u1', processes: 12 },
    { id: '2.calm.u2', clients: [2, 3], processes: 4, pattern: { kind: 'continuous', think_ms: 80 } },
    { id: '3.burst.u3', clients: [4], processes: 4, pattern: { kind: 'bursts', rpcs: 20, every_s: 6 } },
    { id: '4.trickle.u4', clients: [2], processes: 1, pattern: { kind: 'poisson', rate: 8 }, in_slurm: false },
  ])
  return { ...s, faults: faults as Scenario['faults'] }
}

const at = (s: number): number => EPOCH + s * 1000

describe('a fork of the active source', () => {
  let c: Emulated
  beforeAll(async () => {
    c = emulatedCluster(scene(), { controller: 'none', mode: 'observe' })
    c.source.emulator
      .node('oss01')
      ?.exec("lctl set_param ost.OSS.ost_io.nrs_tbf_rule='start night jobid={1.*} rate=60'")
    c.source.emulator
      .node('oss01')
      ?.exec("lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start day jobid={2.*} rate=900'")
    await c.run(30)
  })

  it('is a scenario that can run, with the servers, jobs and rules that were seen', () => {
    const forked = forkOf(c.monitor, { span: null, atMs: null, workload: 'closed' })
    if (!forked.ok) throw new Error(forked.error.what)
    const { check, text, cluster } = forked.value
    expect(cluster).toBe('small')
    expect(check.faults).toEqual([])
    expect(check.counts).toMatchObject({ jobs: 4, osts: 2 })
    const s = parseScenario(text)
    if (!s.ok) throw new Error(s.error.why)
    expect(s.value.jobs.map((j) => j.id).sort()).toEqual(['1.hog.u1', '2.calm.u2', '3.burst.u3', '4.trickle.u4'])
    expect(s.value.jobs.find((j) => j.id === '3.burst.u3')!.pattern.kind).toBe('bursts')
    expect(s.value.jobs.find((j) => j.id === '4.trickle.u4')!.in_slurm).toBe(false)
    expect(s.value.rules).toEqual([
      { service: 'ost_io', line: 'start night jobid={1.*} rate=60', servers: ['oss01'] },
      { service: 'ost_io', line: 'reg start day jobid={2.*} rate=900', servers: ['oss01'] },
    ])
    expect(check.knowledge.filter((k) => k.level === 'unknown').length).toBeGreaterThan(4)
    expect(check.suggested[0]!.name).toBe('Baseline')
  })

  it('at the cursor is of the minute before it, not of now', () => {
    const inputs = gather(c.monitor, { span: null, atMs: at(20), workload: 'open' })
    if (!inputs.ok) throw new Error(inputs.error.what)
    expect(inputs.value.atMs).toBe(at(20))
    expect(inputs.value.binAtS.length * inputs.value.binS).toBeLessThanOrEqual(21)
    expect(inputs.value.unknown.join()).toContain('Only 20 s')
  })

  it('of what is kept says the same as of what is in memory', () => {
    const span = { fromMs: at(2), toMs: at(29) }
    const kept = gather(c.monitor, { span, atMs: null, workload: 'closed' })
    const seen = gather(c.monitor, { span: null, atMs: null, workload: 'closed' })
    if (!kept.ok || !seen.ok) throw new Error('no fork')
    const mean = (v: readonly number[]): number => v.reduce((a, b) => a + b, 0) / v.length
    for (const j of kept.value.jobs) {
      const same = seen.value.jobs.find((x) => x.jobId === j.jobId)!
      expect(Math.abs(mean(j.rpcs) / mean(same.rpcs) - 1)).toBeLessThan(0.25)
    }
    expect(kept.value.isReplay).toBe(true)
    expect(kept.value.rules.map((r) => r.line)).toEqual(seen.value.rules.map((r) => r.line))
  })

  it('is refused where nothing is kept', () => {
    const r = forkOf(c.monitor, { span: { fromMs: at(-500), toMs: at(-400) }, atMs: null, workload: 'closed' })
    expect(r).toMatchObject({ ok: false, error: { code: 'FORK_EMPTY' } })
    if (!r.ok) expect(r.error.next).toContain('Choose')
  })

  it('is refused where most of the stretch is a hole', () => {
    const r = forkOf(c.monitor, { span: { fromMs: at(20), toMs: at(120) }, atMs: null, workload: 'closed' })
    expect(r).toMatchObject({ ok: false, error: { code: 'FORK_HOLES' } })
  })

  it('is refused before the first sample, with what to do', () => {
    const fresh = emulatedCluster(scene(), { controller: 'none' })
    const r = forkOf(fresh.monitor, { span: null, atMs: null, workload: 'closed' })
    expect(r).toMatchObject({ ok: false, error: { code: 'FORK_EMPTY' } })
    if (!r.ok) expect(r.error.next).toContain('built-in scenario')
  })
})

describe('a hole in a stretch', () => {
  it('is left out and told, and nothing is put in its place', async () => {
    const silent = ['oss01', 'oss02'].map((server) => ({ what: 'server-silent', server, at_s: 8, for_s: 4 }))
    const c = emulatedCluster(scene(silent), { controller: 'none' })
    await c.run(22)
    const inputs = gather(c.monitor, { span: { fromMs: at(2), toMs: at(20) }, atMs: null, workload: 'open' })
    if (!inputs.ok) throw new Error(inputs.error.what)
    const { gaps, binAtS, binS, jobs } = inputs.value
    const lost = gaps.reduce((n, g) => n + g.toS - g.fromS, 0)
    expect(lost).toBeGreaterThan(2.9)
    expect(lost).toBeLessThan(5.2)
    expect(binAtS.length * binS + lost).toBeCloseTo(18, 0)
    for (const j of jobs) expect(j.rpcs.length).toBe(binAtS.length)
    const forked = forkOf(c.monitor, { span: { fromMs: at(2), toMs: at(20) }, atMs: null, workload: 'open' })
    if (!forked.ok) throw new Error(forked.error.what)
    expect(forked.value.check.knowledge.map((k) => k.text).join()).toContain('omitted: the load in them is unknown')
  })
})

describe('a fork of the demo', () => {
  it('takes what was changed since the start: limits of PADLL, reservations and QoS of data nodes', async () => {
    const opened = await openHost({ shell: 'terminal', historyFile: ':memory:', paced: false })
    if (!opened.ok) throw new Error(opened.error.why)
    const { source, monitor } = opened.value
    if (!(source instanceof EmulatedSource)) throw new Error('the demo is emulated')
    await source.runTo(2 * NS_PER_S, (atNs) => monitor.tick(atNs))
    const { padll, dataNodes } = source.emulator
    const [node] = dataNodes
    const [client] = node!.scenario.clients.filter((c) => c.reservation > 0)
    expect(padll!.global!.change({ algorithm: 'uniform' }, source.emulator.sim.now).ok).toBe(true)
    expect(node!.reserve(client!.name, client!.reservation - 7, null).ok).toBe(true)
    node!.change({ preset: 'paper-literal' })
    await source.runTo(5 * NS_PER_S, (atNs) => monitor.tick(atNs))
    const forked = forkOf(monitor, { span: null, atMs: null, workload: 'closed' })
    await opened.value.close()
    if (!forked.ok) throw new Error(forked.error.why)
    const read = parseScenario(forked.value.text)
    if (!read.ok) throw new Error(read.error.why)
    expect(read.value.padll!.algorithm).toBe('uniform')
    expect(read.value.haechi[0]).toMatchObject({ preset: 'paper-literal' })
    expect(read.value.haechi[0]!.clients.find((c) => c.name === client!.name)!.reservation).toBe(
      client!.reservation - 7,
    )
    const output = read.value.fork!.unknown.join(' ')
    for (const part of ['token buckets', 'unflushed data', 'capacity history']) expect(output).toContain(part)
  })

  it('carries its stages, its shared files and its data nodes, without their faults, and they run', async () => {
    const scenario = demo()
    const opened = await openHost({ shell: 'terminal', historyFile: ':memory:', paced: false })
    if (!opened.ok) throw new Error(opened.error.why)
    const { source, monitor } = opened.value
    await source.runTo(2 * NS_PER_S, (atNs) => monitor.tick(atNs))
    const forked = forkOf(monitor, { span: null, atMs: null, workload: 'closed' })
    await opened.value.close()
    if (!forked.ok) throw new Error(forked.error.why)
    expect(forked.value.check.faults).toEqual([])
    const read = parseScenario(forked.value.text)
    if (!read.ok) throw new Error(read.error.why)
    const { padll, ccpfs, haechi, clients, fork } = read.value
    expect({ ...padll, policies: '' }).toEqual({ ...scenario.padll, faults: [], policies: '' })
    // Steps of the policies that are still to come keep their distance from the fork.
    const steps = (text: string): number[] => parsePolicies(text).policies.map((p) => p.atS)
    expect(steps(scenario.padll!.policies)).toEqual([0, 0, 0, 0, 300, 600])
    expect(steps(padll!.policies)).toEqual([0, 0, 0, 0, 298, 598])
    // Every workload had started.
    const workloads = scenario.ccpfs!.workloads.map((w) => ({ ...w, start_s: 0 }))
    expect(ccpfs).toEqual({ ...scenario.ccpfs, workloads, faults: [] })
    expect(haechi).toEqual(scenario.haechi.map((n) => ({ ...n, capacity: [], changes: [] })))
    expect(haechi.length).toBeGreaterThan(0)
    expect(clients.count).toBeGreaterThanOrEqual(scenario.clients.count)
    const output = fork?.unknown.join(' ')
    for (const part of ['stages of PADLL', 'ccPFS', 'data nodes']) expect(output).toContain(part)
    const forkOfIt = new EmulatedCluster(read.value)
    expect(forkOfIt.sim.runUntil(0.2e9, 5e6)).toBe(true)
    expect(forkOfIt.ccpfs?.trace.resources(0.2e9, 0.2e9).length).toBeGreaterThan(0)
  })
})
