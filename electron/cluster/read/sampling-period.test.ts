import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { timedCluster, type TimedTarget } from '../../../tests/node/timed-servers.ts'
import { jobColumn } from '../state/recent.ts'
import { SamplingPeriod, type RunningPeriod } from './sampling-period.ts'

const START_MS = 1_767_225_600_000
const SET_MS = 1000

/** Feeds one reading per sample of each server, and returns the periods that were run. */
function feed(
  period: SamplingPeriod,
  samples: number,
  reading: (i: number) => Readonly<Record<string, { tookMs: number; cpuMs?: number | null | undefined }>>,
  from = 0,
): RunningPeriod[] {
  const changes: RunningPeriod[] = []
  for (let i = 0; i < samples; i++) {
    for (const [host, r] of Object.entries(reading(i))) period.add(host, { tookMs: r.tookMs, cpuMs: r.cpuMs })
    const changed = period.look(START_MS + (from + i) * SET_MS)
    if (changed) changes.push(changed)
  }
  return changes
}

describe('the sampling period', () => {
  it('stays as it was set while servers are read in time and for little', () => {
    const period = new SamplingPeriod(SET_MS)
    expect(feed(period, 300, () => ({ oss01: { tookMs: 300, cpuMs: 60 } }))).toEqual([])
    expect(period.now).toEqual({ setMs: 1000, runMs: 1000, why: '' })
  })

  it('is long enough for the slowest server, with a margin, and names it', () => {
    const period = new SamplingPeriod(SET_MS)
    const changes = feed(period, 20, () => ({ oss01: { tookMs: 100 }, oss02: { tookMs: 1700 } }))
    expect(changes).toEqual([{ setMs: 1000, runMs: 5000, why: 'a reading of oss02 takes 1.7 s' }])
  })

  it('keeps what reading costs a server below its share of a core', () => {
    const period = new SamplingPeriod(SET_MS, 0.1)
    const [changed] = feed(period, 20, (i) => ({ oss01: { tookMs: 260, cpuMs: i === 2 ? 250 : undefined } }))
    expect(changed).toMatchObject({ runMs: 5000 })
    expect(changed?.why).toMatch(/oss01 250 ms of CPU time, readings may take 10 % of a core/)
    expect(feed(new SamplingPeriod(SET_MS, 0.5), 20, () => ({ oss01: { tookMs: 260, cpuMs: 250 } }))).toEqual([])
  })

  it('goes by the time that passed if a server does not report CPU time', () => {
    const [changed] = feed(new SamplingPeriod(SET_MS), 20, () => ({ oss01: { tookMs: 180, cpuMs: null } }))
    expect(changed).toMatchObject({ runMs: 2000 })
    expect(changed?.why).toContain('its CPU time is unknown')
  })

  it('is not changed by a second of slow control periods, and is by three', () => {
    const changesOf = (slow: number): RunningPeriod[] => {
      const period = new SamplingPeriod(100, 0.1, 'period')
      return Array.from({ length: 100 }, (_, i) => {
        period.add('oss01', { tookMs: i >= 30 && i < 30 + slow ? 150 : 20, cpuMs: undefined })
        return period.look(START_MS + i * 100) ?? []
      }).flat()
    }
    expect(changesOf(10)).toEqual([])
    expect(changesOf(30)).toEqual([{ setMs: 100, runMs: 200, why: 'a period of oss01 takes 0.1 s' }])
  })

  it('is not changed by one slow reading, nor by one in ten', () => {
    expect(feed(new SamplingPeriod(SET_MS), 100, (i) => ({ oss01: { tookMs: i % 11 === 5 ? 4000 : 100 } }))).toEqual([])
  })

  it('becomes shorter only after a minute in which that would have done, and does not go to and fro', () => {
    const period = new SamplingPeriod(SET_MS)
    expect(feed(period, 20, () => ({ oss01: { tookMs: 1500 } }))).toMatchObject([{ runMs: 2000 }])
    // Just enough for one second: no change.
    expect(feed(period, 300, () => ({ oss01: { tookMs: 700 } }), 20)).toEqual([])
    expect(feed(period, 55, () => ({ oss01: { tookMs: 100 } }), 320)).toEqual([])
    expect(feed(period, 30, () => ({ oss01: { tookMs: 100 } }), 375)).toEqual([{ setMs: 1000, runMs: 1000, why: '' }])
  })

  it('is never longer than a controller can work with, unless it was set so', () => {
    expect(feed(new SamplingPeriod(3000), 20, () => ({ a: { tookMs: 60_000 } }))).toMatchObject([{ runMs: 6000 }])
    expect(feed(new SamplingPeriod(30_000), 20, () => ({ a: { tookMs: 60_000 } }))).toEqual([])
  })
})

