/** A hanging server delays no other: servers are read and written concurrently, one step per server at a time. */
import { expect, it } from 'vitest'
import { isControllerRule } from '#core/controllers/registry.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { emulatedCluster, twoJobs } from '../../../tests/node/emulated-cluster.ts'

it('a server that hangs while its rules are written leaves the others enforced, and gets one step at a time', async () => {
  let isHung = false
  let waiting = 0
  let most = 0
  let pass = (): void => undefined
  const gate = new Promise<void>((resolve) => (pass = resolve))
  const around = (node: NodeConnection): NodeConnection => ({
    ...node,
    exec: async (command) => {
      if (isHung && node.host === 'oss01' && !command.startsWith('lctl get_param')) {
        most = Math.max(most, ++waiting)
        await gate
        waiting--
      }
      return node.exec(command)
    },
  })
  const c = emulatedCluster(twoJobs(), { kind: 'LIVE', mode: 'enforce', controller: 'adaptbf', around })
  await c.run(3)
  isHung = true
  const from = c.writes().length
  const before = c.monitor.sample
  await c.run(6)
  expect(waiting).toBe(1)
  expect(c.monitor.sample - before).toBe(30)
  expect(
    c
      .writes()
      .slice(from)
      .filter((w) => w.host === 'oss02').length,
  ).toBeGreaterThan(3)
  expect(c.monitor.loop.mode).toBe('enforce')
  expect([...c.monitor.busy]).toEqual(['oss01'])
  pass()
  expect([...(await c.monitor.over(1000))]).toEqual([])
  isHung = false
  await c.run(8)
  expect(most).toBe(1)
  for (const host of ['oss01', 'oss02']) {
    expect(parseNrsTbfRule(c.rules(host)).rules.some((r) => isControllerRule(r.name))).toBe(true)
  }
})
