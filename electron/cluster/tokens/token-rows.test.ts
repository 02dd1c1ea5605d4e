// Rows of Haechi's data nodes: each completed period once, and sums that equal the counters of the engines.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { EmulatedDataNode } from '#core/emulator/data-node.ts'
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import { parseScenario } from '#core/emulator/scenario.ts'
import { planeColumn, planeTable, type PlaneRow } from '#core/series/plane-tables.ts'
import { TokenCollector } from './token-rows.ts'
import { KeptRows, valuesOf } from '#tests/kits/electron/cluster/kept-rows.ts'

const EPOCH_MS = 1_767_225_600_000

const CLIENTS = [
  { name: 'c1', job: 'a', reservation: 3000, workload: { kind: 'backlogged' } },
  { name: 'c2', job: 'a', reservation: 2000, limit: 2500, workload: { kind: 'backlogged' } },
  { name: 'c3', job: 'b', reservation: 1000, workload: { kind: 'burst', per_period: 200 } },
]

function nodeOf(name: string, more: object = {}): object {
  return { name, global_iops: 10_000, local_iops: 6000, batch: 100, clients: CLIENTS, ...more }
}

/** A node with four periods a second. */
const FAST = nodeOf('dn1', { period_ms: 250, global_iops: 40_000, local_iops: 24_000 })

interface Ran {
  readonly kept: KeptRows
  readonly nodes: readonly EmulatedDataNode[]
}

interface Pace {
  readonly everyMs: number
  readonly seconds: number
  readonly at?: (s: number, nodes: readonly EmulatedDataNode[]) => void
}

/** Runs data nodes and reads them every so many ms; at the end once more. */
function ran(haechi: readonly object[], { everyMs, seconds, at = () => undefined }: Pace): Ran {
  const read = parseScenario(
    JSON.stringify({
      title: 'Tokens',
      cluster: 'tokens',
      clients: { count: 2 },
      oss: [{ name: 'oss01', osts: [{ name: 't-OST0000', disk: { bandwidth_mb_s: 100 } }] }],
      control: { max_rate: 100, mode: 'observe', controller: 'none' },
      jobs: [{ id: 'quiet', clients: [1], op: 'write', size_kib: 64, pattern: { kind: 'poisson', rate: 1 } }],
      haechi,
    }),
  )
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  const { sim, dataNodes } = new EmulatedCluster(read.value)
  const kept = new KeptRows()
  const collector = new TokenCollector(dataNodes, (ns) => EPOCH_MS + ns / NS_PER_MS, kept)
  for (let s = 1; s <= seconds * 10; s++) {
    sim.runUntil((s * NS_PER_S) / 10)
    at(s / 10, dataNodes)
    if ((s * 100) % everyMs === 0 || s === seconds * 10) collector.look()
  }
  return { kept, nodes: dataNodes }
}

const of =
  (name: string, place = 'dn0') =>
  (r: PlaneRow): boolean =>
    r.name === name && r.place === place

