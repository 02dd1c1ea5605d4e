import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseScenario } from '../emulator/scenario.ts'
import { withoutIdlePlanes } from './idle-planes.ts'
import { runVariant } from './run.ts'
import type { Variant } from './variant.ts'

const demo = parseScenario(readFileSync(new URL('../../resources/scenarios/demo.yaml', import.meta.url), 'utf8'))
if (!demo.ok) throw new Error(demo.error.why)
const scenario = demo.value

const plain: Variant = {
  name: 'plain',
  controller: 'none',
  maxRate: null,
  periodMs: null,
  adaptbf: {},
  rules: [],
  metadata: null,
  metadataLimits: [],
  haechi: 'scenario',
  tokens: {},
  locks: null,
  lockOptions: {},
  onS: 0,
}

describe('planes that no variant changes', () => {
  it('are left out, and every job and target is served the same without them', () => {
    const { scenario: without, omitted } = withoutIdlePlanes(scenario, [plain, { ...plain, controller: 'adaptbf' }])
    expect(omitted).toEqual(['locks', 'tokens'])
    const [full, lean] = [scenario, without].map((s) => {
      const run = runVariant(s, { variant: plain, index: 0, seed: 3, seconds: 1, sloWaitMs: 500 })
      if (!run.ok) throw new Error(run.error.why)
      return run.value
    })
    expect(lean?.throughputRpcs).toBeGreaterThan(0)
    expect(lean?.jobs).toEqual(full?.jobs)
    expect(lean?.targets).toEqual(full?.targets)
    expect(lean?.events).toBeLessThan(full?.events ?? 0)
  })

  it('stay where a variant changes them, and in a single run', () => {
    expect(withoutIdlePlanes(scenario, [plain, { ...plain, locks: 'basic' }]).omitted).toEqual(['tokens'])
    expect(withoutIdlePlanes(scenario, [plain, { ...plain, haechi: 'off' }]).omitted).toEqual(['locks'])
    expect(withoutIdlePlanes(scenario, [plain]).scenario).toBe(scenario)
  })
})
