import Database from 'better-sqlite3'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { ok } from '#core/base/result.ts'
import { ForeignFiles } from '#electron/foreign/foreign-files.ts'
import { answerOf } from '#electron/foreign/program.ts'
import type { History } from './history.ts'
import { filesHere, readHere } from '#tests/kits/electron/foreign/in-process.ts'
import { writeRecording } from './recording.ts'
import { widthOf, type Kind } from './block.ts'
import { Recordings } from './recordings.ts'
import { SCHEMA_VERSION } from './schema.ts'
import { facts, job, MINUTE_MS, newFile, NOW, openAt, target } from '#tests/kits/electron/history/samples.ts'
import { RecordingRows, type RecordingRow } from '#electron/host/history/history-service.ts'

const SPAN = { fromMs: NOW + MINUTE_MS, toMs: NOW + 3 * MINUTE_MS }

/** Rows of a folder after each file was checked. */
async function listed(recordings: Recordings): Promise<RecordingRow[]> {
  const rows = new RecordingRows(filesHere(), () => undefined)
  return vi.waitUntil(() => {
    const all = rows.list(recordings)
    return all.every((row) => !row.isChecking) && all
  })
}

/** Five minutes of one cluster, with every kind of data. */
function filled(history: History): void {
  history.beginSource('EMULATED', 'demo', '', NOW)
  const rule = { queue: 'reg', cpt: 0, name: 'r', conditions: 'jobid={a}', rate: 5, ref: 1 } as const
  history.recordRules(NOW + 1000, 'oss1', [rule])
  for (let s = 0; s < 300; s++) {
    const at = NOW + s * 1000
    history.record(at, [job('7.cfd.u1', s), job(`${s}.short.u2`, 1)], [target('OST0', s)], facts, { rpcs: s + 1 })
    history.recordPlane('token_nodes', at, [{ name: 'dn1', place: '', jobId: '', values: [s + 1, 9] }])
    if (s % 60 === 30)
      history.recordEvent({ atMs: at, kind: 'note', level: 'ok', subject: 'n', text: `${s}`, where: '' })
    if (s === 90) {
      history.recordMoves(
        [{ atMs: at, target: 'OST0', node: 'oss1', lender: 'gone.a', borrower: '7.cfd.u1', kind: 'lend', tokens: 3 }],
        facts,
      )
    }
  }
  history.recordRules(NOW + 250_000, 'oss1', [])
  history.settle()
}

it('a range is read back from its file unchanged, and nothing else is in it', async () => {
  const history = openAt(newFile())
  filled(history)
  const { recordings } = history
  const path = recordings?.pathOf('storm 1')
  if (!recordings || !path?.ok) throw new Error('no path')
  const written = await history.writeRecording(SPAN, path.value)
  expect(written.ok).toBe(true)
  expect(readdirSync(recordings.folder)).toEqual(['storm 1.qosrec'])
  expect(await listed(recordings)).toEqual([
    {
      name: 'storm 1',
      cluster: 'demo',
      ...SPAN,
      bytes: written.ok ? written.value.bytes : 0,
      fault: '',
      isChecking: false,
    },
  ])
  const opened = readHere(path.value)
  if (!opened.ok) throw new Error(opened.error.what)
  const there = opened.value
  const here = history.reader()
  expect(there.cluster).toBe('demo')
  for (const tier of ['raw', '1s', '10s', '1min'] as const) {
    expect([...there.instants(tier, 0, Infinity)]).toEqual([...here.instants(tier, SPAN.fromMs, SPAN.toMs - 1)])
    expect([...there.jobsBetween(tier, 0, Infinity)]).toEqual([...here.jobsBetween(tier, SPAN.fromMs, SPAN.toMs - 1)])
  }
  expect(there.line('rpcs', SPAN, 50)).toEqual(here.line('rpcs', SPAN, 50))
  expect(there.top(SPAN, 'exe', 5, 50)).toEqual(here.top(SPAN, 'exe', 5, 50))
  expect(there.jobByName('7.cfd.u1')).toEqual(here.jobByName('7.cfd.u1'))
  expect(there.jobByName('10.short.u2')).toBeUndefined()
  expect(there.jobByName('70.short.u2')?.user).toBe('u2')
  expect(there.events(0, Infinity, 99).map((e) => e.text)).toEqual(['150', '90'])
  expect(there.rulesAt(SPAN.fromMs).map((r) => r.name)).toEqual(['r'])
  const minute = there.planeAt('token_nodes', SPAN.fromMs + 60_000, 1000)
  expect(minute).toEqual(here.planeAt('token_nodes', SPAN.fromMs + 60_000, 1000))
  expect(minute?.columns[0]?.[0]).toBe(121)
  expect(there.allPlaneSeries('token_nodes')).toEqual(here.allPlaneSeries('token_nodes'))
  expect(there.gaps(SPAN.fromMs, SPAN.toMs)).toEqual([])
  there.close()
  const again = await history.writeRecording(SPAN, path.value)
  expect(again).toMatchObject({ ok: false, error: { code: 'RECORDING_EXISTS' } })
  const empty = await history.writeRecording({ fromMs: 0, toMs: 5 }, `${path.value}x`)
  expect(empty).toMatchObject({ ok: false, error: { code: 'RECORDING_EMPTY' } })
  expect(readdirSync(recordings.folder)).toEqual(['storm 1.qosrec'])
  expect(recordings.remove('storm 1').ok).toBe(true)
  expect(recordings.names()).toEqual([])
  expect(recordings.remove('storm 1')).toMatchObject({ ok: false, error: { code: 'RECORDING_KEPT' } })
  history.close()
})

