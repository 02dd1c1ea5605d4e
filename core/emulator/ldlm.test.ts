/** Locks of emulated servers: counters in their files, from the operations of the jobs. */
import { describe, expect, it } from 'vitest'
import { getParamCommand } from '../lustre/lctl.ts'
import { LDLM_PARAMETERS, parseLdlm, type LdlmAnswer, type LdlmCounters } from '../lustre/ldlm-counters.ts'
import { parsePoolState } from '../lustre/pool-state.ts'
import { profileOf } from '../lustre/profile.ts'
import { parseVersion } from '../lustre/version.ts'
import type { EmulatedCluster } from './cluster.ts'
import { ExtentLocks } from './ldlm-extents.ts'
import { InodeLocks } from './ldlm-inodes.ts'
import { LockPool } from './ldlm-pool.ts'
import { clusterOf } from '#tests/kits/core/emulator/small-cluster.ts'

const MDS = '{ name: mds01, mdts: [{ name: t-MDT0000, per_op_us: 100 }] }'
const VERSIONS = ['2.12.9', '2.15.8', '2.16.1', '2.17.0', '2.17.57']

function query(c: EmulatedCluster, node = 'oss01'): LdlmAnswer {
  const { stdout, stderr } = c.node(node)!.exec(getParamCommand(...LDLM_PARAMETERS))
  expect(stderr).toBe('')
  const read = parseLdlm(stdout)
  expect(read.skipped).toBe(0)
  return read
}
const of = (a: LdlmAnswer, target: string): LdlmCounters => a.namespaces.find((n) => n.target === target)!
const at = (c: EmulatedCluster, seconds: number, node = 'oss01'): LdlmAnswer => {
  c.sim.runUntil(seconds * 1e9)
  return query(c, node)
}

const writers = (id: string, client: number, n: number, more = ''): string =>
  `{ id: ${id}, clients: [${client}], processes: ${n}, op: write, size_kib: 64, pattern: { kind: continuous }${more} }`
const cached = (id: string, clients: string, n: number): string =>
  `{ id: ${id}, clients: ${clients}, processes: ${n}, op: write, size_kib: 64, cached: true, shared: ckpt,
      targets: [t-OST0000], pattern: { kind: continuous } }`
const metadata = (id: string, op: string, rate: number, more = ''): string =>
  `{ id: ${id}, clients: [1], processes: 1, outstanding: 64, op: ${op}, pattern: { kind: poisson, rate: ${rate} }${more} }`

