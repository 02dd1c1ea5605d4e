import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { jobColorsIn, keepJobColors } from './job-color-setting.ts'
import { RECORDING } from './recording-facts.ts'

function fileWith(setting: string | undefined): Database.Database {
  const db = new Database(':memory:')
  db.exec('CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID')
  if (setting !== undefined) db.prepare('INSERT INTO setting VALUES (?, ?)').run(RECORDING, setting)
  return db
}

it('stores colors in the setting that describes the file, in the order of the keys', () => {
  const db = fileWith('{"cluster":"altair","kind":"LIVE","fromMs":1,"toMs":2}')
  const colors = new Map([
    [12, 3],
    [7, 14],
  ])
  keepJobColors(db, colors)
  expect(jobColorsIn(db)).toEqual(colors)
  expect(db.prepare('SELECT value FROM setting').pluck().get()).toBe(
    '{"cluster":"altair","kind":"LIVE","fromMs":1,"toMs":2,"colors":{"7":14,"12":3}}',
  )
})

it.each([
  undefined,
  '{"cluster":"altair"}',
  'no JSON',
  '{"colors":[1,2]}',
  '{"colors":{"7":15}}',
  '{"colors":{"7":0}}',
  '{"colors":{"7":"red"}}',
  '{"colors":{"__proto__x":1}}',
])('has none for a file with the setting %s', (setting) => {
  expect(jobColorsIn(fileWith(setting))).toEqual(new Map())
})