it('of a disk that is full leaves nothing behind and says so', async () => {
  const history = openAt(newFile())
  filled(history)
  history.close()
  const source = new Database(history.file)
  const folder = join(dirname(history.file), 'recordings')
  const writing = writeRecording(source, 1, SPAN, join(folder, 'a.qosrec'), { pagesMax: 1 })
  expect(await writing).toMatchObject({
    ok: false,
    error: { code: 'RECORDING_FAILED', why: 'database or disk is full' },
  })
  expect(readdirSync(folder)).toEqual([])
  source.close()
})

it('a file that is newer, damaged, altered, of others, or no database is refused with what to do', async () => {
  const history = openAt(newFile())
  filled(history)
  const folder = history.recordings?.folder ?? ''
  const file = (name: string): string => join(folder, `${name}.qosrec`)
  await history.writeRecording(SPAN, file('whole'))
  history.close()
  const whole = readFileSync(file('whole'))
  const altered = (name: string, sql: string): void => {
    writeFileSync(file(name), whole)
    const db = new Database(file(name))
    db.exec(sql)
    db.close()
  }
  altered('newer', `PRAGMA user_version = ${SCHEMA_VERSION + 1}`)
  altered('older', 'PRAGMA user_version = 3')
  altered('other', 'PRAGMA application_id = 7')
  altered('view', 'DROP TABLE event; CREATE VIEW event AS SELECT 1 AS id')
  const flipped = Buffer.from(whole)
  for (let i = 8192; i < flipped.length - 4096; i++) flipped[i] = ~(flipped[i] ?? 0)
  writeFileSync(file('flipped'), flipped)
  writeFileSync(file('cut'), whole.subarray(0, whole.length >> 1))
  writeFileSync(file('text'), 'this is no database, whatever its name says'.repeat(300))
  mkdirSync(file('folder'))
  for (const [name, code] of [
    ['newer', 'RECORDING_NEWER'],
    ['older', 'RECORDING_OLDER'],
    ['other', 'RECORDING_FOREIGN'],
    ['text', 'RECORDING_FOREIGN'],
    ['view', 'RECORDING_DAMAGED'],
    ['flipped', 'RECORDING_DAMAGED'],
    ['cut', 'RECORDING_DAMAGED'],
    ['folder', 'RECORDING_UNREADABLE'],
    ['none', 'RECORDING_GONE'],
  ] as const) {
    const opened = readHere(file(name))
    expect(opened.ok, name).toBe(false)
    if (!opened.ok) expect([opened.error.code, Boolean(opened.error.next)], name).toEqual([code, true])
  }
  const rows = await listed(new Recordings(folder))
  expect(rows.filter((r) => r.fault === '').map((r) => r.name)).toEqual(['whole'])
  expect(rows).toHaveLength(9)
  writeFileSync(file('busy'), whole)
  // An exclusive lock, as older releases hold it.
  const busy = new Database(file('busy'))
  busy.pragma('locking_mode = EXCLUSIVE')
  busy.exec('BEGIN EXCLUSIVE')
  expect(readHere(file('busy'))).toMatchObject({ ok: false, error: { code: 'RECORDING_IN_USE' } })
  busy.close()
})

it('has a name that is no path', () => {
  const recordings = new Recordings('/data/recordings')
  for (const bad of [
    '',
    '.',
    '..',
    '../x',
    'a/b',
    'a\\b',
    '/etc/passwd',
    'a..b',
    '.hidden',
    'x\0',
    'con',
    'NUL.txt',
    'a\nb',
    ' a',
    'a.',
    'x'.repeat(81),
  ]) {
    expect(recordings.pathOf(bad).ok, JSON.stringify(bad)).toBe(false)
  }
  expect(recordings.pathOf('Übung 3 (x)').ok).toBe(false)
  expect(recordings.pathOf('Übung 3')).toEqual({ ok: true, value: '/data/recordings/Übung 3.qosrec' })
  expect(recordings.pathOf('a.qosrec')).toEqual({ ok: true, value: '/data/recordings/a.qosrec' })
  expect(recordings.names()).toEqual([])
  expect(existsSync('/data/recordings')).toBe(false)
})

