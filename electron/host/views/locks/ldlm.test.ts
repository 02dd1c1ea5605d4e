import { createRouterClient } from '@orpc/server'
import { afterEach, describe, expect, it } from 'vitest'
import { locksFrame as schema } from '#core/api/locks.ts'
import {
  demo,
  emulatedCluster,
  smallScenario,
  type Emulated,
  type Setup,
} from '../../../../tests/node/emulated-cluster.ts'
import { LdlmSeries, type LdlmReading } from '../../../cluster/locks/ldlm-series.ts'
import { openHost, type Host } from '../../host.ts'
import { hasLdlm, ldlmPart, type LdlmPart, type LdlmQuery, conditionOf } from './ldlm.ts'
import { locksFrame } from './locks.ts'
import { resolvePosition } from '../../position.ts'
import { lost } from '#tests/kits/electron/answers.ts'

const hosts: Host[] = []
afterEach(async () => {
  for (const h of hosts.splice(0)) await h.close()
})

const query: LdlmQuery = { windowMs: 60_000, sort: 'waiting', filter: '', offset: 0, limit: 200, selected: '' }
const partOf = (c: Pick<Emulated, 'monitor'>, more: Partial<LdlmQuery> = {}, at: number | null = null): LdlmPart =>
  ldlmPart(c.monitor.ldlm, { ...query, ...more }, resolvePosition(c.monitor, at))

