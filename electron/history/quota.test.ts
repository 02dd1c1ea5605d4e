import { expect, it } from 'vitest'
import { Audit, firstBrokenRecord } from '../base/audit.ts'
import { History } from './history.ts'
import { HistoryStore } from './store.ts'
import { facts, HOUR_MS, job, newFile, NOW, openAt, target } from '#tests/kits/electron/history/samples.ts'

const MIB = 2 ** 20

it('a file over its quota loses its oldest samples of the finest tier, which is on record; the coarser ones stay', () => {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'c', '', NOW)
  expect(history.setQuota(1000)).toMatchObject({ ok: false, error: { code: 'QUOTA_OUT_OF_RANGE' } })
  expect(history.setQuota(24 * MIB).ok).toBe(true)
  const jobs = Array.from({ length: 10_000 }, (_, i) => job(`${i}.solve.u1`, i))
  for (let i = 0; i < 70; i++) history.record(NOW + i * 4000, jobs, [target('t', 1)], facts)
  expect(history.usage().bytes).toBeGreaterThan(24 * MIB)
  history.settle()
  const { bytes, quotaBytes, tiers } = history.usage()
  expect(quotaBytes).toBe(24 * MIB)
  expect(bytes).toBeLessThanOrEqual(24 * MIB)
  const [gone] = history.evictions()
  expect(history.evictions()).toHaveLength(1)
  expect(gone).toMatchObject({ tier: 'raw', reason: 'quota', fromMs: NOW })
  expect(gone?.samples).toBe((((gone?.toMs ?? 0) - NOW) / 4000) * 10_002 + 10_002)
  expect(tiers[0]?.oldestMs).toBe((gone?.toMs ?? 0) + 4000)
  const reader = history.reader()
  expect(reader.extentOf('1s')?.fromMs).toBe(NOW)
  expect(reader.instants('10s', 0, Infinity)).toHaveLength(27)
  history.close()
})

it.each(['EMULATED', 'LIVE'] as const)(
  'above the quota, what controllers leave of a cluster (%s) goes with the raw samples of its time; events and what still stands stay',
  (kind) => {
    const history = openAt(newFile())
    history.beginSource(kind, 'c', '', NOW)
    expect(history.setQuota(16 * MIB).ok).toBe(true)
    const allocations = Array.from({ length: 2000 }, (_, i) => ({ jobId: `${i}.solve.u1`, tokens: i, record: -i }))
    const decision = { target: 't', budget: 9, allocations } as unknown as Parameters<History['recordDecision']>[3]
    const rule = (rate: number, name: string) => ({ queue: 'all', cpt: 0, name, conditions: 'jobid={a}', rate })
    const audit = new Audit((r) => history.recordAudit(r), history.lastAudit())
    const SECONDS = 900
    history.recordEvent({ atMs: NOW, kind: 'note', level: 'ok', subject: '', text: 'kept', where: '' })
    for (let s = 0; s < SECONDS; s++) {
      const at = NOW + s * 1000
      history.record(at, [job('1.a.u1', 1)], [target('t', 1)], facts)
      history.recordDecision(at, 'adaptbf', 'oss1', decision)
      audit.write(at, 'oss1', 'intent', 'lctl')
      history.recordRules(at, 'oss1', [rule(5, 'stands'), rule(s + 1, 'sl_1')] as never)
      history.recordMoves(
        [{ atMs: at, target: 't', node: 'oss1', lender: 'a', borrower: 'b', kind: 'lend', tokens: 1 }],
        facts,
      )
    }
    history.flush()
    expect(history.usage().bytes).toBeGreaterThan(16 * MIB)
    history.settle()
    expect(history.usage().bytes).toBeLessThanOrEqual(16 * MIB)
    const oldest = (table: string, column = 'at_ms'): number =>
      Number(history.connection().prepare(`SELECT min(${column}) FROM ${table}`).pluck().get())
    const raw = history.reader().extentOf('raw')?.fromMs ?? 0
    expect(raw).toBeGreaterThan(NOW)
    expect(raw).toBeLessThanOrEqual(NOW + (SECONDS - 60) * 1000)
    for (const table of ['decision', 'adaptbf_moves']) {
      expect(oldest(table)).toBeGreaterThan(NOW)
      expect(oldest(table)).toBeLessThanOrEqual(raw + 10_000)
    }
    // The rules and the audit of a live cluster are never evicted.
    const [first] = history.audit(0, 1)
    if (kind === 'LIVE') expect(first?.atMs).toBe(NOW)
    else expect(raw - (first?.atMs ?? 0)).toBeLessThanOrEqual(20_000)
    expect(firstBrokenRecord(history.audit(0, 1e6), history.auditAnchor())).toBeUndefined()
    expect(history.audit(0, 1e6).at(-1)?.atMs).toBe(NOW + (SECONDS - 1) * 1000)
    expect(oldest("rule WHERE name = 'sl_1'", 'to_ms')).toBe(kind === 'LIVE' ? NOW + 1000 : oldest('decision'))
    expect(history.connection().prepare("SELECT to_ms FROM rule WHERE name = 'stands'").pluck().all()).toEqual([null])
    expect(history.count('event')).toBe(1)
    history.close()
  },
)

