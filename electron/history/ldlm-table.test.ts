import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { History } from './history.ts'
import type { LdlmRecord } from './ldlm-table.ts'
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
    expect(again.ldlmSeries(NS, NOW, NOW + HOUR)).toEqual([
      { ...record(), atMs: NOW, node: 'oss01' },
      { ...record({ granted: 14, grants: null, cancels: null }), atMs: NOW + 1000, node: 'oss01' },
      { ...record({ granted: 20, contentions: 3 }), atMs: NOW + 5000, node: 'oss02' },
    ])
    expect(again.ldlmSeries('', 0, Infinity)).toMatchObject([
      { namespace: '', node: 'oss01', granted: 11, locks: null },
    ])
    expect(again.ldlmSeries(NS, NOW + 1, NOW + 4999)).toHaveLength(1)
    expect(again.ldlmSeries(NS, 0, Infinity, 2)).toHaveLength(2)
    again.close()
  })

  it('of an emulated cluster are those of its own run', () => {
    const history = open()
    history.beginSource('EMULATED', 'demo', '', NOW)
    history.recordLdlm(NOW, 'oss01', [record()])
    history.beginSource('EMULATED', 'demo', '', NOW + 1)
    expect(history.ldlmSeries(NS, 0, Infinity)).toEqual([])
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
    expect(history.ldlmSeries(NS, 0, Infinity).map((s) => s.granted)).toEqual([5])
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
    expect(history.ldlmSeries(NS, 0, Infinity).map((s) => s.atMs)).toEqual([NOW + 25 * HOUR])
    history.close()
  })

  it('take a namespace and a node of any text as text', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    const namespace = `x'; DROP TABLE ldlm_sample; --\u0000\u001b[2J${'a'.repeat(10_000)}`
    history.recordLdlm(NOW, "oss'01", [record({ namespace })])
    expect(history.ldlmSeries(namespace, 0, Infinity)).toMatchObject([{ namespace, node: "oss'01" }])
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
  expect(history.ldlmSeries(NS, 0, Infinity)).toHaveLength(1)
  history.close()
  const db = new Database(file)
  expect(db.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION)
  expect(SCHEMA_VERSION).toBe(6)
  db.close()
})
