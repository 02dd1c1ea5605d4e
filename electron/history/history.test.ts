import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it } from 'vitest'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { Audit, firstBrokenRecord } from '../base/audit.ts'
import { History } from './history.ts'
import type { JobFacts, JobSample, TargetSample } from './records.ts'

const NOW = Date.UTC(2026, 0, 2)
const HOUR = 3_600_000
const facts = (jobId: string): JobFacts => ({ jobId, user: 'ana', account: 'aero', nodes: 4 })
const job = (jobId: string, rpcs: number, record: number | null = null): JobSample => ({
  jobId,
  rpcs,
  readBps: rpcs * 10,
  writeBps: 0,
  throttled: 0,
  record,
})
const target = (rpcs: number | null): TargetSample => ({
  target: 'OST0',
  node: 'oss1',
  rpcs,
  serviceMs: null,
  queued: 2,
})
const rule = (name: string, rate: number): RuleLine => ({
  queue: 'reg',
  cpt: 0,
  name,
  conditions: `jobid={${name}}`,
  rate,
  ref: 1,
})

let file: string
let history: History

function open(): History {
  const opened = History.open(file, NOW)
  if (!opened.ok) throw new Error(opened.error.what)
  return opened.value
}

/** Rows of the file, after the history is closed. */
function rows(sql: string): unknown[] {
  history.close()
  const db = new Database(file, { readonly: true })
  const all = db.prepare(sql).all()
  db.close()
  return all
}

beforeEach(() => {
  file = join(tempFolder(), 'history.sqlite')
  history = open()
  history.beginSource('EMULATED', 'demo', '', NOW)
})

