import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { emulatedCluster, twoJobs } from '../../tests/node/emulated-cluster.ts'
import { streamedCluster } from '../../tests/node/streamed-servers.ts'
import { periodLine, periodText } from './control-lines.ts'

it('advise prints commands that an operator can paste on the server named above them', async () => {
  const c = emulatedCluster(twoJobs(), { controller: 'static', mode: 'advise' })
  await c.run(3)
  const lines = periodText(c.monitor, []).split('\n')
  const of = (host: string): string[] => {
    const from = lines.findIndex((l) => l.startsWith(`  ${host}, plan of `)) + 1
    const to = lines.findIndex((l, i) => i >= from && !l.startsWith('    '))
    return lines.slice(from, to < 0 ? undefined : to).map((l) => l.trim())
  }
  expect(of('oss01').length).toBeGreaterThan(0)
  for (const command of of('oss01')) {
    expect(c.source.emulator.node('oss01')?.exec(command)).toMatchObject({ code: 0, stderr: '' })
  }
  expect(c.rules('oss01')).toMatch(/^st_[0-9a-f]{10} .*1\.hog\.u1/m)
  expect(c.rules('oss02')).not.toContain('st_')
  // The JSON line has the same plan.
  const line = periodLine(c.monitor, []) as { rules: { plan?: { commands: string[] } }[] }
  expect(line.rules[0]?.plan?.commands[0]).toMatch(/start st_/)
})

it('a controller that enforces prints one line a period', async () => {
  const c = emulatedCluster(twoJobs(), { controller: 'static', mode: 'enforce' })
  await c.run(3)
  expect(periodText(c.monitor, []).split('\n')).toHaveLength(1)
})

describe('servers with their own clocks', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] })
  })
  afterEach(() => void vi.useRealTimers())

  it('have their control period, its jitter and the durations of its parts in every line', async () => {
    const c = streamedCluster({ scenario: twoJobs(), mode: 'advise', readMs: (host) => (host === 'oss01' ? 6 : null) })
    c.start()
    await vi.advanceTimersByTimeAsync(10_000)
    const { periods } = periodLine(c.monitor, []) as { periods: Record<string, unknown>[] }
    expect(periods[0]).toMatchObject({
      host: 'oss01',
      own_clock: true,
      set_ms: 100,
      run_ms: 100,
      missed: 0,
      p50_ms: 100,
    })
    expect(periods[0]?.['collect_ms']).toBeCloseTo(6, 0)
    expect(periods[1]).toEqual({
      host: 'oss02',
      own_clock: false,
      set_ms: 100,
      run_ms: 1000,
      why: 'its counters are read by lctl',
      periods: 0,
      missed: 0,
    })
    const [head] = periodText(c.monitor, []).split('\n')
    expect(head).toMatch(/oss01 0 rules, \d shown, every 100 ms \(p99 100 ms\); oss02 0 rules/)
    const stopped = c.stop()
    await vi.advanceTimersByTimeAsync(2000)
    await stopped
  })
})