describe('a live cluster whose servers are slower than the period', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: START_MS })
  })
  afterEach(() => void vi.useRealTimers())

  const TARGETS: readonly TimedTarget[] = [
    { name: 'x-OST0000', host: 'oss01', rates: { 'a.u1': 200 } },
    { name: 'x-OST0001', host: 'oss02', rates: { 'a.u1': 100, 'b.u2': 60 } },
  ]
  const rates = (c: ReturnType<typeof timedCluster>, from: number): number[] => {
    const { jobs } = c.monitor.recent.raw
    return Array.from({ length: jobs.newest - from }, (_, k) => jobs.value('a.u1', jobColumn('rpcs'), from + 1 + k))
  }
  async function ended(c: ReturnType<typeof timedCluster>): Promise<void> {
    const stopped = c.stop()
    await vi.advanceTimersByTimeAsync(20_000)
    await stopped
  }

  it('is sampled in a period that fits them, with a reason, and has no gap in it from then on', async () => {
    let slowMs = 1400
    const c = timedCluster({
      targets: TARGETS,
      periodMs: 1000,
      delayMs: (host) => (host === 'oss02' ? slowMs : 20),
      cpuMs: () => 30,
      mode: 'observe',
      controller: 'none',
    })
    c.start()
    await vi.advanceTimersByTimeAsync(30_000)
    const { monitor } = c
    expect(monitor.period).toMatchObject({ setMs: 1000, runMs: 2000 })
    expect(monitor.period?.why).toMatch(/oss02 takes 1.4 s/)
    expect(monitor.source.periodNs).toBe(2e9)
    const reported = (): string[] =>
      monitor.events.between(-Infinity, Infinity, 100).flatMap((e) => (e.subject === 'Sampling' ? [e.text] : []))
    expect(reported()).toEqual([
      expect.stringContaining('a sample every 2 s instead of 1 s: a reading of oss02 takes 1.4 s'),
    ])
    const from = monitor.sample
    await vi.advanceTimersByTimeAsync(120_000)
    const steady = rates(c, from)
    expect(steady.length).toBeGreaterThan(55)
    for (const v of steady) expect(Math.abs(v - 300)).toBeLessThan(6)
    slowMs = 20
    await vi.advanceTimersByTimeAsync(120_000)
    expect(monitor.period).toEqual({ setMs: 1000, runMs: 1000, why: '' })
    expect(reported()[0]).toBe('a sample every 1 s again, as configured')
    for (const v of rates(c, from)) if (!Number.isNaN(v)) expect(Math.abs(v - 300)).toBeLessThan(6)
    await ended(c)
  })

  it('costs a server no more than its share of a core', async () => {
    const c = timedCluster({
      targets: TARGETS,
      periodMs: 1000,
      delayMs: () => 260,
      cpuMs: (host) => (host === 'oss01' ? 250 : 40),
      mode: 'observe',
      controller: 'none',
    })
    c.start()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(c.monitor.period).toMatchObject({ runMs: 5000 })
    expect(c.monitor.period?.why).toMatch(/costs oss01 250 ms/)
    await ended(c)
  })
})