describe('the lock counters of the console that opens on first start', () => {
  it('are a frame of the contract: namespaces by what comes and goes, their sums, and the past of one', async () => {
    const opened = await openHost({
      shell: 'terminal',
      historyFile: ':memory:',
      paced: false,
      epochSeconds: 1_767_225_600,
    })
    if (!opened.ok) throw new Error(opened.error.what)
    const host = opened.value
    hosts.push(host)
    expect(hasLdlm(host.monitor)).toBe(true)
    await host.source.runTo(20e9, (atNs) => host.monitor.tick(atNs))
    const range = { moment: null, spanMs: 100, at: null }
    const frame = locksFrame(host.monitor, { ...query, ...range, plane: 'ldlm' }, 1)
    expect(schema.parse(frame)).toEqual(frame)
    expect(frame.planes).toContain('ldlm')
    expect(frame.plane).toBe('ldlm')
    const ldlm = frame.ldlm!
    expect(ldlm.namespace.toSorted()).toEqual([
      ...[0, 1, 2, 3].map((n) => `filter-demo-OST000${n}_UUID`),
      ...[0, 1].map((n) => `mdt-demo-MDT000${n}_UUID`),
    ])
    expect(ldlm.node.toSorted()).toEqual(['mds01', 'mds01', 'oss01', 'oss01', 'oss02', 'oss02'])
    // Metadata locks come and go; data writers keep theirs.
    const moves = ldlm.grantRate.map((g, i) => (g ?? 0) + (ldlm.cancelRate[i] ?? 0))
    expect(moves).toEqual(moves.toSorted((a, b) => b - a))
    expect(ldlm.namespace[0]).toMatch(/^mdt-/)
    expect(moves[0]).toBeGreaterThan(50)
    expect(frame.held).toBe(ldlm.granted.reduce((n: number, v) => n + (v ?? 0), 0))
    expect(frame.grants).toBeCloseTo(
      ldlm.grantRate.reduce((n: number, v) => n + (v ?? 0), 0),
      3,
    )
    expect(frame.series.held).toHaveLength(20)
    expect(frame.series.t).toHaveLength(20)
    expect(ldlm.selected).toBe(ldlm.namespace[0])
    expect(ldlm.series.t).toHaveLength(20)
    expect(ldlm.series.grantRate[0]).toBeNull()
    expect(ldlm.level.every((l) => l === 'ok' || l === 'idle')).toBe(true)
    expect(ldlm.missing).toEqual([])
    expect(frame.manager).toContain('modes, queues and holders of locks are not exported')
    expect(frame.manager).toMatch(/locks granted on 3 servers/)
  })

  it('are read from the history at a sample that is older than memory', async () => {
    const opened = await openHost({
      shell: 'terminal',
      historyFile: ':memory:',
      paced: false,
      epochSeconds: 1_767_225_600,
    })
    if (!opened.ok) throw new Error(opened.error.what)
    const host = opened.value
    hosts.push(host)
    await host.source.runTo(12e9, (atNs) => host.monitor.tick(atNs))
    const client = createRouterClient(host.router, { context: { peer: 'test' } })
    let streams = 0
    const frame = async (at: number | null) => {
      const stream = await client.views.locks({ stream: `l${++streams}`, at, plane: 'ldlm', windowMs: 10_000 })
      for await (const f of stream) return f
      throw new Error('no frame')
    }
    const at = host.monitor.sample - 50
    const then = await frame(at)
    expect(then.known).toBe(6)
    const { series } = host.monitor.ldlm
    for (let i = 1; i <= 3600; i++) series.push(host.source.toUnixMs(12e9) + i)
    const live = locksFrame(host.monitor, { ...query, moment: null, spanMs: null, at, plane: 'ldlm' }, 1)
    expect(live).toMatchObject({ known: 0, notices: [{ code: 'LOCKS_FORGOTTEN' }] })
    const past = await frame(at)
    expect(past.notices.map((n) => n.code)).toEqual(['RECORDED_ROWS'])
    expect({ ...past, notices: [], convoys: [], seq: 0 }).toEqual({ ...then, notices: [], convoys: [], seq: 0 })
  })

  it('stand still at a sample that is looked back to', async () => {
    const c = emulatedCluster(demo(), { mode: 'observe' })
    await c.run(8)
    const at = c.monitor.sample
    const then = partOf(c)
    await c.run(14)
    expect(partOf(c, {}, at)).toEqual(then)
    expect(partOf(c).held).not.toBe(then.held)
  })

  it('have at most 300 points and sort, filter and page as asked', async () => {
    const c = emulatedCluster(demo(), { mode: 'observe' })
    await c.run(4)
    for (let i = 0; i < 1000; i++) c.monitor.ldlm.series.push(c.source.toUnixMs(4e9) - 1000 + i / 10)
    await c.run(6)
    const all = partOf(c, { windowMs: 3_600_000 })
    expect(all.series.t.length).toBeLessThanOrEqual(300)
    expect(all.ldlm!.series.t.length).toBeLessThanOrEqual(300)
    expect(all.ldlm!.series.locks).toContain(null)
    const named = partOf(c, { sort: 'name', offset: 1, limit: 2 })
    expect(named).toMatchObject({ known: 6, shown: 6, offset: 1 })
    expect(named.ldlm!.target).toEqual(['demo-OST0001', 'demo-OST0002'])
    expect(partOf(c, { filter: 'ns:OST' }).shown).toBe(4)
    expect(partOf(c, { filter: 'oss02' }).shown).toBe(2)
    expect(partOf(c, { filter: 'grants>1 -node:oss*' }).ldlm!.node).toEqual(['mds01', 'mds01'])
    expect(partOf(c, { filter: 'constructor>1' })).toMatchObject({ shown: 6, filterError: { column: 1 } })
    expect(partOf(c, { selected: 'filter-demo-OST0002_UUID' }).ldlm!.selected).toBe('filter-demo-OST0002_UUID')
    expect(partOf(c, { selected: 'gone' }).ldlm!.selected).toMatch(/^mdt-/)
  })
})