describe('samples', () => {
  it('arrive as taken, and as means of a second in which a job that a sample does not name was idle', () => {
    for (let i = 0; i < 20; i++) {
      const jobs = [job('steady', 100 + i, -i), ...(i === 3 ? [job('once', 50)] : [])]
      history.record(NOW + i * 100, jobs, [], facts)
    }
    history.record(NOW + 2000, [], [], facts)
    const raw = history.jobSeries('steady', 0, NOW, NOW + HOUR)
    expect(raw.map((s) => s.rpcs)).toEqual(Array.from({ length: 20 }, (_, i) => 100 + i))
    expect(history.jobSeries('steady', 1, NOW, NOW + HOUR)).toEqual([
      { atMs: NOW, rpcs: 104.5, record: -9 },
      { atMs: NOW + 1000, rpcs: 114.5, record: -19 },
    ])
    expect(history.jobSeries('once', 0, NOW, NOW + HOUR)).toEqual([{ atMs: NOW + 300, rpcs: 50, record: null }])
    expect(history.jobSeries('once', 1, NOW, NOW + HOUR)).toEqual([{ atMs: NOW, rpcs: 5, record: null }])
  })

  it('of a target keep their gaps: a mean is over what was measured', () => {
    const values = [10, null, 30, null, null, null]
    values.forEach((v, i) => history.record(NOW + i * 500, [], [target(v)], facts))
    history.record(NOW + 3000, [], [], facts)
    expect(history.targetSeries('OST0', 0, NOW, NOW + HOUR).map((s) => s.rpcs)).toEqual(values)
    expect(history.targetSeries('OST0', 1, NOW, NOW + HOUR)).toEqual([
      { atMs: NOW, rpcs: 10, serviceMs: null, queued: 2 },
      { atMs: NOW + 1000, rpcs: 30, serviceMs: null, queued: 2 },
      { atMs: NOW + 2000, rpcs: null, serviceMs: null, queued: 2 },
    ])
  })

  it('of the last, unfinished second are not lost when the history is closed', () => {
    history.record(NOW, [job('a', 1)], [], facts)
    history.record(NOW + 100, [job('a', 3)], [], facts)
    history.close()
    history = open()
    history.beginSource('EMULATED', 'demo', '', NOW + 5000)
    expect(history.jobSeries('a', 0, 0, Infinity).map((s) => s.rpcs)).toEqual([1, 3])
    expect(history.jobSeries('a', 1, 0, Infinity).map((s) => s.rpcs)).toEqual([2])
  })

  it('belong to one source: the same job id of the next one is another job', () => {
    history.record(NOW, [job('a', 1)], [], facts)
    history.beginSource('LIVE', 'prod', '', NOW + 5000)
    history.record(NOW + 5000, [job('a', 2)], [], facts)
    expect(history.jobSeries('a', 0, 0, Infinity)).toEqual([{ atMs: NOW + 5000, rpcs: 2, record: null }])
    expect(history.count('source')).toBe(2)
    expect(history.count('job')).toBe(2)
  })

  it('are taken out when they had their time: raw after an hour, means of a second after a day', () => {
    history.record(NOW, [job('a', 1)], [target(1)], facts)
    history.record(NOW + 2 * HOUR, [job('a', 2)], [target(2)], facts)
    history.settle()
    expect(history.jobSeries('a', 0, 0, Infinity).map((s) => s.rpcs)).toEqual([2])
    expect(history.targetSeries('OST0', 0, 0, Infinity).map((s) => s.rpcs)).toEqual([2])
    expect(history.jobSeries('a', 1, 0, Infinity).map((s) => s.rpcs)).toEqual([1])
    history.record(NOW + 26 * HOUR, [job('a', 3)], [target(3)], facts)
    history.settle()
    expect(history.jobSeries('a', 1, 0, Infinity).map((s) => s.rpcs)).toEqual([2])
    expect(history.targetSeries('OST0', 1, 0, Infinity).map((s) => s.rpcs)).toEqual([2])
    expect(history.jobSeries('a', 2, 0, Infinity).map((s) => s.rpcs)).toEqual([1, 2])
    expect(history.evictions().map((e) => [e.tier, e.reason, e.samples])).toEqual([
      ['1s', 'retention', 3],
      ['raw', 'retention', 6],
    ])
  })

  it('of earlier sources are taken out at the next start', () => {
    history.record(NOW - 2 * HOUR, [job('old', 1)], [], facts)
    history.record(NOW - 60_000, [job('fresh', 1)], [], facts)
    history.close()
    history = open()
    history.beginSource('EMULATED', 'demo', '', NOW)
    history.settle()
    const kept = (id: string): number[] => [0, 1].map((tier) => history.jobSeries(id, tier, 0, Infinity).length)
    expect(kept('fresh')).toEqual([1, 1])
    expect(kept('old')).toEqual([0, 1])
  })
})

describe('rules', () => {
  it('are rows from the reading that first saw them so to the one that no longer did', () => {
    history.recordRules(NOW, 'oss1', [rule('a', 10), rule('b', 20)])
    history.recordRules(NOW, 'oss2', [rule('a', 10)])
    history.recordRules(NOW + 100, 'oss1', [rule('a', 10), rule('b', 20)])
    history.recordRules(NOW + 200, 'oss1', [rule('a', 15), rule('b', 20)])
    history.recordRules(NOW + 300, 'oss1', [rule('b', 20)])
    expect(rows('SELECT server, name, rate, from_ms AS since, to_ms AS until FROM rule ORDER BY id')).toEqual([
      { server: 'oss1', name: 'a', rate: 10, since: NOW, until: NOW + 200 },
      { server: 'oss1', name: 'b', rate: 20, since: NOW, until: NOW + 300 },
      { server: 'oss2', name: 'a', rate: 10, since: NOW, until: null },
      { server: 'oss1', name: 'a', rate: 15, since: NOW + 200, until: NOW + 300 },
      // Moved to the first position of the list.
      { server: 'oss1', name: 'b', rate: 20, since: NOW + 300, until: null },
    ])
  })
})

