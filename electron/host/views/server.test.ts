import { expect, it } from 'vitest'
import { emulatedCluster, twoJobs } from '../../../tests/node/emulated-cluster.ts'
import { liveReadings, serverFrame } from './server.ts'
import { printed } from '#tests/kits/electron/answers.ts'

it('a target shows what its disk did up to the cursor, and of a server all of its targets', async () => {
  const c = emulatedCluster(twoJobs(), { controller: 'none' })
  await c.run(32)
  const at = (kind: 'target' | 'node', name: string, sample: number | null) =>
    serverFrame(c.monitor, liveReadings(c.monitor), { at: sample, kind, name }, 1)
  const now = at('target', 'small-OST0001', null)
  expect(now).toMatchObject({ known: true, node: 'oss01', diskNote: '', estimatesNote: '' })
  expect(now.disk?.writes).toBeGreaterThan(0)
  expect(now.disk?.sizeBytes?.some(([upper, , writes]) => upper === 65_536 && writes > 0)).toBe(true)
  expect(now.estimates.map((e) => e.service)).toContain('ost_io')
  const server = at('node', 'oss01', null)
  expect(server.targets.map((t) => t.name)).toEqual(['small-OST0001'])
  expect(server.disk?.writes).toBe(now.disk?.writes)
  // Some readings earlier: an older one, never a later one.
  c.history.flush()
  const sample = Math.max(c.monitor.recent.raw.totals.oldest, c.monitor.sample - 150)
  const then = at('target', 'small-OST0001', sample)
  expect(then.disk?.atMs).toBeLessThanOrEqual(then.atMs ?? 0)
  expect(then.disk?.atMs).toBeLessThan(now.disk?.atMs ?? 0)
  expect(at('target', 'nowhere-OST0009', null)).toMatchObject({ known: false, disk: null, targets: [] })
})

it('says why a server is not read, and shows no zero for it', async () => {
  const c = emulatedCluster(twoJobs(), {
    controller: 'none',
    around: (node) => ({
      ...node,
      exec: async (command) =>
        command.includes('brw_stats') ? printed('', 'no such parameter\n', 2) : node.exec(command),
    }),
  })
  await c.run(12)
  const frame = serverFrame(c.monitor, liveReadings(c.monitor), { at: null, kind: 'target', name: 'small-OST0001' }, 1)
  expect(frame).toMatchObject({ disk: null, diskNote: 'no such parameter' })
})
