import { expect, it } from 'vitest'
import { emulatedCluster, twoJobs } from '../../../tests/node/emulated-cluster.ts'
import { QUICK } from '../../../tests/node/rule-service.ts'
import { rpcSizeOf } from './check.ts'
import { RuleService } from './rule-service.ts'

it('a plan is told in bytes of the RPCs that a job sends now, whatever it sent before', async () => {
  const c = emulatedCluster(twoJobs(), { mode: 'observe' })
  // Before the console started: 20,000 writes of 1 MiB.
  for (let i = 0; i < 20_000; i++) c.source.emulator.osts[0]?.jobStats.countIo(0, '1.hog.u1', 'write', 1 << 20, 1e6)
  await c.run(3)
  const size = rpcSizeOf(new RuleService(c.monitor, QUICK), '1.hog.u1')
  expect(size?.lower).toBeCloseTo(64 * 1024, 0)
  expect(rpcSizeOf(new RuleService(c.monitor, QUICK), 'nobody')).toBeUndefined()
})
