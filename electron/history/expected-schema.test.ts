/** Hostile schemas: no object is exempt because of its name or apparent creator. */
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { HOSTILE_SCHEMAS, makeHostile } from '#tests/kits/electron/history/hostile-schema.ts'
import { newFile, openAt } from '#tests/kits/electron/history/samples.ts'
import { tableFault } from './expected-schema.ts'
import { APPLICATION_ID, MIGRATIONS, migrateTo, SCHEMA_VERSION } from './schema.ts'

function fileOf(version: number): string {
  const file = newFile()
  const db = new Database(file)
  migrateTo(db, version)
  db.close()
  return file
}

/** Fault of a file as the console reports it: SQLite itself refuses some. */
function faultOf(file: string, version: number): string {
  const db = new Database(file, { readonly: true })
  try {
    return tableFault(db, version)?.why ?? 'none'
  } catch (e) {
    return e instanceof Database.SqliteError ? e.code : String(e)
  } finally {
    db.close()
  }
}

it.each(MIGRATIONS.map((_, i) => i + 1))('the schema of version %i is its own', (version) => {
  expect(faultOf(fileOf(version), version)).toBe('none')
})

it('a history that was written by a console has the schema of its version', () => {
  const file = newFile()
  openAt(file).close()
  expect(faultOf(file, SCHEMA_VERSION)).toBe('none')
  expect(faultOf(file, 3)).not.toBe('none')
})

it.each(Object.keys(HOSTILE_SCHEMAS))('attack: %s is found before anything is read', (name) => {
  for (const version of [3, SCHEMA_VERSION]) {
    const file = fileOf(version)
    makeHostile(file, name)
    expect(faultOf(file, version), `version ${version}`).toMatch(/it has objects that|SQLITE_CORRUPT/)
  }
})

it('a table that lacks a column, and one that is missing, are named', () => {
  const file = fileOf(SCHEMA_VERSION)
  const db = new Database(file)
  db.exec('ALTER TABLE brw_sample DROP COLUMN bins')
  expect(tableFault(db, SCHEMA_VERSION)).toEqual({
    kind: 'other',
    why: "table brw_sample differs from Sluice's schema",
  })
  db.exec('DROP TABLE brw_sample')
  expect(tableFault(db, SCHEMA_VERSION)).toEqual({
    kind: 'other',
    why: "table brw_sample differs from Sluice's schema",
  })
  expect(db.pragma('application_id', { simple: true })).toBe(APPLICATION_ID)
  db.close()
})
