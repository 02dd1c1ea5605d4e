import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { History } from './history.ts'
import type { LdlmRecord, LdlmSample } from './ldlm-table.ts'
import type { JobFacts } from './records.ts'
import { MIGRATIONS, SCHEMA_VERSION } from './schema.ts'

const NOW = Date.UTC(2026, 0, 2)
const HOUR = 3_600_000
const NS = 'filter-t-OST0000_UUID'
const facts = (jobId: string): JobFacts => ({ jobId, user: '', account: '', nodes: null })
const record = (more: Partial<LdlmRecord> = {}): LdlmRecord => ({
  namespace: NS,
  locks: 12,
  unused: 0,
  resources: 9,
  granted: 11,
  grants: 4.5,
  cancels: 0.25,
  limit: 3_276_799,
  timeouts: 0,
  contentions: null,
  ...more,
})

let file: string
function open(): History {
  const opened = History.open(file, NOW)
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  expect(opened.value.notice).toBeUndefined()
  return opened.value
}
/** Readings of one namespace of the current cluster. */
const readingsOf = (history: History, namespace: string, fromMs = 0, toMs = Infinity): LdlmSample[] =>
  history
    .reader()
    .ldlmBetween(fromMs, toMs)
    .filter((s) => s.namespace === namespace)

beforeEach(() => (file = join(tempFolder(), 'history.sqlite')))

describe('lock counters in the history', () => {
  it('are read back after the file was closed and opened again, gaps as null', () => {
    const before = open()
    before.beginSource('LIVE', 'prod', '', NOW)
    before.recordLdlm(NOW, 'oss01', [record(), record({ namespace: '', granted: 11, locks: null })])
    before.recordLdlm(NOW + 1000.4, 'oss01', [record({ granted: 14, grants: null, cancels: null })])
    before.close()
    const again = open()
    again.beginSource('LIVE', 'prod', '', NOW + 5000)
    again.recordLdlm(NOW + 5000, 'oss02', [record({ granted: 20, contentions: 3 })])
    expect(readingsOf(again, NS, NOW, NOW + HOUR)).toEqual([
      { ...record(), atMs: NOW, node: 'oss01' },
      { ...record({ granted: 14, grants: null, cancels: null }), atMs: NOW + 1000, node: 'oss01' },
      { ...record({ granted: 20, contentions: 3 }), atMs: NOW + 5000, node: 'oss02' },
    ])
    expect(readingsOf(again, '')).toMatchObject([{ namespace: '', node: 'oss01', granted: 11, locks: null }])
    expect(readingsOf(again, NS, NOW + 1, NOW + 4999)).toHaveLength(1)
    again.close()
  })

  it('of an emulated cluster that begins before the end of another run are its own', () => {
    const history = open()
    history.beginSource('EMULATED', 'demo', '', NOW)
    history.record(NOW, [], [], facts)
    history.record(NOW + 1000, [], [], facts)
    history.recordLdlm(NOW, 'oss01', [record()])
    history.beginSource('EMULATED', 'demo', '', NOW + 1)
    expect(readingsOf(history, NS)).toEqual([])
    history.recordLdlm(NOW + 2, 'oss01', [record({ granted: 3 })])
    expect(readingsOf(history, NS).map((s) => s.granted)).toEqual([3])
    history.close()
  })

  it('are written with the second’s batch, and once when two answers fall into one row', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    history.record(NOW, [], [], facts)
    history.recordLdlm(NOW + 100, 'oss01', [record()])
    history.recordLdlm(NOW + 100, 'oss01', [record({ granted: 5 })])
    expect(history.isOnDisk).toBe(false)
    history.record(NOW + 1100, [], [], facts)
    expect(history.isOnDisk).toBe(true)
    expect(readingsOf(history, NS).map((s) => s.granted)).toEqual([5])
    history.close()
  })

  it('are kept for a day, as means of a second are', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    history.recordLdlm(NOW, 'oss01', [record()])
    history.record(NOW + 23 * HOUR, [], [], facts)
    expect(history.count('ldlm_sample')).toBe(1)
    history.recordLdlm(NOW + 25 * HOUR, 'oss01', [record()])
    history.record(NOW + 25 * HOUR, [], [], facts)
    expect(readingsOf(history, NS).map((s) => s.atMs)).toEqual([NOW + 25 * HOUR])
    history.close()
  })

  it('are read of all namespaces, servers and starts at once, oldest first', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    history.recordLdlm(NOW + 1000, 'oss01', [record(), record({ namespace: 'b', granted: 1 })])
    history.beginSource('LIVE', 'other', '', NOW)
    history.recordLdlm(NOW + 1000, 'oss01', [record({ namespace: 'of another cluster' })])
    history.beginSource('LIVE', 'prod', '', NOW + 5000)
    history.recordLdlm(NOW + 6000, 'oss02', [record({ namespace: 'b', granted: 2 })])
    history.recordLdlm(NOW + 6000, 'oss01', [record()])
    const all = history.reader().ldlmBetween(NOW, NOW + HOUR)
    expect(all.map((s) => [s.atMs - NOW, s.node, s.namespace])).toEqual([
      [1000, 'oss01', 'b'],
      [1000, 'oss01', NS],
      [6000, 'oss01', NS],
      [6000, 'oss02', 'b'],
    ])
    expect(history.reader().ldlmBetween(NOW + 1001, NOW + 5999)).toEqual([])
    history.close()
  })

  it('are read as means of steps: of rates and counts over 12 s, of timeouts the largest; a gap has none', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    for (let s = 0; s < 60; s++) {
      if (s >= 20 && s < 40) continue
      const grants = s === 5 ? null : s
      history.recordLdlm(NOW + s * 1000, 'oss01', [record({ grants, granted: 100 + s, timeouts: s })])
    }
    const means = (stepMs: number, toS = 60) =>
      history
        .reader()
        .ldlmBetween(NOW, NOW + toS * 1000 - 1, stepMs)
        .map((s) => [(s.atMs - NOW) / 1000, s.grants, s.granted, s.timeouts])
    expect(means(10_000)).toEqual([
      [10, 40 / 9, 104.5, 9],
      [20, 14.5, 114.5, 19],
      [50, 44.5, 144.5, 49],
      [60, 54.5, 154.5, 59],
    ])
    expect(means(20_000)).toEqual([
      [20, 61 / 11, 105.5, 11],
      [60, 45.5, 145.5, 51],
    ])
    // Nothing later than the end is in a mean.
    expect(means(10_000, 15).at(-1)).toEqual([20, 12, 112, 14])
    history.close()
  })

  it('of a file of another origin are null where no server can have reported them', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    history.recordLdlm(NOW, 'oss01', [record()])
    history.flush()
    const db = new Database(file)
    db.exec('UPDATE ldlm_sample SET locks = -1, grants = 9e999, cancels = -9e999, pool_limit = 9223372036854775807')
    db.close()
    const [read] = readingsOf(history, NS)
    expect(read).toEqual({
      ...record(),
      locks: null,
      grants: null,
      cancels: null,
      limit: null,
      atMs: NOW,
      node: 'oss01',
    })
    expect(history.reader().ldlmBetween(NOW, NOW + 1000, 1000)).toMatchObject([
      { locks: null, grants: null, limit: null },
    ])
    history.close()
  })

  it('are read up to a limit, of a day in few rows', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    history.flush()
    const db = new Database(file)
    const numbers = 'WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i <'
    db.exec(`INSERT INTO ldlm_namespace ${numbers} 3) SELECT i + 1, (SELECT id FROM source), 'oss01', 'ns' || i FROM n`)
    db.exec(`INSERT INTO ldlm_sample ${numbers} 86399) SELECT id, ${NOW} + i * 1000, 1, 1, 1, 1, 1, 1, 1, 1, 1
      FROM ldlm_namespace CROSS JOIN n`)
    db.close()
    const reader = history.reader()
    const all = reader.ldlmBetween(NOW, NOW + 24 * HOUR)
    expect([all.length, all.at(-1)?.atMs]).toEqual([200_000, NOW + 86_399_000])
    const means = reader.ldlmBetween(NOW, NOW + 24 * HOUR - 1, 288_000)
    expect(means).toHaveLength(4 * 300)
    history.close()
  })

  it('take a namespace and a node of any text as text', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    const namespace = `x'; DROP TABLE ldlm_sample; --\u0000\u001b[2J${'a'.repeat(10_000)}`
    const long = `\u001b[2J${'é'.repeat(10_000)}`
    history.recordLdlm(NOW + 1, 'oss02', [record({ namespace: long })])
    expect(readingsOf(history, long.slice(0, 256))).toMatchObject([{ node: 'oss02' }])
    history.recordLdlm(NOW, "oss'01", [record({ namespace })])
    // The stored text ends for SQLite at its NUL.
    expect(history.reader().ldlmBetween(NOW, NOW)).toMatchObject([
      { namespace: "x'; DROP TABLE ldlm_sample; --", node: "oss'01", granted: 11 },
    ])
    history.close()
  })
})

