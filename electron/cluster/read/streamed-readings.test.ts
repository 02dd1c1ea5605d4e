import { describe, expect, it } from 'vitest'
import { ok } from '#core/base/result.ts'
import { getParamCommand, readNames, splitParams } from '#core/lustre/lctl.ts'
import { LDLM_PARAMETERS } from '#core/lustre/ldlm-counters.ts'
import { EmulatedSource } from '../emulated-source.ts'
import type { ClusterSource, CounterSource, NodeConnection } from '../../base/connection.ts'
import { BRW_PARAMETERS, SERVICES } from '../../base/service.ts'
import { twoJobs } from '../../../tests/node/emulated-cluster.ts'
import { ProbeScheduler } from '../probes/probe-scheduler.ts'
import { ServerProbe } from '../probes/server-probe.ts'
import { NodeCollector } from './collector.ts'

/** A server whose reader cannot read some parameters; `lctl` has the names that lctl read. */
function server(absent: readonly string[]) {
  const source = new EmulatedSource(twoJobs())
  const inner = source.nodes.find((n) => n.roles.includes('oss')) as NodeConnection
  source.emulator.sim.runUntil(1e9)
  const lctl: string[] = []
  const counters: CounterSource = {
    read: async (names) => {
      const ran = await inner.exec(getParamCommand(...names.filter((n) => !absent.includes(n))))
      const values = splitParams(ran.ok ? ran.value.stdout : '')
      const left = names.filter((n) => absent.includes(n))
      return ok({ sequence: 1, uptimeMs: 0, tookMs: 0, stepMs: 10, cpuMs: 0, bytes: 10, values, absent: left })
    },
  }
  const node: NodeConnection = {
    host: inner.host,
    roles: inner.roles,
    counters,
    exec: (command) => {
      lctl.push(...(readNames(command) ?? []))
      return inner.exec(command)
    },
  }
  const seen: ClusterSource = {
    kind: 'EMULATED',
    cluster: 'small',
    nodes: [node],
    maxRate: 200,
    periodNs: 1e9,
    nowNs: () => source.nowNs(),
    toUnixMs: (ns) => ns / 1e6,
  }
  const board = new ProbeScheduler(seen)
  const probe = new ServerProbe(node, board, seen, 1)
  return { lctl, probe, collector: new NodeCollector(probe, board, seen) }
}

describe('a server with a streaming reader', () => {
  const read = async (absent: readonly string[]) => {
    const { collector, lctl } = server(absent)
    const reading = await collector.begin(1e9)
    if (!reading?.ok) throw new Error(JSON.stringify(reading))
    return { lctl, first: reading.readings[0] }
  }

  it('is read by lctl only where it has to be', async () => {
    const whole = await read([])
    expect(whole.lctl).toEqual([])
    expect(whole.first?.targets[0]?.entries.length).toBeGreaterThan(0)
    const { jobStats, policies, rules } = SERVICES.ost_io
    for (const absent of [[jobStats], [policies, rules]]) {
      const partly = await read(absent)
      expect(partly.lctl).toEqual(absent)
      expect(partly.first?.stream).toBeDefined()
      expect(partly.first?.policies).toEqual(whole.first?.policies)
      expect(partly.first?.rulesText).toBe(whole.first?.rulesText)
      expect(partly.first?.targets[0]?.entries).toEqual(whole.first?.targets[0]?.entries)
    }
  })

  it.each([
    ['locks', 'ldlm', LDLM_PARAMETERS],
    ['disk statistics', 'brw', BRW_PARAMETERS],
  ] as const)('gives %s that equal those of lctl', async (_, id, names) => {
    const command = getParamCommand(...names)
    const streamed = server([])
    const ran = await streamed.probe.read(id, command)
    const direct = await server(names).probe.read(id, command)
    if (!ran.ok || !direct.ok) throw new Error('no answer')
    expect(splitParams(ran.value.stdout)).toEqual(splitParams(direct.value.stdout))
    expect(splitParams(ran.value.stdout).size).toBeGreaterThan(0)
    expect(streamed.lctl).toEqual([])
  })
})
