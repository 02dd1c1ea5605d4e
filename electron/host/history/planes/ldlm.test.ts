/** Lock counters of the past: the part of the live view at the same instant, longer windows, and what was not recorded. */
import { describe, expect, it } from 'vitest'
import { locksFrame as schema } from '#core/api/locks.ts'
import { facts, HOUR_MS, MINUTE_MS, NOW, newFile, openAt } from '#tests/kits/electron/history/samples.ts'
import { demo, emulatedCluster, smallScenario, type Emulated } from '../../../../tests/node/emulated-cluster.ts'
import { lost } from '#tests/kits/electron/answers.ts'
import type { History } from '../../../history/history.ts'
import type { LdlmRecord } from '../../../history/ldlm-table.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import { ldlmPart, type LdlmPart, type LdlmQuery } from '../../views/locks/ldlm.ts'
import { pastLdlm } from './ldlm.ts'
import { pastLocks } from './locks.ts'

const query: LdlmQuery = { windowMs: 60_000, sort: 'waiting', filter: '', offset: 0, limit: 200, selected: '' }
const known = (values: readonly (number | null)[]): number[] => values.filter((v) => v !== null)

const NS = 'filter-t-OST0000_UUID'
const record = (more: Partial<LdlmRecord> = {}): LdlmRecord => ({
  namespace: NS,
  locks: 12,
  unused: 0,
  resources: 9,
  granted: 10,
  grants: 4,
  cancels: 2,
  limit: 1000,
  timeouts: 0,
  contentions: 0,
  ...more,
})
function opened(): History {
  const history = openAt(newFile())
  history.beginSource('LIVE', 'prod', '', NOW)
  return history
}
const partOf = (
  reader: HistoryReader,
  atMs: number,
  more: Partial<LdlmQuery> = {},
  stepMs = 1000,
): LdlmPart | undefined => pastLdlm(reader, { atMs, stepMs }, { ...query, ...more })

describe('lock counters of the past are those of the live view', () => {
  const both = (c: Emulated, atMs: number, more: Partial<LdlmQuery> = {}) => {
    const live = ldlmPart(c.monitor.ldlm, { ...query, ...more }, { atMs })
    const past = partOf(c.history.reader(), atMs, more)
    return { live: { ...live, notices: [] }, past: past && { ...past, notices: [] }, notices: past?.notices }
  }

  it('at each instant, with rows, conditions, sums and charts, also filtered and sorted', async () => {
    const c = emulatedCluster(demo(), { mode: 'observe' })
    await c.run(25)
    for (const s of [3, 10.3, 20, 24]) {
      const { live, past, notices } = both(c, c.source.toUnixMs(s * 1e9))
      expect(live.known).toBe(6)
      expect(past).toEqual(live)
      expect(notices?.map((n) => n.code)).toEqual(['RECORDED_ROWS'])
    }
    const at = c.source.toUnixMs(20e9)
    for (const more of [
      { filter: 'ns:OST', sort: 'name' as const },
      { filter: 'grants>1 -node:oss*', limit: 1, offset: 1 },
      { selected: 'filter-demo-OST0002_UUID', windowMs: 12_000 },
      { filter: 'nothing>1' },
    ]) {
      const { live, past } = both(c, at, more)
      expect(past).toEqual(live)
    }
  })

  it('while a server is silent: its rows are gaps, there are no sums, and the reason is not known', async () => {
    let isAway = false
    const c = emulatedCluster(smallScenario([{ id: 'a', clients: [1, 2] }]), {
      mode: 'observe',
      around: (node) => ({
        ...node,
        exec: async (command) =>
          isAway && node.host === 'oss02' && command.includes('ldlm') ? lost('permission denied') : node.exec(command),
      }),
    })
    await c.run(6)
    isAway = true
    await c.run(20)
    const { live, past } = both(c, c.source.toUnixMs(19e9))
    expect(live.ldlm?.missing).toEqual([{ node: 'oss02', reason: 'permission denied' }])
    expect(past?.ldlm?.missing).toEqual([{ node: 'oss02', reason: 'no reading was recorded at this instant' }])
    expect([past?.held, past?.grants, past?.series]).toEqual([null, null, live.series])
    const { why: liveWhy, missing: _live, ...liveRest } = live.ldlm ?? { why: [], missing: [] }
    const { why: pastWhy, missing: _past, ...pastRest } = past?.ldlm ?? { why: [], missing: [] }
    expect(pastRest).toEqual(liveRest)
    expect([liveWhy, pastWhy].map((w) => w.filter((text) => text !== '' && !/no grants/.test(text)))).toEqual([
      ['permission denied'],
      ['no reading was recorded at this instant'],
    ])
  })
})

