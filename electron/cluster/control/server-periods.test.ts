import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isControllerRule } from '#core/controllers/registry.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { twoJobs } from '../../../tests/node/emulated-cluster.ts'
import { streamedCluster, type StreamedOptions } from '../../../tests/node/streamed-servers.ts'
import { TOTAL, totalColumn } from '../state/recent.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] })
  vi.setSystemTime(1_767_225_600_000)
})
afterEach(() => void vi.useRealTimers())

function begin(options: Omit<StreamedOptions, 'scenario'>) {
  const c = streamedCluster({ scenario: twoJobs(), ...options })
  c.start()
  const run = async (seconds: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(seconds * 1000))
  const statusOf = (host: string) => c.monitor.serverPeriods.find((p) => p.host === host)
  const ours = (host: string): number =>
    parseNrsTbfRule(c.rules(host)).rules.filter((r) => isControllerRule(r.name)).length
  const stop = async (): Promise<void> => {
    const stopped = c.stop()
    await run(1)
    await stopped
  }
  const events = (): string[] =>
    c.monitor.events.between(0, Infinity, 500).flatMap((e) => (e.subject === 'Control' ? e.text : []))
  return { ...c, run, stop, statusOf, ours, events }
}

describe('servers with their own clocks', () => {
  it('are controlled ten times a second while samples are taken once a second', async () => {
    const c = begin({ mode: 'enforce' })
    await c.run(10)
    for (const host of ['oss01', 'oss02']) {
      expect(c.statusOf(host)).toMatchObject({ hasOwnClock: true, setMs: 100, runMs: 100, why: '', missed: 0 })
      expect(c.statusOf(host)?.p50Ms).toBe(100)
      expect(c.statusOf(host)?.periods).toBeGreaterThan(70)
      expect(c.ours(host)).toBe(2)
    }
    expect(c.monitor.sample).toBeLessThan(11)
    expect(c.monitor.failures).toEqual([])
    await c.stop()
  })

  it('count every RPC in exactly one sample', async () => {
    const c = begin({ mode: 'advise' })
    await c.run(20)
    await c.stop()
    const { totals } = c.monitor.recent.raw
    let counted = 0
    for (let s = totals.oldest; s <= totals.newest; s++) counted += totals.value(TOTAL, totalColumn('rpcs'), s)
    const served = c.emulator.osts.flatMap((o) => [...o.flow.values()]).reduce((n, f) => n + f.dispatched, 0)
    // The first reading is a base, and what follows the last sample is not in one.
    const perSecond = served / 20
    expect(counted).toBeGreaterThan(served - 2.5 * perSecond)
    expect(counted).toBeLessThanOrEqual(served)
  })

  it('do not wait for a slow one, whose period becomes longer and shorter by itself', async () => {
    let slowMs = 5
    const c = begin({ mode: 'advise', readMs: (host) => (host === 'oss02' ? slowMs : 5) })
    await c.run(5)
    slowMs = 130
    await c.run(10)
    expect(c.statusOf('oss01')).toMatchObject({ runMs: 100, missed: 0, p99Ms: 100 })
    expect(c.statusOf('oss02')).toMatchObject({ setMs: 100, runMs: 200, why: 'a period of oss02 takes 0.1 s' })
    expect(c.statusOf('oss02')?.missed).toBeGreaterThan(0)
    expect(c.events()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^1 control period missed: it was still being read/),
        'control period 200 ms instead of 100 ms: a period of oss02 takes 0.1 s',
      ]),
    )
    slowMs = 5
    await c.run(90)
    expect(c.statusOf('oss02')).toMatchObject({ runMs: 100, why: '', missed: 0 })
    expect(c.events()).toContain('control period 100 ms again, as configured')
    await c.stop()
  })

  it('have a longer period where readings cost more than the share of a core', async () => {
    const c = begin({ mode: 'advise', cpuMs: (host) => (host === 'oss01' ? 40 : 3) })
    await c.run(10)
    expect(c.statusOf('oss01')?.runMs).toBe(500)
    expect(c.statusOf('oss01')?.why).toMatch(
      /^a reading costs oss01 40 ms of CPU time, readings may take 10 % of a core/,
    )
    expect(c.statusOf('oss02')?.runMs).toBe(100)
    await c.stop()
  })

  it('are controlled with the samples where they need a period longer than those, and tried again after a minute', async () => {
    let ms = 190
    const c = begin({ mode: 'advise', controlMs: 500, cpuMs: (host) => (host === 'oss01' ? ms : 3) })
    await c.run(15)
    expect(c.statusOf('oss01')).toMatchObject({ hasOwnClock: false, setMs: 500 })
    expect(c.statusOf('oss01')?.why).toMatch(/^its period would be longer than that of the samples: a reading costs/)
    expect(c.statusOf('oss02')).toMatchObject({ hasOwnClock: true, runMs: 500 })
    expect([...c.monitor.recent.gapsAt(c.monitor.sample)]).toEqual([])
    ms = 3
    await c.run(200)
    expect(c.statusOf('oss01')).toMatchObject({ hasOwnClock: true, runMs: 500, why: '' })
    await c.stop()
  })

  it('are controlled with the samples while their streaming reader does not read', async () => {
    let isBroken = false
    const c = begin({ mode: 'enforce', readMs: (host) => (isBroken && host === 'oss02' ? null : 5) })
    await c.run(5)
    expect(c.statusOf('oss02')).toMatchObject({ hasOwnClock: true })
    isBroken = true
    await c.run(3)
    expect(c.statusOf('oss01')).toMatchObject({ hasOwnClock: true })
    expect(c.statusOf('oss02')).toMatchObject({
      hasOwnClock: false,
      runMs: 1000,
      why: 'its counters are read by lctl',
    })
    expect(c.monitor.missing.size).toBe(0)
    const lctl = c.sent.filter((s) => s.host === 'oss02' && s.command.includes('job_stats')).length
    await c.run(10)
    expect(c.sent.filter((s) => s.host === 'oss02' && s.command.includes('job_stats')).length - lctl).toBeLessThan(15)
    isBroken = false
    await c.run(3)
    expect(c.statusOf('oss02')).toMatchObject({ hasOwnClock: true, runMs: 100 })
    await c.stop()
  })

  it('have no own clock while no controller decides', async () => {
    const c = begin({ mode: 'observe' })
    await c.run(5)
    expect(c.monitor.serverPeriods).toEqual([])
    expect(c.monitor.targets).toHaveLength(2)
    await c.stop()
  })
})

describe('the end of enforce', () => {
  it('removes the rules, also those of servers with their own clocks', async () => {
    const c = begin({ mode: 'enforce' })
    await c.run(5)
    expect(c.ours('oss01')).toBe(2)
    c.monitor.setMode('observe')
    await c.run(0.5)
    for (const host of ['oss01', 'oss02']) {
      expect(c.ours(host)).toBe(0)
      expect(c.monitor.loop.lease(host)?.isOpen).toBe(false)
    }
    await c.run(2)
    expect(c.monitor.serverPeriods).toEqual([])
    await c.stop()
  })

  it('leaves no period under way, and the last sample decides what was read since', async () => {
    const c = begin({ mode: 'enforce' })
    await c.run(5)
    await c.stop()
    c.monitor.setMode('advise')
    const last = c.monitor.tick(c.source.nowNs())
    await c.run(1)
    await last
    await c.run(1)
    expect(c.monitor.busy.size).toBe(0)
    for (const host of ['oss01', 'oss02']) expect(c.ours(host)).toBe(0)
  })
})
