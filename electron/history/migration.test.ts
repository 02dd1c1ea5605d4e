import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { findDamage } from './open.ts'
import { windowOf } from './schema-4.ts'
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from './schema.ts'
import { HOUR_MS, newFile, NOW, openAt } from '#tests/kits/electron/history/samples.ts'

/** A file of version 3 with two starts of one cluster and another cluster, and something in every table. */
function version3(): string {
  const file = newFile()
  const db = new Database(file)
  for (const step of MIGRATIONS.slice(0, 3)) db.exec(step)
  db.pragma('user_version = 3')
  db.pragma(`application_id = ${APPLICATION_ID}`)
  db.exec(`
    INSERT INTO source VALUES (1, 'LIVE', 'prod', '', ${NOW - HOUR_MS}), (2, 'EMULATED', 'prod', '', ${NOW - HOUR_MS}), (3, 'LIVE', 'prod', '', ${NOW});
    INSERT INTO job VALUES (1, 1, '7.cfd.u1', '', '', NULL, 10), (2, 2, '7.cfd.u1', 'eve', 'x', 1, 10), (3, 3, '7.cfd.u1', 'ana', 'aero', 4, 20),
      (4, 3, '=1+1', 'bob', '', 2, 20);
    INSERT INTO target VALUES (1, 1, 'OST0', 'oss1'), (2, 2, 'OST0', 'emu'), (3, 3, 'OST0', 'oss1'), (4, 3, 'OST1', 'oss2');
    INSERT INTO job_sample VALUES (0, 1, ${NOW - 2000}, 10, 20, 30, 0.5, -3), (0, 3, ${NOW + 100}, 11, 21, 31, 0, 16777217),
      (0, 4, ${NOW + 100}, NULL, NULL, NULL, NULL, NULL), (1, 3, ${NOW}, 11, 21, 31, 0, 5), (0, 2, ${NOW - 2000}, 99, 0, 0, 0, 0);
    INSERT INTO target_sample VALUES (0, 1, ${NOW - 2000}, 10, 4, 1), (0, 3, ${NOW + 100}, 30, 2, 1), (0, 4, ${NOW + 100}, 10, 6, NULL),
      (1, 3, ${NOW}, 30, 2, 1);
    INSERT INTO rule VALUES (1, 1, 'oss1', 'reg', 0, 0, 'r', 'jobid={a}', 5, ${NOW - 2000}, NULL);
    INSERT INTO decision VALUES (3, 4, ${NOW}, 'adaptbf', 100, '[]');
    INSERT INTO event VALUES (1, 3, ${NOW}, 'note', 'ok', 's', 'kept', '');
    INSERT INTO audit VALUES ('LIVE', 1, ${NOW}, 'oss1', 'mode', 't', 'h');
    INSERT INTO adaptbf_moves VALUES (3, ${NOW}, 3, 4, 'lend', 7), (2, ${NOW}, 2, 2, 'lend', 1);
    INSERT INTO adaptbf_state VALUES ('prod', 'OST0', 5, '{}');
    INSERT INTO ldlm_namespace VALUES (1, 3, 'oss1', 'ns');
    INSERT INTO ldlm_sample VALUES (1, ${NOW}, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  `)
  db.close()
  return file
}

