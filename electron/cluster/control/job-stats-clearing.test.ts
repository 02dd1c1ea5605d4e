/** Clearing of job_stats after each period: counts, what ends it, and what it is refused for. */
import { describe, expect, it, vi } from 'vitest'
import type { Mode } from '#core/control/controller.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { startClearing } from '../../host/sources/clear-counters.ts'
import type { Source } from '../../host/sources/source.ts'
import { emulatedCluster, twoJobs, type Emulated } from '../../../tests/node/emulated-cluster.ts'
import { printed } from '#tests/kits/electron/answers.ts'
import { FIND_READERS } from '../probes/other-readers.ts'
import { ProbeScheduler } from '../probes/probe-scheduler.ts'
import { ServerProbe } from '../probes/server-probe.ts'
import { NodeCollector } from '../read/collector.ts'
import { CLEAR_COMMAND } from './job-stats-clearing.ts'

const cluster = (
  more: { mode?: Mode; kind?: 'LIVE' | 'EMULATED'; around?: (node: NodeConnection) => NodeConnection } = {},
): Emulated => emulatedCluster(twoJobs(), { mode: 'enforce', controller: 'adaptbf', ...more })
const sourceOf = (c: Emulated): Source => ({ monitor: c.monitor, facts: {} }) as unknown as Source
const start = (c: Emulated, typed = 'small'): ReturnType<typeof startClearing> => startClearing(sourceOf(c), typed)
const clears = (c: Emulated): number => c.writes().filter((s) => s.command === CLEAR_COMMAND).length
/** RPCs that the emulated servers have served to a job, and those that the console has counted, from a sample on. */
const servedTo = (c: Emulated, jobId: string): number =>
  c.source.emulator.oss.flatMap((o) => o.osts).reduce((n, ost) => n + (ost.flow.get(jobId)?.served ?? 0), 0)

describe('clearing after each period', () => {
  it('is off until it is chosen', async () => {
    const c = cluster()
    await c.run(2)
    expect([clears(c), c.monitor.loop.clearing.isOn]).toEqual([0, false])
  })

  it('clears every server once a period, and counts every RPC as without it', async () => {
    const c = cluster()
    await c.run(2)
    const before = servedTo(c, '1.hog.u1')
    expect(await start(c)).toEqual({ ok: true, value: undefined })
    let counted = 0
    let samples = 0
    await c.run(6, () => {
      samples++
      for (const host of c.monitor.servers) {
        for (const t of c.monitor.reading(host)?.targets ?? []) {
          for (const d of t.deltas ?? []) if (d.jobId === '1.hog.u1') counted += d.rpcs
        }
      }
    })
    // The emulated servers are cleared at the very time of their reading, so that nothing is lost between them.
    expect(counted).toBe(servedTo(c, '1.hog.u1') - before)
    expect(clears(c)).toBe(2 * samples)
    expect(c.monitor.loop.clearing.clears).toBe(2 * samples)
    expect(c.monitor.loop.clearing.others).toEqual([])
    const text = (of: RegExp): number => c.records.filter((r) => r.kind === 'mode' && of.test(r.text)).length
    expect(
      text(/^clear job_stats after each period on oss01, oss02: lctl set_param 'obdfilter\.\*\.job_stats'=clear$/),
    ).toBe(1)
    c.monitor.setMode('advise')
    await c.run(7)
    expect(c.monitor.loop.clearing.isOn).toBe(false)
    expect(clears(c)).toBe(2 * samples)
    expect(text(/^job_stats no longer cleared after \d+ times$/)).toBe(1)
  })

  it('ends, and says so, when a server refuses', async () => {
    let refuses = false
    const c = cluster({
      around: (node) => ({
        ...node,
        exec: async (command) =>
          refuses && command === CLEAR_COMMAND ? printed('', 'sudo: a password is required', 1) : node.exec(command),
      }),
    })
    await c.run(2)
    await start(c)
    await c.run(3)
    refuses = true
    await c.run(4)
    expect(c.monitor.loop.clearing.isOn).toBe(false)
    expect(c.monitor.failures.map((f) => [f.code, f.why])).toContainEqual([
      'CLEARING_ENDED',
      expect.stringMatching(/^oss0[12]: sudo: a password is required$/),
    ])
    // The controller continues without it.
    expect(c.monitor.loop.mode).toBe('enforce')
  })
})

