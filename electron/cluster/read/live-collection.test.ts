import { afterEach, describe, expect, it, vi } from 'vitest'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import { emulatedCluster, jobsQuery, twoJobs, type Emulated, type Setup } from '../../../tests/node/emulated-cluster.ts'
import { overviewFrame } from '../../host/views/overview.ts'
import { TOTAL, totalColumn } from '../state/recent.ts'

afterEach(() => void vi.useRealTimers())

const RPCS = totalColumn('rpcs')

/** A live cluster with servers that can be made to answer late: their data are of the time of the answer. */
function slowable(more: Partial<Setup> = {}) {
  const held = new Set<string>()
  let waiting: (() => void)[] = []
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  const c = emulatedCluster(twoJobs(), {
    kind: 'LIVE',
    mode: 'observe',
    around: (node) => ({
      ...node,
      exec: async (command) => {
        const now = (running.get(node.host) ?? 0) + 1
        running.set(node.host, now)
        most.set(node.host, Math.max(most.get(node.host) ?? 0, now))
        try {
          if (held.has(node.host)) await new Promise<void>((resolve) => waiting.push(resolve))
          return await node.exec(command)
        } finally {
          running.set(node.host, (running.get(node.host) ?? 1) - 1)
        }
      },
    }),
    ...more,
  })
  return {
    c,
    most,
    hold: (host: string) => held.add(host),
    release: async () => {
      held.clear()
      const all = waiting
      waiting = []
      for (const go of all) go()
      await new Promise((done) => setImmediate(done))
    },
  }
}

const rate = (c: Emulated, target: string, sample: number): number =>
  c.monitor.recent.raw.targets.value(target, 0, sample)

