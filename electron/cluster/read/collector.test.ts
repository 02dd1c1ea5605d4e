import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { demo, emulatedCluster } from '../../../tests/node/emulated-cluster.ts'
import { jobColumn } from '../state/recent.ts'
import { rateOf } from '../../host/rules/servers.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

describe('a silent server', () => {
  it('is missing, holds up no other, and is asked again only when it has answered', async () => {
    let isHung = false
    const requests: string[] = []
    const waiting: (() => void)[] = []
    const c = emulatedCluster(demo(), {
      mode: 'observe',
      around: (node) => ({
        ...node,
        exec: async (command) => {
          if (!node.roles.includes('mds') || !isHung) return node.exec(command)
          requests.push(command)
          await new Promise<void>((resolve) => waiting.push(resolve))
          return node.exec(command)
        },
      }),
    })
    const most = (): number => Math.max(...[...c.monitor.jobs.all].map((j) => rateOf(c.monitor, 'mdt', j.jobId)))
    await c.run(2)
    const before = most()
    expect(before).toBeGreaterThan(0)
    isHung = true
    const running = c.run(4)
    await vi.advanceTimersByTimeAsync(10_001)
    await running
    expect(c.monitor.missing.get('mds01')?.reason).toMatch(/no answer for 10 s/)
    expect([...c.monitor.missing.keys()]).toEqual(['mds01'])
    expect(c.monitor.sample).toBeGreaterThan(35)
    // Once for its jobs, and once for its locks.
    expect(requests.filter((x) => x.includes('job_stats'))).toHaveLength(1)
    expect(requests).toHaveLength(2)
    // Metadata is unknown meanwhile: a gap, not zero.
    const { jobs } = c.monitor.recent.raw
    for (const j of c.monitor.jobs.all) expect(jobs.value(j.jobId, jobColumn('mdops'), c.monitor.sample)).toBeNaN()
    isHung = false
    for (const answer of waiting) answer()
    await c.run(5)
    expect(c.monitor.missing.size).toBe(0)
    // RPCs served while it was silent are in no later rate.
    expect(most()).toBeLessThan(1.5 * before)
  })
})
