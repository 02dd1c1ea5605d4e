/**
 * Combined OSS and MDS in the emulator: one node, one reading per sample, and each service's rules in their own place.
 */
import { describe, expect, it } from 'vitest'
import { isControllerRule } from '#core/controllers/registry.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { emulatedCluster, type Emulated } from '../../../tests/node/emulated-cluster.ts'
import { stopEverything } from '../../enforce/stop-all.ts'
import { RecordedRules } from '../../recorded/recorded-rules.ts'
import { serversOf } from '../../host/sandbox/fork-facts.ts'
import { SERVICES } from '../../base/service.ts'

const HOST = 'lustre01'

function combined(version = '2.17.57'): ReturnType<typeof parseScenario> {
  return parseScenario(
    JSON.stringify({
      title: 'One machine',
      cluster: 'one',
      policy: 'tbf jobid',
      clients: { count: 4 },
      oss: [1, 2].map((n) => ({
        name: n === 1 ? HOST : 'oss02',
        osts: [{ name: `one-OST000${n}`, disk: { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 } }],
      })),
      mds: [{ name: HOST, version, policy: 'tbf jobid+opcode', mdts: [{ name: 'one-MDT0000', per_op_us: 100 }] }],
      control: {
        max_rate: 200,
        mode: 'enforce',
        controller: 'static',
        metadata: { algorithm: 'static', policies: '1 0 job 2.meta.u2 open 200' },
      },
      jobs: [
        { id: '1.data.u1', clients: [1], op: 'write', size_kib: 64, processes: 8, pattern: { kind: 'continuous' } },
        { id: '2.meta.u2', clients: [2, 3], op: 'open', processes: 8, pattern: { kind: 'continuous' } },
      ],
    }),
  )
}

function scenario(): Scenario {
  const read = combined()
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

const ownRules = (c: Emulated, service: keyof typeof SERVICES): string[] => {
  const text = c.source.emulator.node(HOST)?.exec(`lctl get_param -n ${SERVICES[service].rules}`).stdout ?? ''
  return parseNrsTbfRule(text).rules.flatMap((r) => (isControllerRule(r.name) ? r.name : []))
}

describe('a server that is OSS and MDS', () => {
  it('is one machine in a scenario, as long as both lists say the same of it', () => {
    expect(scenario().mds[0]?.name).toBe(HOST)
    const other = combined('2.15.8')
    expect(!other.ok && other.error.why).toMatch(/lustre01 is an OSS with another version/)
  })

  it('is one node of one name, read by one command a sample', async () => {
    const c = emulatedCluster(scenario(), { mode: 'observe' })
    await c.run(3)
    expect(c.source.nodes.filter((n) => n.host.startsWith(HOST)).map((n) => [n.host, n.roles])).toEqual([
      [HOST, ['oss', 'mds']],
    ])
    expect(c.monitor.allServers).toEqual([HOST, 'oss02'])
    expect([c.monitor.serversOf('ost_io'), c.monitor.serversOf('mdt')]).toEqual([[HOST, 'oss02'], [HOST]])
    const sampled = c.sent.filter((s) => s.host === HOST && s.command.includes('job_stats'))
    expect(sampled.length).toBeGreaterThan(20)
    expect(sampled.every((s) => /obdfilter\.\S+job_stats.* '?mdt\.\S+job_stats/.test(s.command))).toBe(true)
    // Never two at the same time.
    expect(new Set(sampled.map((s) => s.atNs)).size).toBe(sampled.length)
    const { targets, metadataTargets } = c.monitor
    expect(targets.map((t) => `${t.node} ${t.target}`)).toEqual([`${HOST} one-OST0001`, 'oss02 one-OST0002'])
    expect(metadataTargets.map((t) => `${t.node} ${t.target}`)).toEqual([`${HOST} one-MDT0000`])
    expect(serversOf(c.monitor, c.monitor.sample).map((s) => `${s.name} ${s.kind} ${s.policy}`)).toEqual([
      `${HOST} oss tbf jobid`,
      'oss02 oss tbf jobid',
      `${HOST} mds tbf jobid+opcode`,
    ])
  })

  it('has its locks read once and counted once', async () => {
    const c = emulatedCluster(scenario(), { mode: 'observe' })
    await c.run(3)
    const reads = c.sent.filter((s) => s.host === HOST && s.command.includes('ldlm.'))
    expect(new Set(reads.map((s) => s.atNs)).size).toBe(reads.length)
    const known = [...c.monitor.ldlm.series.known].map((n) => `${n.node} ${n.namespace}`)
    expect(known.filter((n) => n.startsWith(HOST)).toSorted()).toEqual([
      `${HOST} filter-one-OST0001_UUID`,
      `${HOST} mdt-one-MDT0000_UUID`,
    ])
  })

  it('has rules of data and of metadata under leases of their own, kept at their own places, and all removed by one stop', async () => {
    const c = emulatedCluster(scenario())
    await c.run(6)
    const data = ownRules(c, 'ost_io')
    const metadata = ownRules(c, 'mdt')
    expect([data.length > 0, metadata.length > 0]).toEqual([true, true])
    const units = [c.monitor.loop, c.monitor.metadata].map((loop) => loop.lease(HOST)?.state?.unit)
    expect(units.every((u) => u !== undefined) && new Set(units).size).toBe(2)
    expect(c.monitor.failures).toEqual([])
    const { recent, sample } = c.monitor
    expect(recent.rulesAt(HOST, sample)?.text).toContain(data[0])
    expect(recent.rulesAt(HOST, sample)?.text).not.toContain(metadata[0])
    expect(recent.rulesAt(`${HOST}/mdt`, sample)?.text).toContain(metadata[0])
    expect(
      new Set(
        c.history
          .reader()
          .rulesAt(c.monitor.nowMs())
          .map((r) => r.server),
      ),
    ).toEqual(new Set([HOST, 'oss02', `${HOST}/mdt`, `${HOST}/mdt_readpage`]))
    const stopped = await stopEverything({
      cluster: 'one',
      nodes: c.source.nodes,
      store: undefined,
      audit: c.audit,
      nowMs: () => c.monitor.nowMs(),
      session: c.monitor.session,
      settleMs: 0,
      stopControllers: () => void c.monitor.setMode('observe'),
    })
    expect(stopped.nodes.map((n) => `${n.host} ${n.state}`)).toEqual([`${HOST} done`, 'oss02 done'])
    expect([...ownRules(c, 'ost_io'), ...ownRules(c, 'mdt'), ...ownRules(c, 'mdt_readpage')]).toEqual([])
  })

  it('and an MDS of an older file, which is named alone, have their rules at one kind of place', async () => {
    const c = emulatedCluster(scenario(), { mode: 'observe' })
    await c.run(3)
    const atMs = c.monitor.nowMs()
    const { rules } = parseNrsTbfRule('regular_requests:\nCPT 0:\nold {a.*} 50, ref 1\ndefault {*} 10000, ref 1\n')
    c.history.recordRules(atMs, 'mds09', rules)
    c.history.flush()
    const places = [...new RecordedRules(c.history.reader()).at(atMs + 1).keys()].toSorted()
    expect(places).toEqual([HOST, `${HOST}/mdt`, `${HOST}/mdt_readpage`, 'mds09/mdt', 'oss02'].toSorted())
  })
})