it('a file of version 2 becomes one of this version with everything in it, and takes lock counters', () => {
  const old = new Database(file)
  for (const step of MIGRATIONS.slice(0, 2)) old.exec(step)
  old.pragma('user_version = 2')
  old.pragma(`application_id = ${0x536c7569}`)
  old.exec("INSERT INTO source VALUES (1, 'LIVE', 'c', '', 0)")
  old.exec("INSERT INTO target VALUES (1, 1, 'OST0', 'oss01')")
  old.exec(`INSERT INTO target_sample VALUES (1, 1, ${NOW}, 5, 1, 0)`)
  old.exec("INSERT INTO adaptbf_state VALUES ('c', 'OST0', 5, '{}')")
  old.close()
  const history = open()
  history.beginSource('LIVE', 'c', '', NOW)
  expect((['target', 'instant', 'adaptbf_state'] as const).map((t) => history.count(t))).toEqual([1, 1, 1])
  expect(history.targetSeries('OST0', 1, 0, Infinity)).toEqual([{ atMs: NOW, rpcs: 5, serviceMs: 1, queued: 0 }])
  history.recordLdlm(NOW, 'oss01', [record()])
  expect(readingsOf(history, NS)).toHaveLength(1)
  history.close()
  const db = new Database(file)
  expect(db.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION)
  expect(SCHEMA_VERSION).toBe(6)
  db.close()
})