describe('locks on the objects of OSTs', () => {
  it('are one a process and OST, granted with its first RPC and kept: later RPCs ask for nothing', () => {
    const c = clusterOf([writers('a', 1, 3), writers('b', 2, 2, ', targets: [t-OST0001], start_s: 5')])
    const first = at(c, 3)
    expect(of(first, 't-OST0000')).toMatchObject({ locks: 3, granted: 3, resources: 3, timeouts: 0, limit: 3276799 })
    expect(of(first, 't-OST0001').granted).toBe(3)
    const later = at(c, 9)
    expect(of(later, 't-OST0000').granted).toBe(3)
    expect(of(later, 't-OST0001')).toMatchObject({ granted: 5, resources: 5, total: { grants: 5, cancels: 0 } })
    expect(later.grantedOnNode).toBe(8)
    expect(of(later, 't-OST0000').grantRate).toBe(0)
  })

  it('of a job that ended go when they are older than lru_max_age: 600 s in 2.17, 3900 s in 2.15', () => {
    const run = (version: string): EmulatedCluster =>
      clusterOf([writers('a', 1, 3, ', total_rpcs: 30')], { oss: `version: '${version}'` })
    const fresh = run('2.17.0')
    const old = run('2.15.8')
    expect(of(at(fresh, 590), 't-OST0000').granted).toBe(3)
    expect(of(at(fresh, 620), 't-OST0000')).toMatchObject({
      granted: 0,
      resources: 0,
      total: { grants: 3, cancels: 3 },
    })
    expect(of(at(old, 3800), 't-OST0000').granted).toBe(3)
    expect(of(at(old, 3920), 't-OST0000').granted).toBe(0)
  })

  it('of a range that clients take from each other come and go with every hand-over', () => {
    const c = clusterOf([cached('a', '[1, 2, 3]', 3)])
    const one = of(at(c, 5), 't-OST0000')
    const two = of(at(c, 10), 't-OST0000')
    expect(of(query(c), 't-OST0001').granted).toBe(0)
    expect(two.granted).toBe(1)
    expect(two.resources).toBe(1)
    expect(two.locks! - two.granted!).toBeGreaterThanOrEqual(1)
    const grants = two.total!.grants - one.total!.grants
    const cancels = two.total!.cancels - one.total!.cancels
    expect(grants).toBeGreaterThan(100)
    expect(Math.abs(grants - cancels)).toBeLessThanOrEqual(1)
  })

  it('count a resource as contended when more wait than contended_locks: 16 on the development line', () => {
    const events = (processes: number, version = '2.17.57'): number | undefined => {
      const clients = `[${Array.from({ length: processes }, (_, i) => i + 1).join(', ')}]`
      const more = { clients: `{ count: ${processes} }`, oss: `version: '${version}'` }
      return of(at(clusterOf([cached('a', clients, processes)], more), 3), 't-OST0000').contentions
    }
    expect(events(4)).toBe(0)
    expect(events(24)).toBeGreaterThan(10)
    // Older releases lack this file.
    expect(events(24, '2.17.0')).toBeUndefined()
  })

  it('conflict as modes do: readers share, a writer takes all, and its own read lock gives way too', () => {
    let now = 0
    const locks = new ExtentLocks(() => now, profileOf(parseVersion('2.17.57')).text.namespaces)
    for (const client of ['a', 'b', 'c']) locks.touch(client, 'file', false)
    expect([locks.locks, locks.resources]).toEqual([3, 1])
    locks.touch('a', 'file', true)
    expect(locks.locks).toBe(1)
    locks.touch('a', 'file', false)
    expect(locks.pool.gr).toBe(4)
    locks.touch('b', 'file', false)
    expect([locks.locks, locks.pool.gr, locks.pool.cr]).toEqual([1, 5, 4])
    locks.touch('b', undefined, true)
    expect(locks.locks).toBe(1)
    now = 2e9
    expect([locks.pool.gr, locks.pool.cr]).toEqual([0, 0])
  })
})

describe('locks on the inodes of MDTs', () => {
  it('come with every operation that travels as an enqueue, and go with what removes a file', () => {
    const c = clusterOf([metadata('a', '[create, close, stat]', 30)], { mds: MDS })
    const one = of(at(c, 10, 'mds01'), 't-MDT0000')
    // Two in three are enqueues.
    expect(one.granted!).toBeGreaterThan(150)
    expect(one.granted!).toBeLessThan(250)
    expect(one).toMatchObject({ resources: one.granted, locks: one.granted, total: { cancels: 0 } })
    const d = clusterOf([metadata('a', '[create, close, unlink]', 30)], { mds: MDS })
    const { granted, total } = of(at(d, 60, 'mds01'), 't-MDT0000')
    expect(total!.grants).toBeGreaterThan(500)
    expect(granted!).toBeLessThan(10)
    expect(granted).toBe(total!.grants - total!.cancels)
  })

  it('grow no further once they are as old as lru_max_age', () => {
    const c = clusterOf([metadata('a', 'stat', 5)], { mds: MDS.replace('{', "{ version: '2.17.0',") })
    const full = of(at(c, 700, 'mds01'), 't-MDT0000')
    const later = of(at(c, 1100, 'mds01'), 't-MDT0000')
    expect(full.granted!).toBeGreaterThan(2700)
    expect(Math.abs(later.granted! - full.granted!)).toBeLessThan(300)
    expect(later.total!.cancels).toBeGreaterThan(1500)
  })

  it('are given back early when the lock volume of the server is short', () => {
    let now = 0
    const locks = new InodeLocks(() => now, profileOf(parseVersion('2.15.8')).text.namespaces)
    const limit = locks.pool.limit
    const slv = 36_000 * limit
    const until = (seconds: number): void => {
      for (; now < seconds * 1e9; now += 1e9) for (let i = 0; i < 3000; i++) locks.done('c', 'open')
    }
    until(800)
    expect([locks.locks, locks.pool.slv]).toEqual([2_400_000, slv])
    // All of it is younger than 3900 s.
    until(2000)
    expect(locks.pool.slv).toBeLessThan(slv / 4)
    expect(locks.locks).toBeLessThan(5_900_000)
  })
})

