import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '../../base/units.ts'
import { type SchedulerSetup, TbfQueues } from './tbf-queues.ts'

const queues = (setup: Partial<SchedulerSetup> = {}): TbfQueues<string> =>
  new TbfQueues(3, { depth: 3, bucket: 'carried', fallback: 'idle', spill: false, ...setup })

function drain(q: TbfQueues<string>, now: number, isDeviceIdle = false): string[] {
  const out: string[] = []
  for (let next = q.dequeue(now, isDeviceIdle); next !== undefined; next = q.dequeue(now, isDeviceIdle)) out.push(next)
  return out
}

const fill = (q: TbfQueues<string>, job: number, count: number): void => {
  for (let i = 0; i < count; i++) q.enqueue(0, job, `${job}${'abcdefgh'[i]!}`)
}

describe('TbfQueues', () => {
  it('serves unruled jobs in the order of arrival', () => {
    const q = queues()
    for (const [job, name] of [
      [1, 'x'],
      [0, 'y'],
      [1, 'z'],
    ] as const)
      q.enqueue(0, job, name)
    expect(drain(q, 0)).toEqual(['x', 'y', 'z'])
    expect(q.wakeAt).toBe(Infinity)
  })

  it('serves ruled jobs first, then unruled ones, and waits for a token', () => {
    const q = queues()
    q.rule(0, 0, 10, 0)
    fill(q, 0, 5)
    fill(q, 1, 2)
    expect(drain(q, 0)).toEqual(['0a', '0b', '0c', '1a', '1b'])
    expect(q.wakeAt).toBe(NS_PER_S / 10)
    expect(drain(q, NS_PER_S / 10)).toEqual(['0d'])
  })

  it('breaks ties between deadlines by priority', () => {
    const q = queues()
    q.rule(0, 0, 10, 1)
    q.rule(0, 1, 10, 0)
    fill(q, 0, 2)
    fill(q, 1, 2)
    expect(drain(q, 0)).toEqual(['1a', '0a', '1b', '0b'])
  })

  it('gives unruled jobs the default rate instead, by deadline', () => {
    const q = queues({ fallback: 'default-rule' })
    fill(q, 0, 5)
    expect(drain(q, 0)).toEqual(['0a', '0b', '0c'])
    expect(q.wakeAt).toBe(NS_PER_S / 10_000)
  })

  it('lets waiting RPCs continue when a rule is removed', () => {
    const q = queues()
    q.rule(0, 0, 1, 0)
    fill(q, 0, 5)
    expect(drain(q, 0)).toHaveLength(3)
    q.unrule(0, 0)
    expect(drain(q, 0)).toEqual(['0d', '0e'])
    expect(q.queued(0)).toBe(0)
  })

  it('spills the nearest deadline to an idle device only', () => {
    const q = queues({ spill: true })
    q.rule(0, 0, 10, 0)
    q.rule(0, 1, 100, 1)
    fill(q, 0, 8)
    fill(q, 1, 8)
    expect(drain(q, 0)).toHaveLength(6)
    expect(q.dequeue(0, true)).toBe('1d')
    expect(q.dequeue(0, false)).toBeUndefined()
  })
})