describe('a longer window', () => {
  /** Two servers, a reading every second. */
  function hours(n: number, isSilent = (_node: string, _s: number): boolean => false): HistoryReader {
    const history = opened()
    for (let s = 0; s < n * 3600; s++) {
      for (const [i, node] of ['oss01', 'oss02'].entries()) {
        if (isSilent(node, s)) continue
        const grants = Math.floor(s / 600) * (i + 1)
        history.recordLdlm(NOW + s * 1000, node, [
          record({ namespace: `filter-t-OST000${i}_UUID`, grants }),
          record({ namespace: '', granted: 7, locks: null }),
        ])
      }
      if (s % 60 === 0) history.record(NOW + s * 1000, [], [], facts)
    }
    history.flush()
    return history.reader()
  }

  it('is drawn from means, up to the instant and not beyond', () => {
    const reader = hours(2)
    const at = NOW + 2 * HOUR_MS - 20 * MINUTE_MS
    const part = partOf(reader, at, { windowMs: HOUR_MS })
    expect(part).toMatchObject({ known: 2, held: 20, grants: 9 * 3 + 3, cancels: 4 })
    const { t, grants, held } = part?.series ?? { t: [], grants: [], held: [] }
    expect(t.length).toBeGreaterThan(250)
    expect(t.length).toBeLessThanOrEqual(300)
    expect([t.at(0), t.at(-1)].map((v) => Math.round(((v ?? 0) - NOW) / MINUTE_MS))).toEqual([40, 100])
    expect(Math.max(...t)).toBeLessThanOrEqual(at)
    expect(new Set(held)).toEqual(new Set([20]))
    const rateAt = (atMs: number): number => 3 * Math.floor((atMs - NOW) / (10 * MINUTE_MS))
    t.forEach((end, i) => {
      expect(grants[i]).toBeGreaterThanOrEqual(rateAt(end - 13_000))
      expect(grants[i]).toBeLessThanOrEqual(rateAt(end))
    })
    expect(part?.ldlm?.series.grantRate.at(-1)).toBe(known(grants).at(-1)! * (2 / 3))
    expect(part?.manager).toContain('14 locks granted on 2 servers')
    expect(part?.ldlm?.spark.every((s) => known(s).length > 30)).toBe(true)
    // The same as when it was read first, after other instants were.
    expect(partOf(reader, at - 30 * MINUTE_MS, { windowMs: HOUR_MS })?.grants).toBe(21)
    expect(partOf(reader, at, { windowMs: HOUR_MS })).toEqual(part)
  })

  it('has a gap where no server was read, and knows a server that fell silent in it', () => {
    const part = partOf(
      hours(2, (node, s) => (s >= 3000 && s < 3600) || (node === 'oss02' && s >= 5000)),
      NOW + 7000 * 1000,
      { windowMs: 2 * HOUR_MS },
    )
    expect(part?.ldlm?.missing.map((m) => m.node)).toEqual(['oss02'])
    expect([part?.held, part?.known]).toEqual([null, 1])
    const { t, held } = part?.series ?? { t: [], held: [] }
    const of = (fromS: number, toS: number): (number | null)[] =>
      held.filter((_, i) => (t[i] ?? 0) > NOW + fromS * 1000 && (t[i] ?? 0) <= NOW + toS * 1000)
    expect([new Set(of(100, 2900)), new Set(of(3700, 4900))]).toEqual([new Set([20]), new Set([20])])
    expect([new Set(of(3060, 3590)), new Set(of(5060, 6900))]).toEqual([new Set([null]), new Set([null])])
    expect(of(3060, 3590).length).toBeGreaterThan(10)
  })

  it('without a reading near the instant has no counters, and says so; without any there is no part', () => {
    const reader = hours(0.5)
    const part = partOf(reader, NOW + 40 * MINUTE_MS, { windowMs: HOUR_MS })
    expect(part).toMatchObject({ known: 0, held: null, notices: [{ code: 'NOT_RECORDED' }] })
    expect(part?.ldlm?.missing.map((m) => m.node)).toEqual(['oss01', 'oss02'])
    expect(partOf(reader, NOW + 40 * MINUTE_MS)).toBeUndefined()
    expect(partOf(reader, NOW - MINUTE_MS)).toBeUndefined()
    // Samples of a minute: the newest reading may be as old as one and a half.
    expect(partOf(reader, NOW + 31 * MINUTE_MS, {}, 60_000)).toMatchObject({
      known: 2,
      notices: [{ what: 'Lock counters recorded 61 s earlier' }],
    })
  })
})