describe('counts of a server that is cleared', () => {
  /** Collector of a server in virtual time. */
  async function collecting(): Promise<{
    readonly c: Emulated
    readonly collector: NodeCollector
    readonly read: (atS: number) => Promise<{ readonly rpcs: number; readonly scale: number }>
  }> {
    const c = emulatedCluster(twoJobs(), { kind: 'LIVE', mode: 'observe' })
    const { source } = c.monitor
    const node = source.nodes.find((n) => n.host === 'oss01')!
    const board = new ProbeScheduler(source)
    const collector = new NodeCollector(new ServerProbe(node, board, source, 5), board, source)
    const read = async (atS: number): Promise<{ readonly rpcs: number; readonly scale: number }> => {
      await c.source.runTo(atS * 1e9, async () => undefined)
      const reading = await collector.begin(source.nowNs())
      const targets = reading?.ok ? reading.readings.flatMap((r) => r.targets) : []
      expect(targets).toHaveLength(1)
      const rpcs = (targets[0]?.deltas ?? []).reduce((n, d) => n + d.rpcs, 0)
      return { rpcs, scale: targets[0]?.scale ?? NaN }
    }
    return { c, collector, read }
  }
  const clear = (c: Emulated): unknown => c.source.emulator.node('oss01')?.exec(CLEAR_COMMAND)
  const served = (c: Emulated): number => {
    const [ost] = c.source.emulator.oss.find((o) => o.name === 'oss01')?.osts ?? []
    return [...(ost?.flow.values() ?? [])].reduce((n, f) => n + f.served, 0)
  }

  it('begin at its clearing, and are scaled from then on', async () => {
    const { c, collector, read } = await collecting()
    await read(1)
    const first = served(c)
    expect((await read(1.1)).rpcs).toBe(served(c) - first)
    await c.source.runTo(1.12e9, async () => undefined)
    const atClear = served(c)
    clear(c)
    collector.cleared(1.12e9, 1.12e9)
    const { rpcs, scale } = await read(1.2)
    expect(rpcs).toBe(served(c) - atClear)
    expect(scale).toBeCloseTo(100 / 80, 9)
  })

  it('are right if the answer to the clearing comes after the next reading', async () => {
    const { c, collector, read } = await collecting()
    await read(1)
    const first = served(c)
    let counted = (await read(1.1)).rpcs
    clear(c)
    counted += (await read(1.2)).rpcs
    collector.cleared(1.1e9, 1.25e9)
    const last = await read(1.3)
    expect(counted + last.rpcs).toBe(served(c) - first)
    expect(last.scale).toBeCloseTo(1, 9)
  })
})

describe('clearing is refused', () => {
  const refusal = async (c: Emulated, typed?: string): Promise<readonly (string | undefined)[]> => {
    const started = await start(c, typed)
    expect(c.monitor.loop.clearing.isOn).toBe(false)
    return started.ok ? [] : [started.error.code, started.error.why]
  }

  it('without the name of the cluster: other programs cannot be recognized', async () => {
    const c = cluster()
    await c.run(2)
    for (const typed of ['', 'Small', 'small ']) {
      expect((await refusal(c, typed))[0]).toBe('CLEAR_NOT_CONFIRMED')
    }
  })

  it.each(['observe', 'advise'] as const)('in %s', async (mode) => {
    const c = cluster({ mode })
    await c.run(2)
    expect(await refusal(c)).toEqual(['NOT_ENFORCING', 'the mode is not enforce'])
  })

  it('for ten minutes after counters went down without Sluice', async () => {
    const c = cluster()
    await c.run(2)
    c.source.emulator.node('oss01')?.exec(CLEAR_COMMAND)
    await c.run(3)
    const [code, why] = await refusal(c)
    expect([code, why]).toEqual([
      'OTHERS_READ',
      expect.stringMatching(/^another process cleared [12] entr\w+ of job_stats on oss01$/),
    ])
    c.monitor.source.nowNs = () => c.source.nowNs() + 601e9
    expect((await start(c)).ok).toBe(true)
  })

  it('while another streaming reader runs on a server', async () => {
    let processes = '/proc/411/cmdline\n'
    const c = cluster({
      kind: 'LIVE',
      around: (node) => ({
        ...node,
        exec: async (command) =>
          command === FIND_READERS ? printed(processes, '', processes === '' ? 1 : 0) : node.exec(command),
      }),
    })
    await c.run(2)
    expect(await refusal(c)).toEqual(['OTHERS_READ', '1 other sluice-read process runs on oss01'])
    processes = ''
    expect((await start(c)).ok).toBe(true)
    await c.run(3)
    expect(c.monitor.loop.clearing.isOn).toBe(true)
    // It looks again every ten seconds.
    processes = '/proc/411/cmdline\n'
    const now = performance.now.bind(performance)
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 11_000)
    await c.run(3.2)
    later.mockRestore()
    await c.run(4)
    expect(c.monitor.loop.clearing.failure?.why).toBe('1 other sluice-read process runs on oss01')
    expect(c.monitor.loop.clearing.isOn).toBe(false)
  })
})