describe('rows of a data node', () => {
  it('are those of each completed period: one per client, one of the pool', () => {
    const { kept, nodes } = ran([nodeOf('dn0')], { everyMs: 100, seconds: 8 })
    const seconds = Array.from({ length: 8 }, (_, s) => EPOCH_MS + s * 1000)
    expect(kept.times('token_clients')).toEqual(seconds)
    expect(kept.times('token_nodes')).toEqual(seconds)
    const run = nodes[0]?.runs[0]
    if (!run) throw new Error('no run')
    CLIENTS.forEach(({ name }, index) => {
      const sum = (column: string): number => kept.sum('token_clients', column, of(name))
      const totals = run.node.engine(index)?.totals
      expect(sum('used')).toBe(run.node.periods.items.reduce((n, p) => n + (p.completed[index] ?? 0), 0))
      expect(sum('used_reserved')).toBe(totals?.usedReservation)
      expect(sum('used_pool')).toBe(totals?.usedGlobal)
      expect(sum('yielded')).toBe(totals?.yielded)
    })
    expect(kept.sum('token_nodes', 'used')).toBe(kept.sum('token_clients', 'used'))
    expect(kept.sum('token_nodes', 'missed')).toBe(kept.sum('token_clients', 'missed'))
    const last = kept.periods.findLast((p) => p.table === 'token_clients')
    const columns = ['used', 'reservation', 'limit', 'used_reserved', 'used_pool', 'missed']
    // c2 gets its limit: 2,000 reserved, 500 of the pool; c3 uses 200 of its 1,000 and yields most of the others.
    expect(valuesOf('token_clients', columns, last?.rows.find(of('c2')))).toEqual([2500, 2000, 2500, 2000, 500, 0])
    expect(valuesOf('token_clients', columns, last?.rows.find(of('c3')))).toEqual([200, 1000, NaN, 200, 0, 0])
    expect(last?.rows.map((r) => r.jobId)).toEqual(['a', 'a', 'b'])
    expect(kept.sum('token_clients', 'yielded', of('c3'))).toBeGreaterThan(5000)
  })

  it('show the pool at its checks, the lowest of each tenth, and the estimate', () => {
    const { kept } = ran([nodeOf('dn0')], { everyMs: 100, seconds: 6 })
    const pools = planeTable('token_nodes').columns.flatMap((c, i) => (c.name.startsWith('pool_check_') ? [i] : []))
    expect(pools).toHaveLength(10)
    const at = (name: string): number => planeColumn('token_nodes', name)
    const rows = kept.rows('token_nodes')
    expect(rows.map((r) => r.values[at('epoch')])).toEqual([1, 2, 3, 4, 5, 6])
    for (const { values } of rows) {
      const checks = pools.map((i) => values[i] as number)
      expect(values[at('pool_lowest')]).toBe(Math.min(...checks))
      expect(Math.max(...checks)).toBeLessThanOrEqual(values[at('pool_start')] as number)
      expect(values[at('reserved')]).toBe(6000)
      expect(values[at('pool_start')]).toBe((values[at('estimate')] as number) - 6000)
    }
    // One client is always short of tokens while another has some.
    expect(rows.every(({ values }) => (values[at('idle_share')] as number) >= 0)).toBe(true)
  })

  it('are the same at any pace of reading', () => {
    const haechi = [nodeOf('dn0'), FAST]
    const { periods } = ran(haechi, { everyMs: 100, seconds: 15 }).kept
    fc.assert(
      fc.property(fc.constantFrom(200, 300, 1000, 1700, 5000, 14_900), (everyMs) => {
        const other = ran(haechi, { everyMs, seconds: 15 }).kept
        for (const table of ['token_clients', 'token_nodes'] as const) {
          expect(other.periods.filter((p) => p.table === table)).toEqual(periods.filter((p) => p.table === table))
        }
      }),
      { numRuns: 4 },
    )
  })

  it('of periods shorter than a second are their mean, in one call a second for all nodes', () => {
    const haechi = [nodeOf('dn0'), FAST]
    const { kept, nodes } = ran(haechi, { everyMs: 100, seconds: 5 })
    expect(kept.times('token_nodes')).toEqual(Array.from({ length: 5 }, (_, s) => EPOCH_MS + s * 1000))
    expect(kept.periods.every(({ table, rows }) => rows.length === (table === 'token_nodes' ? 2 : 6))).toBe(true)
    const run = nodes[1]?.runs[0]
    const total = run?.node.periods.items.reduce((n, p) => n + p.total, 0)
    expect(run?.node.periods.total).toBe(20)
    expect(4 * kept.sum('token_nodes', 'used', of('dn1', ''))).toBe(total)
    expect(4 * kept.sum('token_clients', 'used', (r) => r.place === 'dn1')).toBe(total)
  })

  it('continue in the next run of a node: no period twice, the one that was cut off not at all', () => {
    const at = (s: number, [node]: readonly EmulatedDataNode[]): void => {
      if (s === 3.4) node?.change({ variant: 'bare' })
    }
    const { kept, nodes } = ran([nodeOf('dn0')], { everyMs: 300, seconds: 7, at })
    expect(nodes[0]?.runs).toHaveLength(2)
    expect(kept.times('token_nodes').map((ms) => (ms - EPOCH_MS) / 1000)).toEqual([0, 1, 2, 3, 4, 5])
    const totals = nodes[0]?.runs.map((r) => r.node.periods.items.reduce((n, p) => n + p.total, 0)) ?? []
    expect(kept.sum('token_nodes', 'used')).toBe(totals.reduce((a, b) => a + b))
    const last = kept.periods.findLast((p) => p.table === 'token_clients')?.rows[0]
    // Without tokens nothing is reserved, and all of it counts as unreserved.
    const [used, reserved, fromPool] = valuesOf('token_clients', ['used', 'used_reserved', 'used_pool'], last)
    expect(reserved).toBe(0)
    expect(fromPool).toBe(used)
    const pool = kept.periods.findLast((p) => p.table === 'token_nodes')?.rows[0]
    expect(valuesOf('token_nodes', ['estimate', 'pool_start', 'pool_check_1'], pool)).toEqual([NaN, NaN, NaN])
  })
})