describe('a frame of the past', () => {
  const locks = (reader: HistoryReader, atMs: number, plane: 'ldlm' | 'seqdlm' | null = null) =>
    pastLocks(reader, { seq: 1, sample: 5, atMs, stepMs: 1000 }, { ...query, plane, at: 5, moment: null, spanMs: null })

  it('of a live Lustre cluster shows its counters; new readings are added', () => {
    const history = opened()
    for (let s = 0; s < 20; s++) history.recordLdlm(NOW + s * 1000, 'oss01', [record({ granted: s })])
    history.record(NOW + 20_000, [], [], facts)
    const frame = locks(history.reader(), NOW + 19_000)
    expect(schema.parse(frame)).toEqual(frame)
    expect(frame).toMatchObject({ planes: ['ldlm'], plane: 'ldlm', held: 19, ldlm: { target: ['t-OST0000'] } })
    expect(locks(history.reader(), NOW + 19_000, 'seqdlm').plane).toBe('ldlm')
    const reader = history.reader()
    expect(locks(reader, NOW + 20_000).held).toBe(19)
    for (let s = 20; s < 23; s++) history.recordLdlm(NOW + s * 1000, 'oss01', [record({ granted: s })])
    history.record(NOW + 23_000, [], [], facts)
    history.flush()
    expect(locks(reader, NOW + 22_000).held).toBe(22)
    expect(locks(reader, NOW + 10_500).held).toBe(10)
    history.close()
  })

  it('names timeouts of the last minute and a full pool, as live', () => {
    const history = opened()
    for (let s = 0; s < 90; s++) {
      history.recordLdlm(NOW + s * 1000, 'oss01', [
        record({ timeouts: s < 20 ? 0 : 3 }),
        record({ namespace: 'filter-t-OST0001_UUID', granted: 950 }),
      ])
    }
    history.record(NOW + 90_000, [], [], facts)
    const reader = history.reader()
    const whyAt = (s: number) => locks(reader, NOW + s * 1000).ldlm?.why.toSorted()
    expect(whyAt(60)).toEqual([
      '3 callbacks were not answered in time in the last minute: clients are evicted',
      "95 % of the pool's limit is granted: clients must release locks",
    ])
    expect(whyAt(89)?.[0]).toBe('')
    history.close()
  })

  it('of hostile names is a frame, with every name as text', () => {
    const history = opened()
    const namespace = `filter-<img src=x>${'\u001b[2J'.repeat(500)}_UUID`
    for (let s = 0; s < 3; s++) {
      const many = Array.from({ length: 700 }, (_, i) => record({ namespace: `${i}`, grants: 1e300 }))
      history.recordLdlm(NOW + s * 1000, '__proto__', [record({ namespace }), ...many])
    }
    history.record(NOW + 3000, [], [], facts)
    const frame = locks(history.reader(), NOW + 2000)
    expect(schema.parse(frame)).toEqual(frame)
    expect(frame.known).toBe(600)
    expect(frame.manager).toContain('101 more namespaces than can be shown')
    expect(Math.max(...(frame.ldlm?.namespace ?? []).map((n) => n.length))).toBeLessThanOrEqual(256)
    history.close()
  })
})