describe('a live server that answers late', () => {
  it('holds up no other, is a gap until it answers, and its rates are over its own time', async () => {
    const { c, hold, release } = slowable()
    await c.run(2)
    const before = rate(c, 'small-OST0002', c.monitor.sample)
    expect(before).toBeGreaterThan(0)
    const last = c.monitor.sample
    hold('oss02')
    await c.run(2.4)
    expect(c.monitor.sample).toBe(last + 4)
    expect(c.monitor.missing.size).toBe(0)
    for (let s = last + 1; s <= last + 4; s++) {
      expect(rate(c, 'small-OST0001', s)).toBeGreaterThan(0)
      expect(rate(c, 'small-OST0002', s)).toBeNaN()
      expect(c.monitor.recent.raw.totals.value(TOTAL, RPCS, s)).toBeNaN()
      expect(c.monitor.recent.partials.value(TOTAL, RPCS, s)).toBeCloseTo(rate(c, 'small-OST0001', s), 3)
    }
    expect(c.monitor.ageMs('oss02')).toBeGreaterThanOrEqual(400)
    expect(c.monitor.ageMs('oss01')).toBeLessThan(100)
    await release()
    await c.run(2.5)
    // Scaled to one nominal period it would be several times as much.
    const after = rate(c, 'small-OST0002', c.monitor.sample)
    expect(after).toBeGreaterThan(before / 2)
    expect(after).toBeLessThan(before * 2)
    expect(c.monitor.events.between(-Infinity, Infinity, 100).filter((e) => e.kind === 'lost')).toEqual([])
    await c.run(3)
    expect(c.monitor.recent.raw.totals.value(TOTAL, RPCS, c.monitor.sample)).toBeGreaterThan(0)
  })

  it('stores the gap, and no half rate of its jobs', async () => {
    const { c, hold, release } = slowable()
    await c.run(2)
    hold('oss02')
    await c.run(2.3)
    await release()
    await c.run(3)
    const at = (s: number): number => c.source.toUnixMs(s * NS_PER_S)
    const rows = c.history.targetSeries('small-OST0002', 0, at(1.95), at(2.95))
    expect(rows.map((r) => r.rpcs === null)).toEqual([
      false,
      true,
      true,
      true,
      ...Array<boolean>(rows.length - 4).fill(false),
    ])
    expect(c.history.targetSeries('small-OST0001', 0, at(1.95), at(2.95)).every((r) => r.rpcs !== null)).toBe(true)
    const jobs = c.history.jobSeries('1.hog.u1', 0, at(2.05), at(2.35))
    expect(jobs.map((r) => r.rpcs)).toEqual([null, null, null])
  })

  it('shows what is known of the whole as at least that', async () => {
    const { c, hold, release } = slowable()
    await c.run(2)
    hold('oss02')
    // Longer than the window of a displayed rate.
    await c.run(3.5)
    const tile = (id: string) => overviewFrame(c.monitor, jobsQuery, 1).tiles.find((t) => t.id === id)
    expect(tile('rpc')).toMatchObject({ partial: true })
    expect(tile('rpc')?.value).toBeGreaterThan(0)
    await release()
    await c.run(5)
    expect(tile('rpc')?.partial).toBeUndefined()
  })

  it('is missing after ten seconds, and what it answers then is no base of a rate', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { c, hold, release } = slowable()
    const run = async (to: number): Promise<void> => {
      const ran = c.run(to)
      await vi.advanceTimersByTimeAsync(200)
      await ran
    }
    await c.run(2)
    hold('oss02')
    await run(2.1)
    expect(c.monitor.missing.size).toBe(0)
    await vi.advanceTimersByTimeAsync(10_000)
    await run(2.2)
    expect(c.monitor.missing.get('oss02')?.reason).toMatch(/no answer for 10 s/)
    await release()
    await run(2.3)
    const first = c.monitor.sample
    await run(2.4)
    expect(c.monitor.missing.size).toBe(0)
    expect(rate(c, 'small-OST0002', first)).toBeNaN()
    expect(rate(c, 'small-OST0002', c.monitor.sample)).toBeGreaterThan(0)
  })

  it('has a reading in every sample, a period old, when it always takes longer than a sample waits', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    let isSlow = false
    const c = emulatedCluster(twoJobs(), {
      kind: 'LIVE',
      mode: 'observe',
      around: (node) => ({
        ...node,
        exec: async (command) => {
          const answer = await node.exec(command)
          // Longer than the 40 ms that a sample of 100 ms waits.
          if (isSlow && node.host === 'oss02') await new Promise((done) => setTimeout(done, 60))
          return answer
        },
      }),
    })
    await c.run(2)
    isSlow = true
    const from = c.monitor.sample
    await c.source.runTo(4 * NS_PER_S, async (atNs) => {
      const ticked = c.monitor.tick(atNs)
      await vi.advanceTimersByTimeAsync(100)
      await ticked
    })
    const known = Array.from({ length: 19 }, (_, i) => !Number.isNaN(rate(c, 'small-OST0002', from + 1 + i)))
    expect(known.filter((k) => !k).length).toBeLessThanOrEqual(2)
    expect(c.monitor.missing.size).toBe(0)
  })

  it('is never read twice at once, whatever is due', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const delays = [0, 1, 5, 12, 2, 45, 0, 3]
    let i = 0
    const { c, most } = slowable({
      around: (node) => ({
        ...node,
        exec: async (command) => {
          const now = (depth.get(node.host) ?? 0) + 1
          depth.set(node.host, now)
          deepest = Math.max(deepest, now)
          await new Promise((done) => setTimeout(done, delays[i++ % delays.length]))
          depth.set(node.host, now - 1)
          return node.exec(command)
        },
      }),
    })
    const depth = new Map<string, number>()
    let deepest = 0
    await c.source.runTo(4 * NS_PER_S, async (atNs) => {
      let isOver = false
      const ticked = c.monitor.tick(atNs).finally(() => (isOver = true))
      while (!isOver) await vi.advanceTimersByTimeAsync(1)
      await ticked
      await vi.advanceTimersByTimeAsync(8)
    })
    expect(deepest).toBe(1)
    expect(most.size).toBe(0)
    expect(i).toBeGreaterThan(60)
    expect(c.sent.filter((s) => s.command.includes('ldlm.')).length).toBeGreaterThan(0)
    expect(c.monitor.failures).toEqual([])
  })
})