describe('pools', () => {
  it.each(VERSIONS)('of %s print what running servers print, before the first lock and after it', (version) => {
    const c = clusterOf([writers('a', 1, 4, ', targets: [t-OST0000]')], { oss: `version: '${version}'` })
    c.sim.runUntil(5e9)
    const state = (ost: string): object => {
      const name = `ldlm.namespaces.filter-t-${ost}_UUID.pool.state`
      const { stdout } = c.node('oss01')!.exec(`lctl get_param -n ${name}`)
      const { state, skipped } = parsePoolState(stdout.replace(/^\n/, ''))
      expect(skipped).toEqual([])
      return state!
    }
    const L = 3_276_799
    expect(state('OST0000')).toMatchObject({
      slv: 36_000 * L,
      clv: 0,
      lvf: 100,
      gr: 0,
      cr: 0,
      gs: 0,
      granted: 4,
      limit: L,
      plan: { gsp: 1, gp: 4 + Math.floor((L - 4) / 100) },
    })
    expect(state('OST0001')).toMatchObject({
      slv: 108_000 * (L + 1),
      granted: 0,
      limit: L,
      plan: { gsp: 1, gp: Math.trunc(0.9 * (L + 1)) },
    })
  })

  it('have statistics that add up to what was granted and canceled', () => {
    const c = clusterOf([cached('a', '[1, 2, 3]', 3)])
    c.sim.runUntil(20e9 + 1)
    const { counters } = c.osts[0]!.extents.poolStats
    const of = (name: string): { samples: number; sum: number } => counters.get(name)!
    const { gr, cr } = c.osts[0]!.extents.pool
    expect(of('granted').samples).toBe(20)
    expect(of('grant_rate').sum + gr).toBe(of('grant').samples)
    expect(of('cancel_rate').sum + cr).toBe(of('cancel').samples)
    expect(of('grant').samples - of('cancel').samples).toBe(1)
  })

  it('are recalculated by their own clock, independent of reads', () => {
    const pool = (looks: readonly number[]): unknown[] => {
      const p = new LockPool(0, () => undefined)
      p.grant()
      for (const s of looks) p.advance(s * 1e9)
      const names = ['granted', 'grant_rate', 'slv', 'recalc_timing']
      return [
        p.slv,
        p.plan,
        p.grantRate,
        ...names.map((n) => [n, p.stats.counters.get(n)!.samples, p.stats.counters.get(n)!.sum]),
      ]
    }
    expect(pool([100])).toEqual(pool(Array.from({ length: 1000 }, (_, i) => (i + 1) / 10)))
    expect(new LockPool(0, () => undefined).recalcTime(2.5e9)).toBe(2)
  })

  it('have their statistics cleared by a write, and nothing else', () => {
    const c = clusterOf([writers('a', 1, 2)])
    c.sim.runUntil(3e9)
    const { code } = c.node('oss01')!.exec('lctl set_param ldlm.namespaces.filter-*.pool.stats=0')
    expect(code).toBe(0)
    expect(of(query(c), 't-OST0000')).toMatchObject({ granted: 2, total: { grants: 0, cancels: 0 } })
  })
})

it.each(VERSIONS)('a server of %s answers the whole question without an error', (version) => {
  const c = clusterOf([writers('a', 1, 2)], { oss: `version: '${version}'`, mds: MDS })
  const a = at(c, 2)
  expect(a.namespaces.map((n) => n.target)).toEqual(['t-OST0000', 't-OST0001'])
  expect(a.foreign).toBe(0)
  expect(of(a, 't-OST0000')).toMatchObject({ granted: 2, limit: 3276799, total: { grants: 2 } })
  expect(of(a, 't-OST0000').contentions).toBe(version === '2.17.57' ? 0 : undefined)
  expect(query(c, 'mds01').namespaces.map((n) => n.namespace)).toEqual(['mdt-t-MDT0000_UUID'])
})

it('the same scenario and seed give the same counts, independent of reads', () => {
  const jobs = [cached('a', '[1, 2, 3]', 6), writers('b', 4, 3), metadata('m', '[create, unlink, stat]', 40)]
  const quiet = clusterOf(jobs, { mds: MDS })
  const watched = clusterOf(jobs, { mds: MDS })
  for (let s = 0.1; s < 12; s += 0.7) at(watched, s, s > 6 ? 'mds01' : 'oss01')
  expect([at(watched, 12), query(watched, 'mds01')]).toEqual([at(quiet, 12), query(quiet, 'mds01')])
})