describe('the audit', () => {
  it('is never overwritten', () => {
    const record = { number: 1, atMs: 1, server: 's', kind: 'mode', text: 'first', hash: 'h' } as const
    history.recordAudit(record)
    expect(() => history.recordAudit({ ...record, text: 'second' })).toThrow()
    expect(history.audit(0, 10)).toEqual([record])
  })

  it('outlives the prune', () => {
    history.recordAudit({ number: 1, atMs: NOW, server: 's', kind: 'mode', text: 'enforce', hash: 'h' })
    history.record(NOW + 100 * HOUR, [job('a', 1)], [], facts)
    expect(history.count('audit')).toBe(1)
  })
})

describe('the audit of an emulated source', () => {
  const HOUR = 3_600_000
  const tick = (history: History, atMs: number): void =>
    history.record(atMs, [], [], () => ({ jobId: '', user: '', account: '', nodes: null }))

  it('is cut after an hour, continues its chain, and leaves the live one alone', () => {
    const opened = History.open(':memory:', 0)
    if (!opened.ok) throw new Error(opened.error.what)
    const history = opened.value
    history.beginSource('LIVE', 'prod', '', 0)
    const live = new Audit((r) => history.recordAudit(r), history.lastAudit())
    live.write(1, 'oss', 'intent', 'lctl set_param')
    history.beginSource('EMULATED', 'demo', '', 0)
    const emulated = new Audit((r) => history.recordAudit(r), history.lastAudit())
    for (let hour = 0; hour < 4; hour++) emulated.write(hour * HOUR, 'oss', 'intent', `hour ${hour}`)
    tick(history, 3 * HOUR + 1000)
    const kept = history.audit(0, 100)
    expect(kept.map((r) => r.text)).toEqual(['hour 3'])
    expect(firstBrokenRecord(kept, history.auditAnchor())).toBeUndefined()
    expect(firstBrokenRecord(kept)).toBe(4)
    emulated.write(3 * HOUR + 2000, 'oss', 'outcome', 'applied')
    expect(firstBrokenRecord(history.audit(0, 100), history.auditAnchor())).toBeUndefined()
    history.beginSource('LIVE', 'prod', '', 4 * HOUR)
    tick(history, 9 * HOUR)
    expect(history.audit(0, 100).map((r) => r.text)).toEqual(['lctl set_param'])
    expect(history.lastAudit()?.number).toBe(1)
    history.close()
  })
})

describe('a rule in force longer than the retention', () => {
  it('stays in the history until it ends, and an hour more', () => {
    const opened = History.open(':memory:', 0)
    if (!opened.ok) throw new Error(opened.error.what)
    const h = opened.value
    h.beginSource('EMULATED', 'demo', '', 0)
    h.recordRules(0, 'oss1', [rule('default', 10_000), rule('gone', 5)])
    h.recordRules(1000, 'oss1', [rule('default', 10_000)])
    h.record(3 * HOUR, [], [], facts)
    expect(h.count('rule')).toBe(1)
    h.recordRules(3 * HOUR, 'oss1', [])
    h.record(3 * HOUR + 2000, [], [], facts)
    expect(h.count('rule')).toBe(1)
    h.close()
  })
})

describe('a job that the resource manager names late', () => {
  it('has its owner in the history all the same', () => {
    let named = false
    const late = (jobId: string): JobFacts => ({
      jobId,
      user: named ? 'ana' : '',
      account: '',
      nodes: named ? 4 : null,
    })
    history.beginSource('LIVE', 'c', '', NOW)
    history.record(NOW, [job('7.a', 1)], [], late)
    history.flush()
    named = true
    history.record(NOW + 100, [job('7.a', 1)], [], late)
    history.close()
    const db = new Database(file)
    expect(db.prepare("SELECT user, nodes FROM job WHERE job_id = '7.a'").get()).toEqual({ user: 'ana', nodes: 4 })
    db.close()
    history = open()
  })
})
