import Database from 'better-sqlite3'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readHere } from '#tests/kits/electron/foreign/in-process.ts'
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from './schema.ts'
import { newFile, NOW } from '#tests/kits/electron/history/samples.ts'
import { upgradeCopy } from './upgrade-copy.ts'

/** A file as an older release of Sluice left it, with samples of one job and one target, and additional SQL. */
function older(version: number, more = ''): string {
  const file = newFile()
  const db = new Database(file)
  for (const step of MIGRATIONS.slice(0, version)) db.exec(step)
  db.pragma(`user_version = ${version}`)
  db.pragma(`application_id = ${APPLICATION_ID}`)
  db.exec(`
    INSERT INTO source VALUES (1, 'LIVE', 'prod', '', ${NOW});
    INSERT INTO job VALUES (1, 1, '7.cfd.u1', 'ana', 'aero', 4, ${NOW});
    INSERT INTO target VALUES (1, 1, 'OST0', 'oss1');
    INSERT INTO job_sample VALUES (0, 1, ${NOW}, 10, 20, 30, 0.5, -3), (1, 1, ${NOW}, 10, 20, 30, 0.5, -3);
    INSERT INTO target_sample VALUES (0, 1, ${NOW}, 10, 4, 1), (1, 1, ${NOW}, 10, 4, 1);
    INSERT INTO event VALUES (1, 1, ${NOW}, 'note', 'ok', 's', 'kept', '');
    ${more}`)
  db.close()
  return file
}

it.each([1, 2, 3])('a recording of version %i opens after its copy was brought up to this one', (version) => {
  const file = older(version)
  expect(readHere(file)).toMatchObject({ ok: false, error: { code: 'RECORDING_OLDER' } })
  expect(upgradeCopy(file)).toEqual({ ok: true, value: undefined })
  const opened = readHere(file)
  if (!opened.ok) throw new Error(opened.error.why)
  const reader = opened.value
  expect(reader.cluster).toBe('prod')
  expect(reader.jobByName('7.cfd.u1')).toMatchObject({ user: 'ana', exe: 'cfd' })
  expect([...(reader.jobs('raw', NOW)?.columns[0] ?? [])]).toEqual([10])
  expect([...(reader.targets('raw', NOW)?.columns[1] ?? [])]).toEqual([4])
  expect(reader.events(0, Infinity, 9).map((e) => e.text)).toEqual(['kept'])
  reader.close()
  // A file of the current version is not changed.
  const before = readFileSync(file)
  expect(upgradeCopy(file).ok).toBe(true)
  expect(readFileSync(file)).toEqual(before)
})

it.each([
  [
    'a trigger that would run while it is carried over',
    'CREATE TRIGGER t AFTER UPDATE ON source BEGIN DELETE FROM event; END',
  ],
  ['a view in the place of a table', 'DROP TABLE event; CREATE VIEW event AS SELECT 1 AS id'],
  ['a table with a check of its own', 'CREATE TABLE more (a CHECK (length(zeroblob(a)) > 0))'],
  ['an index over an expression', 'CREATE INDEX i ON job (hex(zeroblob(1000000)))'],
  ['samples before and after all time', `INSERT INTO job_sample VALUES (0, 1, 9223372036854775807, 1, 1, 1, 0, 0)`],
  [
    'samples so far apart that going through the time between takes for ever',
    'INSERT INTO job_sample VALUES (0, 1, 8640000000000000, 1, 1, 1, 0, 0)',
  ],
  ['a name of a megabyte', `UPDATE job SET job_id = hex(zeroblob(500000))`],
])('refuses %s and runs nothing of it', (_, more) => {
  const file = older(3, more)
  expect(upgradeCopy(file)).toMatchObject({ ok: false, error: { code: 'RECORDING_DAMAGED' } })
  const db = new Database(file)
  expect(db.pragma('user_version', { simple: true })).toBe(3)
  db.close()
})

it('refuses what is newer, of another program, torn, or no database', () => {
  const altered = (pragma: string): string => {
    const file = older(3)
    const db = new Database(file)
    db.pragma(pragma)
    db.close()
    return file
  }
  const code = (file: string): string => {
    const r = upgradeCopy(file)
    return r.ok ? 'ok' : r.error.code
  }
  expect(code(altered(`user_version = ${SCHEMA_VERSION + 1}`))).toBe('RECORDING_NEWER')
  expect(code(altered('application_id = 7'))).toBe('RECORDING_FOREIGN')
  expect(code(altered('user_version = 0'))).toBe('RECORDING_FOREIGN')
  // Declares one version and has the tables of another.
  expect(code(altered('user_version = 1'))).toBe('RECORDING_DAMAGED')
  const torn = older(3)
  const bytes = readFileSync(torn)
  for (let i = 4096; i < bytes.length; i++) bytes[i] = ~(bytes[i] ?? 0)
  writeFileSync(torn, bytes)
  expect(code(torn)).toBe('RECORDING_DAMAGED')
  const text = newFile()
  writeFileSync(text, 'this is no database'.repeat(99))
  expect(code(text)).toBe('RECORDING_FOREIGN')
  expect(code(newFile())).toBe('RECORDING_UNREADABLE')
})
