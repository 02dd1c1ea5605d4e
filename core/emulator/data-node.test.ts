import { describe, expect, it } from 'vitest'
import { Simulation } from '../sim/simulation.ts'
import { EmulatedDataNode } from './data-node.ts'
import { parseScenario, type Scenario } from './scenario.ts'

const scenarioOf = (haechi: string): string => `title: tokens
clients: { count: 1 }
oss:
  - name: oss01
    osts: [{ name: fs-OST0000, disk: { bandwidth_mb_s: 100 } }]
control: { max_rate: 100 }
haechi:
${haechi}
jobs:
  - { id: 1.a.u1, user: a, clients: [1], op: write, size_kib: 64, pattern: { kind: continuous } }
`
const NODE = `  - name: dn0
    global_iops: 10000
    local_iops: 4000
    batch: 50
    clients:
      - { name: c1, reservation: 3000, workload: { kind: backlogged } }
      - { name: c2, reservation: 2000, limit: 2500, workload: { kind: backlogged } }
      - { name: c3, workload: { kind: backlogged }, start_s: 2 }
      - { name: c4, reservation: 1000, workload: { kind: backlogged }, crash_s: 3.2 }
      - { name: c5, reservation: 1000, workload: { kind: backlogged }, leave_s: 4.5 }
    capacity: [{ at_s: 6, iops: 8000 }]
    changes: [{ at_s: 1.5, client: c1, reservation: 3500 }, { at_s: 1.6, client: c2, reservation: 9000 }]`

function parsed(haechi: string): Scenario {
  const read = parseScenario(scenarioOf(haechi))
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}
function nodeOf(haechi = NODE, seed = 1): { sim: Simulation; node: EmulatedDataNode } {
  const [section] = parsed(haechi).haechi
  if (!section) throw new Error('the scenario has a data node')
  const sim = new Simulation()
  return { sim, node: new EmulatedDataNode(sim, section, seed) }
}
const why = (haechi: string): string => {
  const read = parseScenario(scenarioOf(haechi))
  return read.ok ? '' : `${read.error.line}: ${read.error.why}`
}