describe('a server that falls silent', () => {
  const setup = (away: () => boolean): Setup => ({
    mode: 'observe',
    around: (node) => ({
      ...node,
      exec: async (command) => {
        if (node.host === 'oss02' && away() && command.includes('ldlm')) return lost('permission denied')
        return node.exec(command)
      },
    }),
  })

  it('keeps its rows as gaps with the reason, there are no sums, and the past is as it was', async () => {
    let isAway = false
    const c = emulatedCluster(
      smallScenario([{ id: 'a', clients: [1, 2] }]),
      setup(() => isAway),
    )
    await c.run(5)
    const before = c.monitor.sample
    const then = partOf(c)
    isAway = true
    await c.run(6.2)
    expect([partOf(c).held, partOf(c).ldlm!.missing.length]).toEqual([null, 1])
    await c.run(12)
    const now = partOf(c)
    expect(now.ldlm!.missing).toEqual([{ node: 'oss02', reason: 'permission denied' }])
    const i = now.ldlm!.node.indexOf('oss02')
    expect(now.ldlm!.granted[i]).toBeNull()
    expect([now.ldlm!.level[i], now.ldlm!.why[i]]).toEqual(['unknown', 'permission denied'])
    expect(now.ldlm!.granted[1 - i]).toBe(then.ldlm!.granted[then.ldlm!.node.indexOf('oss01')])
    expect([now.held, now.grants]).toEqual([null, null])
    expect(now.series.held.slice(0, 5).every((v) => v !== null)).toBe(true)
    expect(now.series.held.slice(-5)).toEqual([null, null, null, null, null])
    expect(partOf(c, {}, before)).toEqual(then)
    isAway = false
    await c.run(16)
    expect(partOf(c).ldlm!.missing).toEqual([])
    expect(partOf(c).held).toBe(then.held)
  })

  it('from the start is missing and nothing else: the others have their sums', async () => {
    const c = emulatedCluster(
      smallScenario([{ id: 'a' }]),
      setup(() => true),
    )
    await c.run(4)
    const { ldlm, held } = partOf(c)
    expect(ldlm).toMatchObject({ node: ['oss01'], missing: [{ node: 'oss02', reason: 'permission denied' }] })
    expect(held).toBe(8)
  })

  it('before the first sample there is a frame with nothing in it', () => {
    const c = emulatedCluster(smallScenario([{ id: 'a' }]))
    expect(partOf(c)).toMatchObject({ known: 0, held: null, ldlm: { namespace: [], missing: [] } })
  })
})

describe('what is said of a namespace', () => {
  const KEY = 'oss01\u0000ns'
  type Second = Partial<Pick<LdlmReading, 'granted' | 'limit' | 'timeouts' | 'contentions'>> & {
    readonly grants?: number
    readonly cancels?: number
  }
  /** One reading a second; null is a gap. */
  function after(seconds: readonly (Second | null)[]): ReturnType<typeof conditionOf> {
    const series = new LdlmSeries()
    seconds.forEach((s, i) => {
      series.push(i * 1000)
      if (!s) return
      const { grants = 10, cancels = 10, granted = 100, limit = 1000, timeouts = 0, contentions } = s
      const rates = { grantRate: grants, cancelRate: cancels }
      const none = { unused: 0, resources: 1, contendedLocks: 16, grantRate: 0, cancelRate: 0, total: undefined }
      const reading = {
        namespace: 'ns',
        target: 't',
        locks: granted,
        granted,
        limit,
        timeouts,
        contentions,
        rates,
        ...none,
      }
      series.set('oss01', [reading], granted)
    })
    return conditionOf(series, KEY, series.table.newest)
  }
  const quiet = (n: number, s: Second = {}): Second[] => Array.from({ length: n }, () => s)

  it.each<[string, readonly (Second | null)[], string, string]>([
    ['nothing moves', quiet(9, { grants: 0, cancels: 0 }), 'idle', 'no grants or cancels'],
    ['all is well', quiet(9), 'ok', ''],
    ['the pool is three quarters full', [{ granted: 750 }], 'watch', "75 % of the pool's limit is granted"],
    ['the pool is almost full', [{ granted: 950 }], 'bad', "95 % of the pool's limit"],
    ['a callback timed out', [...quiet(5), { timeouts: 1 }], 'bad', '1 callback was not answered in time'],
    ['callbacks timed out', [{ timeouts: 2 }, null, { timeouts: 5 }, { timeouts: 6 }], 'bad', '4 callbacks were not'],
    ['callbacks timed out long ago', [{ timeouts: 2 }, ...quiet(70, { timeouts: 9 })], 'ok', ''],
    ['the server was restarted', [{ timeouts: 9 }, { timeouts: 0 }], 'ok', ''],
    ['resources are contended', [{ contentions: 1 }, { contentions: 8 }], 'watch', 'contended 7 ×'],
    ['cancels rise far', [...quiet(60), ...quiet(5, { cancels: 90 })], 'watch', '90 cancels/s, usually 10'],
    ['cancels rise a little', [...quiet(60), ...quiet(5, { cancels: 35 })], 'ok', ''],
    ['cancels are few', [...quiet(60, { cancels: 1 }), ...quiet(5, { cancels: 15 })], 'ok', ''],
    ['it has just begun', quiet(6, { cancels: 500 }), 'ok', ''],
  ])('when %s', (_, seconds, level, why) => {
    const c = after(seconds)
    expect(c.level).toBe(level)
    expect(c.why).toContain(why)
  })
})
