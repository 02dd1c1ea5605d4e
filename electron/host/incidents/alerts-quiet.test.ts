/** Emulated clusters that are busy and healthy: no alerts. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { alertedCluster } from '../../../tests/node/alerted-cluster.ts'
import { resourcePath } from '../../files/resources.ts'
import { readScenario } from '../scenario-file.ts'

describe('no alert without a cause', () => {
  it.each([
    ['checkpoint-storm', 48, 1_000],
    ['paper-adaptbf-recompensation', 80, 500],
    ['paper-adaptbf-redistribution', 40, 500],
    ['metadata-storm', 300, 1_000],
    ['rdma-tenants', 60, 1_000],
    ['shared-file-convoy', 60, 1_000],
  ])('is told of %s', async (name, seconds, period_ms) => {
    const scenario = readScenario(resourcePath(join('scenarios', `${name}.yaml`)))
    if (!scenario.ok) throw new Error(scenario.error.what)
    const { control } = scenario.value
    const c = alertedCluster({ ...scenario.value, control: { ...control, period_ms } })
    await c.run(seconds)
    expect(c.reported).toEqual([])
    expect(c.monitor.sample).toBeGreaterThan(seconds / 2)
  })
})