it('a file of version 3 becomes one of this version with everything in it; jobs and targets are those of a cluster', () => {
  const file = version3()
  const history = openAt(file, NOW + 1000)
  expect(history.notice).toBeUndefined()
  history.beginSource('LIVE', 'prod', '', NOW + 1000)
  expect(SCHEMA_VERSION).toBe(6)
  const reader = history.reader()
  expect(reader.jobByName('7.cfd.u1')).toMatchObject({
    user: 'ana',
    account: 'aero',
    nodes: 4,
    exe: 'cfd',
    firstMs: 10,
  })
  expect(history.jobSeries('7.cfd.u1', 0, 0, Infinity)).toEqual([
    { atMs: NOW - 2000, rpcs: 10, record: -3 },
    { atMs: NOW + 100, rpcs: 11, record: 16_777_217 },
  ])
  expect(history.jobSeries('=1+1', 0, 0, Infinity)).toEqual([{ atMs: NOW + 100, rpcs: null, record: null }])
  expect(history.targetSeries('OST0', 0, 0, Infinity).map((r) => r.rpcs)).toEqual([10, 30])
  expect(history.targetSeries('OST1', 0, 0, Infinity)).toEqual([
    { atMs: NOW + 100, rpcs: 10, serviceMs: 6, queued: null },
  ])
  const sums = reader.clusterBetween('raw', NOW + 100, NOW + 100)
  // 40 RPC/s, of which a job's bytes are not known; 30 at 2 ms and 10 at 6 ms are 3 ms.
  expect([0, 1, 3].map((c) => sums.columns[c]?.[0])).toEqual([40, NaN, 3])
  expect(reader.rulesAt(NOW - 1000).map((r) => r.name)).toEqual(['r'])
  // Ended with the last sample of the source that saw it.
  expect(reader.rulesAt(NOW + 5000)).toEqual([])
  expect(reader.events(0, Infinity, 9).map((e) => e.text)).toEqual(['kept'])
  expect(history.moves({ fromMs: 0, toMs: Infinity, limit: 9 }).map((m) => [m.lender, m.borrower, m.tokens])).toEqual([
    ['7.cfd.u1', '=1+1', 7],
  ])
  expect(history.reader().ldlmBetween(0, Infinity)).toMatchObject([{ namespace: 'ns', contentions: 9 }])
  expect((['decision', 'audit', 'adaptbf_state', 'job'] as const).map((t) => history.count(t))).toEqual([1, 1, 1, 3])
  // Recording continues: the second that was carried over is in the coarser tiers.
  history.record(NOW + 120_000, [], [], facts0)
  history.settle()
  expect(history.jobSeries('7.cfd.u1', 2, 0, Infinity).at(-1)).toMatchObject({ atMs: NOW, record: 5 })
  expect(history.jobSeries('7.cfd.u1', 3, 0, Infinity)).toHaveLength(1)
  history.close()
  const db = new Database(file)
  expect(db.pragma('foreign_key_check')).toEqual([])
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  db.close()
})

const facts0 = (jobId: string) => ({ jobId, user: '', account: '', nodes: null })

it('a large file of version 3 is looked through although it has no blocks yet', () => {
  const db = new Database(version3())
  expect(findDamage(db, 2 ** 30)).toBeUndefined()
  db.close()
})

it('what is held of an old file at once is bounded however many jobs were sampled, and no window is empty', () => {
  const rows = (series: number, tier: number): number =>
    (windowOf(series, tier) / 1000) * series * (tier === 0 ? 10 : 1)
  for (const series of [1, 200, 10_000, 100_000]) {
    for (const tier of [0, 1]) {
      expect(windowOf(series, tier)).toBeGreaterThanOrEqual(1000)
      expect(rows(series, tier)).toBeLessThanOrEqual(Math.max(200_000, series * (tier === 0 ? 10 : 1)))
    }
  }
})

it('samples that lie further apart than one window are all carried over', () => {
  const file = version3()
  const db = new Database(file)
  const insert = db.prepare('INSERT INTO job_sample VALUES (0, 4, ?, 1, 1, 1, 0, NULL)')
  const at = Array.from({ length: 9 }, (_, i) => NOW + 1000 + i * 299_999)
  for (const ms of at) insert.run(ms)
  db.close()
  const history = openAt(file, NOW + HOUR_MS)
  history.beginSource('LIVE', 'prod', '', NOW + HOUR_MS)
  expect(history.jobSeries('=1+1', 0, NOW + 1000, Infinity).map((r) => r.atMs)).toEqual(at)
  history.close()
})