describe('probes of a live cluster', () => {
  it('report their cost; job_stats off is shown as off, not as zero', async () => {
    const { c } = slowable()
    await c.run(3)
    expect(c.monitor.probes.map((p) => [p.id, p.on])).toEqual([
      ['job_stats', true],
      ['rules', true],
      ['stats', true],
      ['ldlm', true],
      ['brw', true],
      ['timeouts', true],
      ['batch', true],
    ])
    for (const p of c.monitor.probes) {
      expect(p.bytesPerSec).toBeGreaterThan(0)
      expect(p.serverMsPerSec).toBeGreaterThan(0)
    }
    const requests = c.sent.length
    expect(c.monitor.setProbe('job_stats', false).ok).toBe(true)
    await c.run(4)
    expect(c.sent.slice(requests).filter((s) => s.command.includes('job_stats'))).toEqual([])
    expect(c.sent.slice(requests).filter((s) => s.command.includes('nrs_policies')).length).toBeGreaterThan(10)
    expect(c.monitor.failures).toMatchObject([{ code: 'PROBE_OFF' }])
    expect(c.monitor.missing.size).toBe(0)
    expect(rate(c, 'small-OST0001', c.monitor.sample)).toBeNaN()
    expect(c.monitor.setMode('enforce')).toMatchObject({ ok: false, error: { code: 'PROBE_NEEDED' } })
    c.monitor.setProbe('job_stats', true)
    await c.run(5)
    expect(c.monitor.failures).toEqual([])
    expect(rate(c, 'small-OST0001', c.monitor.sample)).toBeGreaterThan(0)
    // RPCs served while it was off belong to no rate.
    expect(rate(c, 'small-OST0001', c.monitor.sample)).toBeLessThan(400)
  })

  it('rules off: their text is not shown as none', async () => {
    const { c } = slowable()
    await c.run(1)
    c.monitor.setProbe('rules', false)
    await c.run(2)
    expect(c.monitor.serviceReading('oss01', 'ost_io')).toMatchObject({ isRead: false, rules: [], rulesText: '' })
    expect(c.monitor.recent.rulesAt('oss01', c.monitor.sample)?.policy).toBe('not read: the probe is off')
    expect(c.monitor.recent.raw.targets.value('small-OST0001', 2, c.monitor.sample)).toBeNaN()
  })

  it('ldlm off: every server is a gap, with the reason', async () => {
    const { c } = slowable()
    await c.run(1)
    c.monitor.setProbe('ldlm', false)
    const requests = c.sent.length
    await c.run(3)
    expect(c.sent.slice(requests).filter((s) => s.command.includes('ldlm.'))).toEqual([])
    expect(c.monitor.ldlm.missingAt(c.monitor.nowMs()).map((m) => m.reason)).toEqual(
      Array(2).fill('the probe ldlm is off'),
    )
  })

  it('cannot be switched off from under what is enforced', async () => {
    const { c } = slowable({ mode: 'enforce' })
    await c.run(1)
    expect(c.monitor.setProbe('rules', false)).toMatchObject({ ok: false, error: { code: 'PROBE_NEEDED' } })
    expect(c.monitor.setProbe('stats', false).ok).toBe(true)
    expect(c.monitor.setProbe('batch', false).ok).toBe(true)
  })

  it('read one command a server and sample, as a rule', async () => {
    const { c } = slowable()
    await c.run(6)
    const requests = c.sent.filter((s) => s.host === 'oss01' && s.atNs > NS_PER_S)
    const samples = 50
    expect(requests.length).toBeLessThan(1.35 * samples)
    expect(c.source.periodNs).toBe(100 * NS_PER_MS)
  })
})

describe('a live server that loses its rules', () => {
  it('is reported at once, with the policy that is active now', async () => {
    const { c } = slowable()
    const node = c.source.emulator.node('oss01')
    node?.exec("lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start night jobid={9.*} rate=77'")
    await c.run(1)
    node?.exec('lctl set_param ost.OSS.ost_io.nrs_policies=fifo')
    await c.run(2)
    const reported = c.monitor.events.between(-Infinity, Infinity, 100).filter((e) => e.subject === 'Rule')
    expect(reported.map((e) => [e.level, e.where])).toEqual([['bad', 'oss01']])
    expect(reported[0]?.text).toMatch(
      /^1 rule not managed by Sluice and TBF are gone from ost_io at once, fifo is active/,
    )
  })
})
