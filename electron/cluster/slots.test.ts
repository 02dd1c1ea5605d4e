import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { EventLog } from './state/event-log.ts'
import { JobRegistry } from './state/job-registry.ts'
import { Recent } from './state/recent.ts'
import { SlotWatch } from './slots.ts'

/** Active jobs on hosts; the named ones wait at their rules. */
function world(jobs: Readonly<Record<string, readonly string[]>>, waiting: readonly string[]) {
  const recent = new Recent(NS_PER_S)
  const registry = new JobRegistry()
  const events = new EventLog()
  const reported: string[] = []
  events.onEvent((e) => reported.push(e.text))
  const watch = new SlotWatch(events)
  let atMs = 0
  const pass = (at: readonly string[] = waiting): void => {
    for (let i = 0; i < 10; i++) {
      recent.push((atMs += 1000))
      for (const [id, hosts] of Object.entries(jobs)) {
        const { job } = registry.meet(id, atMs)
        job.describe({ number: id, name: '', user: 'u', account: 'a', nodes: hosts.length, hosts, state: 'running' })
        recent.raw.jobs.set(id, 100, 0, 0, at.includes(id) ? 1 : 0)
      }
      watch.look(atMs, recent, registry)
    }
  }
  return { watch, reported, pass }
}

describe('jobs on the clients of one that waits at its rule', () => {
  it('are named as those that may be slowed, once', () => {
    const { watch, reported, pass } = world({ '1': ['n1', 'n2'], '2': ['n2'], '3': ['n3'], '4': ['n2', 'n1'] }, ['1'])
    pass()
    pass()
    expect(watch.shared).toEqual([{ jobId: '1', neighbours: ['2', '4'], hosts: 2 }])
    expect(reported).toEqual(['1 waits at its rule and shares 2 nodes with 2, 4: they may be slowed'])
    pass([])
    expect(watch.shared).toEqual([])
    pass()
    expect(reported).toHaveLength(2)
  })

  it('are none where nothing waits, and where nodes are not known', () => {
    const idle = world({ '1': ['n1'], '2': ['n1'] }, [])
    idle.pass()
    expect(idle.watch.shared).toEqual([])
    const unknown = world({ '1': [], '2': [] }, ['1'])
    unknown.pass()
    expect(unknown.watch.shared).toEqual([])
  })
})
