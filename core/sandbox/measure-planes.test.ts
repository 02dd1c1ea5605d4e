import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ObjectiveKey } from '../controllers/objectives.ts'
import { parseScenario, type Scenario } from '../emulator/scenario.ts'
import type { RunReport } from './run-report.ts'
import type { Verdict } from './comparison.ts'
import type { Variant } from './variant.ts'
import { runOf, verdictOfRuns } from '#tests/kits/core/sandbox/small-run.ts'

function scenarioOf(text: string): Scenario {
  const read = parseScenario(
    `title: Planes
clients: { count: 4 }
oss: [{ name: oss01, osts: [{ name: p-OST0000, disk: { bandwidth_mb_s: 500 } }] }]
control: { controller: none, max_rate: 300METADATA }
${text}`.replace(
      'METADATA',
      text.includes('#controlled')
        ? ', metadata: { limits: { meta_op: 200 }, policies: "1 0 demand 2.meta.u2 meta_op 100" }'
        : '',
    ),
  )
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

const figure = (r: RunReport, key: ObjectiveKey): number => {
  const found = r.planes.find((p) => p.key === key)
  if (!found) throw new Error(`no figure ${key}`)
  return found.value
}

const STAGED = scenarioOf(`
mds: [{ name: mds01, mdts: [{ name: p-MDT0000 }] }]
padll: { algorithm: uniform, system_limits: { meta_op: 100 }, policies: "1 0 demand 1.meta.u1 meta_op 100" }
jobs:
  - { id: 1.meta.u1, clients: [1, 2], processes: 8, outstanding: 4, op: stat, stages: {}, pattern: { kind: poisson, rate: 60 } }
`)

describe('metadata', () => {
  it('is held back by PADLL as the scenario says, and passes when a variant takes it away', () => {
    const run = runOf(STAGED, {}, { seconds: 6 })
    const off = runOf(STAGED, { metadata: 'off' }, { seconds: 6 })
    // Demand is 480/s; stages are limited from the second control cycle on.
    expect(figure(run, 'metadataServed')).toBeLessThan(300)
    expect(figure(run, 'metadataHeldMs')).toBeGreaterThan(100)
    expect(figure(off, 'metadataServed')).toBeGreaterThan(400)
    expect(off.planes.map((p) => p.key)).toEqual(['metadataServed', 'metadataWaitMs', 'metadataAbove'])
    expect(off.jobs[0]!.waitP95Ms).toBeLessThan(run.jobs[0]!.waitP95Ms)
  })

  it('is limited by rules on its servers where the scenario controls it there', () => {
    const controlled = scenarioOf(`
#controlled
mds: [{ name: mds01, mdts: [{ name: p-MDT0000 }] }]
policy: tbf jobid+opcode
jobs:
  - { id: 2.meta.u2, clients: [1, 2], processes: 8, outstanding: 4, op: stat, pattern: { kind: poisson, rate: 60 } }
`)
    const run = runOf(controlled, { metadata: 'static' }, { seconds: 6 })
    const off = runOf(controlled, { metadata: 'off' }, { seconds: 6 })
    expect([run.remarks, off.remarks]).toEqual([[], []])
    expect(figure(off, 'metadataServed')).toBeGreaterThan(400)
    expect(figure(run, 'metadataServed')).toBeLessThan(200)
  })
})

describe('locks', () => {
  const shared = scenarioOf(`
ccpfs:
  servers: [lock01]
  files: [{ name: shared.dat }]
  workloads: [{ job: 1.cc.u1, file: shared.dat, clients: [1, 2, 3], pattern: strided, size_bytes: 262144, pace: { kind: continuous, think_ms: 0.5 } }]
jobs:
  - { id: 1.cc.u1, clients: [1, 2, 3], op: read, size_kib: 4, pattern: { kind: poisson, rate: 1 } }
`)

  it('are those of the manager that a variant names', () => {
    const [seqdlm, basic] = ['seqdlm', 'basic'].map((locks) => runOf(shared, { locks }, { seconds: 0.15 }))
    expect(figure(seqdlm!, 'locksWritten')).toBeGreaterThan(1.2 * figure(basic!, 'locksWritten'))
    expect(figure(basic!, 'lockWaitPart')).toBeGreaterThan(figure(seqdlm!, 'lockWaitPart'))
    expect(figure(basic!, 'lockWaitPart')).toBeLessThanOrEqual(1)
    expect(runOf(shared, { locks: 'none such' }, { seconds: 1 }).remarks).toHaveLength(1)
  })
})

describe('tokens', () => {
  it('keep reservations, and bare nodes do not', () => {
    const tenants = scenarioOf(`
haechi:
  - name: dn01
    global_iops: 40000
    local_iops: 20000
    batch: 100
    clients:
      - { name: a, reservation: 15000, workload: { kind: backlogged } }
      - { name: b, workload: { kind: backlogged } }
      - { name: c, workload: { kind: backlogged } }
      - { name: d, workload: { kind: backlogged } }
jobs:
  - { id: 1.x.u1, clients: [1], op: read, size_kib: 4, pattern: { kind: poisson, rate: 1 } }
`)
    const run = runOf(tenants, {}, { seconds: 5 })
    const off = runOf(tenants, { haechi: 'off' }, { seconds: 5 })
    // Reservations are 15,000; the bare node gives each client a quarter of 40,000.
    expect(figure(run, 'reservationsMet')).toBeGreaterThan(0.9)
    expect(figure(off, 'reservationsMet')).toBeCloseTo(2 / 3, 2)
    expect(figure(run, 'tokensCompleted')).toBeGreaterThan(30_000)
  })
})

const text = ({ parts }: Verdict): string => parts.map((p) => p.text).join('')
const builtIn = (name: string): Scenario => {
  const read = parseScenario(readFileSync(new URL(`../../resources/scenarios/${name}.yaml`, import.meta.url), 'utf8'))
  if (!read.ok) throw new Error(read.error.why)
  return read.value
}

describe('the verdict of the built-in scenarios', () => {
  it('prefers Haechi to bare data nodes, and names the reservations that it keeps', () => {
    const verdict = verdictOfRuns(builtIn('paper-haechi-zipf'), [{ haechi: 'off' }, {}], 8)
    expect(verdict.best).toBe(1)
    expect(text(verdict)).toMatch(/^Reservations met 9\d % → 100 %, periods with the reservation met 80 % → 100 %;/)
  })

  it('prefers SeqDLM to DLM-basic, and names writes, waits and convoys', () => {
    const verdict = verdictOfRuns(builtIn('paper-seqdlm-strided'), [{ locks: 'basic' }, { locks: 'seqdlm' }], 5)
    expect(verdict.best).toBe(1)
    expect(text(verdict)).toMatch(/^Writes to ccPFS \+\d+ %, lock wait p95 .* ms → .* ms, lock convoys .* → .*;/)
  })

  it('prefers PSFA to uniform shares, and names the false allocation', () => {
    const variants: Partial<Variant>[] = [{ metadata: 'uniform' }, { metadata: 'psfa' }]
    const verdict = verdictOfRuns(builtIn('paper-padll-four-jobs'), variants, 30)
    expect(verdict.best).toBe(1)
    expect(text(verdict)).toContain('false allocation −100 %')
  })

  it('does not call it a gain to lift the limit: what exceeds it is a loss', () => {
    const verdict = verdictOfRuns(STAGED, [{}, { metadata: 'off' }], 6)
    expect(verdict.best).toBeNull()
    expect(text(verdict)).toMatch(/A gains .*metadata wait p95.* and loses metadata above the system limit/)
  })
})
