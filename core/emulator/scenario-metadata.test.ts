import { describe, expect, it } from 'vitest'
import { limitsOf } from './scenario-metadata.ts'
import { parseScenario } from './scenario.ts'

const scenario = (control: string, mds = ''): string => `title: Metadata
oss: [{ name: oss01, osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 100 } }] }]
mds:
  - name: mds01
    ${mds === '' ? 'threads: 4' : mds}
    mdts: [{ name: t-MDT0000 }]
clients: { count: 1 }
control:
  max_rate: 100
${control}
jobs: [{ id: 1.a, clients: [1], op: open, pattern: { kind: continuous } }]
`
const read = (control: string, mds?: string) => parseScenario(scenario(control, mds))

describe('control.metadata of a scenario', () => {
  it('is off by default', () => {
    const without = read('  period_ms: 100')
    expect(without.ok && without.value.control.metadata).toBeUndefined()
  })

  it('takes an algorithm, limits by operation or class, and a policy file', () => {
    const with_ = read(`  metadata:
    algorithm: psharing
    limits: { meta_op: 900, open: 200 }
    policies: |
      1 0 demand 1.a meta_op 300
      2 5 job 1.a open 50`)
    expect(with_).toMatchObject({ ok: true })
    const metadata = with_.ok ? with_.value.control.metadata : undefined
    expect(metadata).toMatchObject({ algorithm: 'psharing', epsilon: 0.25 })
    expect(metadata && limitsOf(metadata)).toEqual([
      { scope: 'meta_op', rate: 900 },
      { scope: 'open', rate: 200 },
    ])
  })

  it.each([
    ['  metadata: { algorithm: fair }', 'algorithm'],
    ['  metadata: { limits: { opne: 5 } }', 'not an operation or class'],
    ['  metadata: { limits: { open: 0 } }', 'a system limit of 1 to'],
    ['  metadata: { epsilon: 2 }', 'epsilon'],
    ['  metadata: { polices: x }', 'polices'],
    ['  metadata: { policies: "1 0 job 1.a opne 5" }', 'line 1, column 13 of the policies'],
  ])('%s is refused where it stands', (control, why) => {
    const result = read(control)
    expect(result.ok).toBe(false)
    if (result.ok) return
    expect(result.error.why).toContain(why)
    expect(result.error.line).toBe(10)
  })

  it('metadata servers may run another policy than the rest; one that their release refuses is named', () => {
    expect(read('  period_ms: 100', 'policy: tbf jobid+opcode')).toMatchObject({ ok: true })
    const old = read(
      '  period_ms: 100',
      '{ policy: tbf jobid+opcode }'.replace(/[{}]/g, '').trim() + '\n    version: 2.15.8',
    )
    expect(old.ok ? '' : old.error.why).toContain('mds01 with Lustre 2.15.8 rejects "tbf jobid+opcode"')
  })
})