it('a foreign file is opened only with the exact tables, and invalid values are gaps', async () => {
  const history = openAt(newFile())
  filled(history)
  const folder = history.recordings?.folder ?? ''
  const file = (name: string): string => join(folder, `${name}.qosrec`)
  await history.writeRecording(SPAN, file('whole'))
  history.close()
  const whole = readFileSync(file('whole'))
  const altered = (change: (db: Database.Database) => void): ReturnType<typeof readHere> => {
    writeFileSync(file('x'), whole)
    const db = new Database(file('x'))
    db.pragma('synchronous = OFF')
    db.transaction(() => change(db))()
    db.close()
    return readHere(file('x'))
  }
  for (const sql of [
    'CREATE TRIGGER t AFTER INSERT ON job BEGIN DELETE FROM job; END',
    'CREATE VIEW sqlite0 AS SELECT 1',
    'CREATE TABLE more (a CHECK (length(zeroblob(a)) > 0))',
    'UPDATE instant SET at_ms = at_ms + 9000000000000000 WHERE tier = 3',
    'UPDATE event SET at_ms = -1',
    'UPDATE rule SET to_ms = 9223372036854775807',
  ]) {
    const opened = altered((db) => db.exec(sql))
    expect(opened, sql).toMatchObject({ ok: false, error: { code: 'RECORDING_DAMAGED' } })
  }
  const far = JSON.stringify({ cluster: 'c', kind: 'LIVE', fromMs: 1e300, toMs: 1e300 })
  const named = altered((db) => db.prepare("UPDATE setting SET value = ? WHERE name = 'recording'").run(far))
  if (named.ok) named.value.close()
  const rows = await listed(new Recordings(folder))
  expect(rows.find((r) => r.name === 'x')?.fault).toBe('it is a history, not a recording')

  const opened = altered((db) => {
    type Row = { id: number; kind: Kind; n: number; at_ms: number; lead: Buffer; rest: Buffer }
    for (const { id, kind, n, at_ms, lead, rest: stored } of db.prepare('SELECT * FROM block').all() as Row[]) {
      for (let i = 0; i < n; i++) lead.writeFloatLE(i % 2 ? Infinity : 3e38, 4 * n + 4 * i)
      // Deflated columns are replaced by plain ones.
      const rest = stored.length % 4 === 0 ? stored : Buffer.alloc(4 * n * (widthOf(kind) - 1))
      for (let i = 0; i < rest.length; i += 4) rest.writeFloatLE(-Infinity, i)
      // Keys in descending order.
      const keys = Array.from({ length: n }, (_, i) => lead.readUInt32LE(4 * i)).reverse()
      if (at_ms === SPAN.fromMs) keys.forEach((key, i) => lead.writeUInt32LE(key, 4 * i))
      db.prepare('UPDATE block SET lead = ?, rest = ? WHERE id = ?').run(lead, rest, id)
    }
    db.exec(`UPDATE instant SET data = x'${'0000807f'.repeat(8)}'`)
    db.exec(`UPDATE job SET job_id = job_id || hex(zeroblob(1000)); UPDATE target SET name = hex(zeroblob(1000))`)
    db.exec("UPDATE rule SET queue = 'none'")
  })
  if (!opened.ok) throw new Error(opened.error.why)
  const reader = opened.value
  const second = reader.jobs('raw', SPAN.fromMs + 1000)
  expect(second?.columns.every((c) => c.every((v) => Number.isNaN(v) || v === 0))).toBe(true)
  expect(second?.columns[0]?.every(Number.isNaN)).toBe(true)
  expect(reader.jobs('raw', SPAN.fromMs)).toBeUndefined()
  const pools = reader.planeAt('token_nodes', SPAN.fromMs + 1000, 1)
  expect(pools?.columns.every((c) => c.every(Number.isNaN))).toBe(true)
  expect(reader.line('rpcs', SPAN, 50).values.every((v) => v === null)).toBe(true)
  expect(reader.top(SPAN, 'job', 5, 50).series.every((s) => s.mean === 0)).toBe(true)
  expect(reader.job(second?.keys[0] ?? 0)?.jobId).toHaveLength(256)
  expect(reader.allTargets()[0]?.target).toHaveLength(256)
  expect(reader.rulesBetween(0, Infinity)).toEqual([])
  reader.close()
})

it('a foreign file is checked once, and again when it has changed', async () => {
  const history = openAt(newFile())
  filled(history)
  const { recordings } = history
  const path = recordings?.pathOf('a')
  if (!recordings || !path?.ok) throw new Error('no path')
  await history.writeRecording(SPAN, path.value)
  let looked = 0
  const files = new ForeignFiles(async (task) => {
    looked++
    return ok(await answerOf(task, 2 ** 24))
  })
  const changed = vi.fn()
  const rows = new RecordingRows(files, changed)
  const [before] = rows.list(recordings)
  expect(before).toMatchObject({ name: 'a', fault: '', isChecking: true })
  rows.list(recordings)
  await vi.waitFor(() => expect(changed).toHaveBeenCalledOnce())
  const [row] = rows.list(recordings)
  expect(row).toMatchObject({ cluster: 'demo', fault: '', isChecking: false })
  expect(rows.list(recordings)[0]).toBe(row)
  expect(looked).toBe(1)
  writeFileSync(path.value, 'no database')
  expect(rows.list(recordings)[0]?.isChecking).toBe(true)
  await vi.waitFor(() => expect(rows.list(recordings)[0]?.fault).toBe('it is not a database'))
  expect(looked).toBe(2)
  history.close()
})
