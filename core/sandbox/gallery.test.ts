import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EmulatedCluster } from '../emulator/cluster.ts'
import { parseScenario, type Scenario } from '../emulator/scenario.ts'

const folder = new URL('../../resources/scenarios/', import.meta.url)
const names = readdirSync(folder).filter((f) => f.endsWith('.yaml'))

function scenario(name: string): Scenario {
  const read = parseScenario(readFileSync(new URL(name, folder), 'utf8'), name)
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

describe('the built-in scenarios', () => {
  it('are those that are promised', () => {
    for (const wanted of [
      'checkpoint-storm',
      'metadata-storm',
      'noisy-neighbour',
      'shared-file-convoy',
      'rdma-tenants',
      'failing-disk',
    ])
      expect(names).toContain(`${wanted}.yaml`)
    for (const paper of ['adaptbf', 'padll', 'seqdlm', 'haechi'])
      expect(names.some((n) => n.startsWith(`paper-${paper}`))).toBe(true)
  })

  it.each(names)('%s has a title and says what it shows', (name) => {
    const { title, about } = scenario(name)
    expect(title.length).toBeGreaterThan(5)
    expect(about.length).toBeGreaterThan(40)
  })

  // A data node at full speed does 1.57 million I/O a second.
  it.each(names)('%s runs, and its jobs are served', (name) => {
    const cluster = new EmulatedCluster(scenario(name))
    const seconds = name.startsWith('rdma') ? 1 : 10
    expect(cluster.sim.runUntil(seconds * 1e9, 20e6)).toBe(true)
    expect(cluster.jobs.reduce((n, j) => n + j.servedRpcs, 0)).toBeGreaterThan(0)
    for (const j of cluster.jobs) {
      if (j.scenario.start_s < seconds - 3 && j.scenario.pattern.kind === 'continuous')
        expect(j.servedRpcs).toBeGreaterThan(0)
    }
  })
})