describe('a data node in a scenario', () => {
  it('follows the clock of the cluster, and no data I/O wakes its CPU', () => {
    const { sim, node } = nodeOf()
    sim.runUntil(8e9)
    const run = node.run(sim.now)
    expect(run?.node.now).toBe(8e9)
    expect(run?.node.counters()).toMatchObject({ cpuEventsForData: 0 })
    expect(run?.node.counters().dataIos).toBeGreaterThan(50_000)
  })

  it('keeps limits, and lets clients come, leave and crash when the scenario says so', () => {
    const { sim, node } = nodeOf()
    sim.runUntil(8e9)
    const run = node.run(sim.now)
    const periods = run?.node.periods.items ?? []
    expect(run?.clients.map((c) => c.name)).toEqual(['c1', 'c2', 'c4', 'c5', 'c3'])
    expect(periods.slice(1).every((p) => (p.completed[1] ?? 0) <= 2500 + 64)).toBe(true)
    const states = run?.clients.map((_, i) => run.node.client(i)?.state)
    expect(states).toEqual(['active', 'active', 'crashed', 'left', 'active'])
    expect(periods.at(-1)?.completed.slice(2, 4)).toEqual([0, 0])
    expect(periods[1]?.completed[4] ?? 0).toBe(0)
    expect(periods.at(-1)?.completed[4]).toBeGreaterThan(0)
    expect(run?.marks.map((m) => [m.kind, m.client])).toEqual([
      ['refused', 'c2'],
      ['client', 'c4'],
      ['client', 'c5'],
      ['capacity', ''],
    ])
  })

  it('holds a new reservation from the next period on, and refuses one over a capacity with the excess', () => {
    const { sim, node } = nodeOf()
    sim.runUntil(2.5e9)
    expect(node.run(sim.now)?.node.engine(0)?.reservation).toBe(3500)
    expect(node.reserve('c2', 2200, 2500).ok).toBe(true)
    expect(node.run(sim.now)?.node.engine(1)?.reservation).toBe(2000)
    sim.runUntil(3.5e9)
    expect(node.run(sim.now)?.node.engine(1)?.reservation).toBe(2200)
    const local = node.reserve('c1', 4100, null)
    expect(local).toMatchObject({ ok: false, error: { code: 'E_LOCAL_CAPACITY' } })
    expect(!local.ok && local.error.why).toContain('by 100 I/Os per period')
    const answer = node.check('c1', 4000)
    // c4 crashed at 3.2 s and was not dropped, so the monitor still keeps its reservation.
    expect(answer.ok && answer.value.total).toBe(4000 + 2200 + 1000 + 1000)
  })

  it('applies reservations from the first period on, and accepts a reduction even under overcommitment', () => {
    const { sim, node } = nodeOf(
      `  - { name: dn0, global_iops: 10000, local_iops: 4000, batch: 50, capacity: [{ at_s: 2, iops: 8200 }],
      clients: [{ name: c1, reservation: 3500 }, { name: c2, reservation: 3500 }, { name: c3, reservation: 2500 }] }`,
    )
    sim.runUntil(15e9)
    const monitor = node.run(sim.now)?.node
    expect(monitor?.periods.items[0]?.monitor?.reserved).toBe(9500)
    expect(monitor?.monitor?.omega).toBeLessThan(9500)
    expect(node.check('c1', 3600)).toMatchObject({ ok: true, value: { isAdmitted: false } })
    expect(node.check('c1', 3000)).toMatchObject({ ok: true, value: { isAdmitted: true, reasons: [] } })
    expect(node.reserve('c1', 3000, null).ok).toBe(true)
  })

  it('learns a capacity that comes back, where reports may be short by what one check leaves unused', () => {
    const lives = (slack: number): number => {
      const { sim, node } = nodeOf(
        `  - { name: dn0, global_iops: 10000, local_iops: 4000, batch: 50, slack: ${slack},
      capacity: [{ at_s: 5, iops: 8200 }, { at_s: 15, iops: 10000 }],
      clients: [{ name: c1, reservation: 3500, workload: { kind: constant, per_period: 3000 } }, { name: c2, reservation: 2500 },
        { name: c3, reservation: 1500 }, { name: c4 }] }`,
      )
      sim.runUntil(60e9)
      return node.run(sim.now)?.node.monitor?.omega ?? 0
    }
    expect(lives(20)).toBeGreaterThan(9700)
  })

  it.each([
    ['a fraction', 1.5, 'E_TOKENS'],
    ['a negative number', -1, 'E_TOKENS'],
    ['no number', Number.NaN, 'E_TOKENS'],
  ])('refuses %s as a reservation and keeps what was promised', (_, reservation, code) => {
    const { sim, node } = nodeOf()
    sim.runUntil(1e9)
    expect(node.reserve('c1', reservation, null)).toMatchObject({ ok: false, error: { code } })
    expect(node.reserve('c1', 3000, reservation)).toMatchObject({ ok: false, error: { code } })
    sim.runUntil(2.4e9)
    expect(node.run(sim.now)?.node.engine(0)?.reservation).toBe(3500)
  })

  it('refuses a client that is not there', () => {
    const { sim, node } = nodeOf()
    expect(node.reserve('c3', 10, null)).toMatchObject({ ok: false, error: { code: 'E_CLIENT' } })
    sim.runUntil(3e9)
    expect(node.reserve('c3', 10, null).ok).toBe(true)
    sim.runUntil(5e9)
    expect(node.reserve('c4', 10, null)).toMatchObject({ ok: false, error: { code: 'E_CLIENT' } })
    expect(node.check('nobody', 10)).toMatchObject({ ok: false, error: { code: 'E_CLIENT' } })
  })

  it('starts a new run as another variant, and keeps the previous one readable', () => {
    const { sim, node } = nodeOf()
    sim.runUntil(3.5e9)
    node.change({ variant: 'bare' })
    sim.runUntil(6.5e9)
    expect(node.run(sim.now)).toMatchObject({ variant: 'bare', fromNs: 3.5e9 })
    expect(node.run(sim.now)?.node.monitor).toBeNull()
    expect(node.run(3.4e9)).toMatchObject({ variant: 'haechi', fromNs: 0 })
    // c4 crashed in the previous run and does not return in the new one.
    expect(node.run(sim.now)?.clients.map((c) => c.name)).toEqual(['c1', 'c2', 'c3', 'c5'])
    node.change({ preset: 'paper-literal', variant: 'haechi' })
    expect(node.run(sim.now)?.node.setup.settings).toMatchObject({ decay: 'literal', conversion: 'literal' })
  })

  it('does the same with the same seed', () => {
    const digest = (seed: number): string => {
      const { sim, node } = nodeOf(NODE.replace('backlogged', 'poisson, per_s: 2000'), seed)
      sim.runUntil(5e9)
      return JSON.stringify(node.run(sim.now)?.node.periods.items.map((p) => p.completed))
    }
    expect(digest(3)).toBe(digest(3))
    expect(digest(4)).not.toBe(digest(3))
  })
})

describe('bad input in the section', () => {
  it.each([
    [
      'a reservation over what one client can do',
      NODE.replace('reservation: 3000', 'reservation: 4001'),
      '1 above the capacity of one client',
    ],
    [
      'reservations over the capacity',
      NODE.replace('global_iops: 10000', 'global_iops: 6000'),
      '1000 above the capacity',
    ],
    ['a fraction', NODE.replace('reservation: 3000', 'reservation: 0.5'), 'expected int'],
    ['a negative limit', NODE.replace('limit: 2500', 'limit: -1'), '>=0'],
    ['a change of an unknown client', NODE.replace('client: c1', 'client: c9'), 'no client has this name'],
    ['two clients of one name', NODE.replace('name: c2', 'name: c1'), 'another client'],
    ['a capacity of zero', NODE.replace('iops: 8000', 'iops: 0'), '>0'],
    ['two monitors on one node', `${NODE}\n${NODE}`, 'another node is called dn0'],
    ['a period of zero', NODE.replace('batch: 50', 'period_ms: 0'), '>=10'],
  ])('refuses %s with its line', (_, section, message) => {
    expect(why(section)).toMatch(/^\d+: /)
    expect(why(section)).toContain(message)
  })
})