it('what is chosen stays chosen; a coarser tier is never kept for less than a finer one', () => {
  const file = newFile()
  const history = openAt(file)
  expect(history.setKeep('raw', 2 * HOUR_MS).ok).toBe(true)
  expect(history.setKeep('raw', 1000)).toMatchObject({ ok: false, error: { code: 'KEEP_OUT_OF_RANGE' } })
  expect(history.setKeep('1s', HOUR_MS)).toMatchObject({ ok: false, error: { code: 'KEEP_OUT_OF_RANGE' } })
  expect(history.setQuota(100 * MIB).ok).toBe(true)
  history.close()
  const again = openAt(file)
  expect(again.usage()).toMatchObject({ quotaBytes: 100 * MIB })
  expect(again.usage().tiers[0]?.keepMs).toBe(2 * HOUR_MS)
  again.close()
})

it('a full disk takes raw samples before their time, says so, and what comes is written', () => {
  const opened = HistoryStore.open(newFile(), NOW)
  if (!opened.ok) throw new Error(opened.error.what)
  const store = opened.value
  const history = History.on(store)
  history.beginSource('EMULATED', 'c', '', NOW)
  store.db.pragma('max_page_count = 6000')
  const jobs = Array.from({ length: 3000 }, (_, i) => job(`${i}.solve.u1`, i))
  for (let i = 0; i < 400; i++) history.record(NOW + i * 200, jobs, [target('t', 1)], facts)
  history.flush()
  expect(history.isOnDisk).toBe(true)
  const reader = history.reader()
  expect(reader.extentOf('raw')?.toMs).toBe(NOW + 399 * 200)
  expect(reader.extentOf('raw')?.fromMs).toBeGreaterThan(NOW)
  expect(history.evictions().map((e) => [e.tier, e.reason])).toEqual([['raw', 'disk']])
  expect(store.db.pragma('integrity_check', { simple: true })).toBe('ok')
  history.close()
})

it('a full disk on which nothing may go keeps what comes waiting, whole, until it takes it', () => {
  const opened = HistoryStore.open(newFile(), NOW)
  if (!opened.ok) throw new Error(opened.error.what)
  const store = opened.value
  const history = History.on(store)
  history.beginSource('EMULATED', 'c', '', NOW)
  const pages = Number(store.db.pragma('page_count', { simple: true }))
  store.db.pragma(`max_page_count = ${pages + 2}`)
  const jobs = Array.from({ length: 2000 }, (_, i) => job(`${i}.solve.u1`, i))
  expect(() => history.record(NOW, jobs, [target('t', 1)], facts)).toThrow(/full/)
  expect(history.isOnDisk).toBe(false)
  store.db.pragma('max_page_count = 100000')
  history.record(NOW + 1000, jobs, [target('t', 2)], facts)
  expect(history.isOnDisk).toBe(true)
  expect(history.count('job')).toBe(2000)
  expect(history.jobSeries('1999.solve.u1', 0, 0, Infinity).map((r) => r.rpcs)).toEqual([1999, 1999])
  expect(history.targetSeries('t', 0, 0, Infinity).map((r) => r.rpcs)).toEqual([1, 2])
  history.close()
})
