import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import { twoJobs } from '../../tests/node/emulated-cluster.ts'
import { EmulatedSource } from './emulated-source.ts'

// Wall clock that the emulator follows.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
const pass = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms))

let source: EmulatedSource | undefined
afterEach(async () => {
  vi.useRealTimers()
  await source?.stop()
})

const started = (speed = 1): { at: number[]; source: EmulatedSource } => {
  source = new EmulatedSource(twoJobs(), { epochSeconds: 1000 })
  source.setSpeed(speed)
  const at: number[] = []
  source.start(async (atNs) => {
    expect(atNs).toBe(source?.nowNs())
    at.push(atNs)
  })
  return { at, source }
}

describe('the pace of the emulator', () => {
  it('samples at every period of virtual time, none left out', async () => {
    const { at } = started(20)
    await pass(400)
    expect(at.length).toBeGreaterThan(20)
    expect(at).toEqual(at.map((_, i) => (i + 1) * 100 * NS_PER_MS))
  })

  it('pauses at speed 0 and resumes at speed 1', async () => {
    const { at, source } = started(20)
    await pass(200)
    source.setSpeed(0)
    const count = at.length
    const now = source.nowNs()
    await pass(150)
    expect(at).toHaveLength(count)
    expect(source.nowNs()).toBe(now)
    source.setSpeed(1)
    await pass(400)
    // The pause is not caught up.
    expect(source.nowNs() - now).toBeGreaterThan(0.1 * NS_PER_S)
    expect(source.nowNs() - now).toBeLessThan(1.2 * NS_PER_S)
  })

  it('stops at once when the speed becomes 0 during a sample', async () => {
    source = new EmulatedSource(twoJobs())
    source.setSpeed(64)
    let samples = 0
    source.start(async () => {
      if (++samples === 5) source?.setSpeed(0)
    })
    await pass(300)
    expect(samples).toBe(5)
  })

  it('takes no sample after it was stopped', async () => {
    const { at, source } = started(20)
    await pass(100)
    await source.stop()
    const n = at.length
    await pass(100)
    expect(at).toHaveLength(n)
  })

  it('is the same world at every pace', async () => {
    const { at, source: paced } = started(16)
    await pass(300)
    await paced.stop()
    const other = new EmulatedSource(twoJobs(), { epochSeconds: 1000 })
    await other.runTo(at.at(-1) ?? 0, async () => undefined)
    paced.emulator.sim.runUntil(20 * NS_PER_S)
    other.emulator.sim.runUntil(20 * NS_PER_S)
    const text = (s: EmulatedSource): string | undefined =>
      s.emulator.node('oss01')?.exec("lctl get_param 'obdfilter.*.job_stats'").stdout
    expect(text(paced)).toContain('1.hog.u1')
    expect(text(paced)).toBe(text(other))
  })
})
