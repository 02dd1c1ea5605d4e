import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LOCK_OPTIONS } from '../controllers/settings.ts'
import { policyOf } from '../emulator/ccpfs-run.ts'
import { LOCK_MANAGERS } from '../emulator/scenario-ccpfs.ts'
import { variedScenario } from './varied-scenario.ts'
import type { Variant } from './variant.ts'
import { AS_IT_IS, runOf, scenarioOf } from '#tests/kits/core/sandbox/small-run.ts'

const scenario = scenarioOf(
  [
    '{ id: 1.meta.u1, clients: [1, 2], processes: 4, op: stat, stages: {}, pattern: { kind: poisson, rate: 60 } }',
    '{ id: 2.cc.u2, clients: [3, 4], op: read, size_kib: 4, pattern: { kind: poisson, rate: 1 } }',
  ],
  {
    rest: `
mds: [{ name: mds01, mdts: [{ name: s-MDT0000 }] }]
padll: { algorithm: uniform, system_limits: { meta_op: 100, open: 50 } }
ccpfs:
  servers: [lock01]
  options: { expansion: false }
  files: [{ name: shared.dat }]
  workloads: [{ job: 2.cc.u2, file: shared.dat, clients: [3, 4], pattern: strided, size_bytes: 65536, pace: { kind: continuous, think_ms: 0.5 } }]
haechi:
  - name: dn01
    variant: bare
    global_iops: 40000
    local_iops: 20000
    clients: [{ name: a, reservation: 15000 }, { name: b, reservation: 5000 }, { name: c }]
`,
  },
)
const vary = (of: Partial<Variant>): ReturnType<typeof variedScenario> =>
  variedScenario(scenario, { ...AS_IT_IS, ...of })

describe('the plane policies of a variant', () => {
  it('leave the scenario as it is where none is set', () => {
    expect(vary({})).toEqual({ scenario, remarks: [] })
  })

  it('set system limits and the algorithm, and keep the other limits', () => {
    const { scenario: varied, remarks } = vary({
      metadata: 'proportional',
      metadataLimits: [
        { scope: 'meta_op', rate: 300 },
        { scope: 'none such', rate: 1 },
      ],
    })
    expect(varied.padll).toMatchObject({ algorithm: 'psharing', system_limits: { meta_op: 300, open: 50 } })
    expect(remarks).toEqual(['unknown operation or class none such: its limit is not applied'])
  })

  it('set the lock manager and its options; those of the scenario belong to its own manager', () => {
    const own = vary({ lockOptions: { earlyGrant: false } }).scenario.ccpfs!
    expect(own).toMatchObject({ manager: 'seqdlm', options: { early_grant: false, expansion: false } })
    expect(policyOf(own)).toMatchObject({
      name: 'SeqDLM without early grant without expansion',
      earlyGrant: false,
      earlyRevocation: true,
      expand: false,
    })
    const other = vary({ locks: 'basic', lockOptions: { earlyRevocation: true } }).scenario.ccpfs!
    expect(policyOf(other)).toMatchObject({ name: 'DLM-basic with early revocation', expand: true })
  })

  it('set the data nodes: QoS, preset, rules, capacity estimate and reservations', () => {
    const { scenario: varied, remarks } = vary({
      haechi: 'haechi',
      tokens: {
        preset: 'paper-literal',
        conversion: 'budget',
        decay: 'none',
        estimator: { enabled: false, history: 3 },
        reservations: [
          { node: 'dn01', client: 'b', reservation: 9000 },
          { node: 'dn01', client: 'x', reservation: 1 },
        ],
      },
    })
    expect(varied.haechi[0]).toMatchObject({
      variant: 'haechi',
      preset: 'paper-literal',
      conversion: 'budget',
      decay: 'none',
      estimator: { enabled: false, history: 3 },
    })
    expect(varied.haechi[0]!.clients.map((c) => c.reservation)).toEqual([15000, 9000, 0])
    expect(remarks).toEqual(['no client x on a data node dn01: its reservation is not applied'])
  })

  it('do not apply reservations that admission refuses', () => {
    const reservations = [{ node: 'dn01', client: 'b', reservation: 30_000 }]
    const { scenario: varied, remarks } = vary({ tokens: { reservations } })
    expect(varied.haechi[0]!.clients.map((c) => c.reservation)).toEqual([15000, 5000, 0])
    expect(remarks).toEqual([expect.stringMatching(/^the reservations are not applied: 10000 above the capacity/)])
  })

  it('are remarked where the scenario has no such plane', () => {
    const bare = scenarioOf(['{ id: 1.a.u1, clients: [1], op: read, size_kib: 4, pattern: { kind: continuous } }'])
    const { remarks } = variedScenario(bare, {
      ...AS_IT_IS,
      metadataLimits: [{ scope: 'meta_op', rate: 5 }],
      lockOptions: { conversion: false },
      haechi: 'basic',
    })
    expect(remarks).toEqual([
      'the system limit has no effect: the scenario has no PADLL',
      'lock options has no effect: the scenario has no ccPFS',
      'haechi basic has no effect: the scenario has no data nodes',
    ])
  })

  it('run with every combination of lock options and every manager', () => {
    const combination = fc.record(
      { locks: fc.constantFrom(...LOCK_MANAGERS), on: fc.subarray([...LOCK_OPTIONS]) },
      { requiredKeys: ['locks', 'on'] },
    )
    fc.assert(
      fc.property(combination, ({ locks, on }) => {
        const lockOptions = Object.fromEntries(LOCK_OPTIONS.map((o) => [o, on.includes(o)]))
        const { planes } = runOf(scenario, { locks, lockOptions }, { seconds: 0.1 })
        expect(planes.find((p) => p.key === 'locksWritten')!.value).toBeGreaterThan(0)
      }),
      { numRuns: 40 },
    )
  })

  it('change what is measured: a higher limit serves more, a larger reservation is kept', () => {
    const value = (of: Partial<Variant>, key: string): number =>
      runOf(scenario, of, { seconds: 6 }).planes.find((p) => p.key === key)!.value
    const limited = value({}, 'metadataServed')
    expect(value({ metadataLimits: [{ scope: 'meta_op', rate: 200 }] }, 'metadataServed')).toBeGreaterThan(
      1.5 * limited,
    )
    const reservations = [{ node: 'dn01', client: 'b', reservation: 15_000 }]
    expect(value({ haechi: 'haechi', tokens: { reservations } }, 'reservationsMet')).toBeGreaterThan(0.95)
    expect(value({ tokens: { reservations } }, 'reservationsMet')).toBeLessThan(0.9)
  })
})
