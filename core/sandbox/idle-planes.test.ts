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
  haechi: 'scenario',
  locks: null,
  onS: 0,
}

describe('planes that no variant changes', () => {
  it('are left out, and every job and target is served the same without them', () => {
    const { scenario: without, left } = withoutIdlePlanes(scenario, [plain, { ...plain, controller: 'adaptbf' }])
    expect(left).toEqual(['locks', 'tokens'])
    const [whole, lean] = [scenario, without].map((s) => {
      const run = runVariant(s, { variant: plain, index: 0, seed: 3, seconds: 1, sloWaitMs: 500 })
      if (!run.ok) throw new Error(run.error.why)
      return run.value
    })
    expect(lean?.throughputRpcs).toBeGreaterThan(0)
    expect(lean?.jobs).toEqual(whole?.jobs)
    expect(lean?.targets).toEqual(whole?.targets)
    expect(lean?.events).toBeLessThan(whole?.events ?? 0)
  })

  it('stay where a variant changes them, and in a single run', () => {
    expect(withoutIdlePlanes(scenario, [plain, { ...plain, locks: 'basic' }]).left).toEqual(['tokens'])
    expect(withoutIdlePlanes(scenario, [plain, { ...plain, haechi: 'off' }]).left).toEqual(['locks'])
    expect(withoutIdlePlanes(scenario, [plain]).scenario).toBe(scenario)
  })
})
