import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { makeHostile } from '#tests/kits/electron/history/hostile-schema.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { History } from './history.ts'
import type { JobFacts } from './records.ts'
import { migrateTo, SCHEMA_VERSION } from './schema.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const facts = (jobId: string): JobFacts => ({ jobId, user: 'ana', account: 'aero', nodes: 4 })
const job = (jobId: string, rpcs = 1) => ({ jobId, rpcs, readBps: 0, writeBps: 0, throttled: 0, record: null })
const newFile = (): string => join(tempFolder(), 'history.sqlite')

function open(file: string): History {
  const opened = History.open(file, NOW)
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  return opened.value
}

/** A closed history that fills many pages. */
function filled(): string {
  const file = newFile()
  const history = open(file)
  history.beginSource('LIVE', 'demo', '', NOW)
  for (let i = 0; i < 100; i++) {
    const jobs = Array.from({ length: 20 }, (_, k) => job(`job${k}`))
    history.record(NOW + i * 100, jobs, [], facts)
  }
  history.close()
  return file
}

describe('opening the history', () => {
  it('makes a fresh file, and its folder for the owner only', () => {
    const file = join(tempFolder(), 'deep', 'er', 'history.sqlite')
    const history = open(file)
    expect(history.notice).toBeUndefined()
    history.close()
    expect(readFileSync(file).subarray(0, 15).toString()).toBe('SQLite format 3')
    expect(readdirSync(dirname(file))).toEqual(['history.sqlite'])
  })

  it('keeps what is there when it is opened again', () => {
    const file = filled()
    const history = open(file)
    expect(history.notice).toBeUndefined()
    // One hundred samples, and means of ten seconds.
    expect(history.count('instant')).toBe(100 + 10)
    expect(history.usage().tiers.map((t) => t.samples)).toEqual([100 * (20 + 1), 10 * (20 + 1), 0, 0])
    expect(history.count('job')).toBe(20)
    history.close()
  })

  const header = (file: string): void => writeFileSync(file, 'this was never a database, it only has the name of one\n')
  const middle = (file: string): void => {
    const bytes = readFileSync(file)
    for (let i = 4096; i < bytes.length - 4096; i++) bytes[i] = ~(bytes[i] as number)
    writeFileSync(file, bytes)
  }
  it.each([
    ['a garbage header', header],
    ['flipped bytes in the middle', middle],
  ])('sets a file with %s aside unchanged, starts a fresh one and says where the old one is', (_, damage) => {
    const file = filled()
    damage(file)
    const before = readFileSync(file)
    const history = open(file)
    const aside = `${file}.damaged-2026-01-02T03-04-05-000Z`
    expect(history.notice?.code).toBe('HISTORY_DAMAGED')
    expect(history.notice?.why).toContain(aside)
    expect(readFileSync(aside)).toEqual(before)
    history.beginSource('EMULATED', 'demo', '', NOW)
    history.record(NOW, [job('a')], [], facts)
    expect(history.count('instant')).toBe(1)
    history.close()
    const again = open(file)
    expect(again.notice).toBeUndefined()
    again.close()
  })

  const alter = (file: string, sql: string): Buffer => {
    const db = new Database(file)
    db.exec(sql)
    db.close()
    return readFileSync(file)
  }
  it.each([
    ['a newer Sluice', filled, `PRAGMA user_version = ${SCHEMA_VERSION + 1}`, 'HISTORY_NEWER'],
    ['another program', newFile, 'CREATE TABLE visits (url TEXT); INSERT INTO visits VALUES (1)', 'HISTORY_FOREIGN'],
  ])('refuses a database of %s and does not change a byte of it', (_, make, sql, code) => {
    const file = make()
    const before = alter(file, sql)
    const refused = History.open(file, NOW)
    expect(refused).toMatchObject({ ok: false, error: { code, unaffected: 'It was not changed.' } })
    expect(readFileSync(file)).toEqual(before)
    expect(readdirSync(dirname(file))).toEqual(['history.sqlite'])
  })

  it('attack: a trigger sqlite_evil in a history of an older Sluice does not run when that file is named by --history', () => {
    const file = newFile()
    const db = new Database(file)
    migrateTo(db, 3)
    db.exec(`INSERT INTO source VALUES (1, 'LIVE', 'prod', '', ${NOW});
      INSERT INTO event VALUES (1, 1, ${NOW}, 'note', 'ok', 's', 'kept', '')`)
    db.close()
    makeHostile(file, 'a trigger sqlite_evil')
    const before = readFileSync(file)
    expect(History.open(file, NOW)).toMatchObject({ ok: false, error: { code: 'HISTORY_ALTERED' } })
    expect(readFileSync(file)).toEqual(before)
    expect(readdirSync(dirname(file))).toEqual(['history.sqlite'])
  })

  it('sets a file aside whose schema is not that of its version', () => {
    const file = filled()
    alter(file, 'DROP TABLE event')
    const history = open(file)
    expect(history.notice).toMatchObject({ code: 'HISTORY_DAMAGED' })
    history.close()
    expect(readdirSync(dirname(file)).filter((name) => name.includes('.damaged-'))).toHaveLength(1)
  })

  it.skipIf(process.platform === 'win32')(
    "is its owner's alone, with its log, in a folder that others may read",
    () => {
      const folder = tempFolder()
      chmodSync(folder, 0o755)
      const file = join(folder, 'history.sqlite')
      const rights = (): number[] => ['', '-wal', '-shm', '-lock'].map((suffix) => statSync(file + suffix).mode & 0o777)
      for (const which of ['fresh', 'one of before']) {
        const history = open(file)
        history.beginSource('LIVE', 'demo', '', NOW)
        expect(rights(), which).toEqual([0o600, 0o600, 0o600, 0o600])
        history.close()
        chmodSync(file, 0o644)
      }
    },
  )

  it('leaves a file that was never a database where it is', () => {
    const file = join(tempFolder(), 'scenario.yaml')
    writeFileSync(file, 'title: named by a slip of the hand\n')
    expect(History.open(file, NOW)).toMatchObject({ ok: false, error: { code: 'HISTORY_FOREIGN' } })
    expect(readFileSync(file, 'utf8')).toBe('title: named by a slip of the hand\n')
    expect(readdirSync(dirname(file))).toEqual(['scenario.yaml'])
  })

  it('says why a folder cannot be used', () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'file'), '')
    mkdirSync(join(folder, 'dir.sqlite'))
    for (const file of [join(folder, 'file', 'history.sqlite'), join(folder, 'dir.sqlite')]) {
      const refused = History.open(file, NOW)
      expect(refused).toMatchObject({ ok: false, error: { code: 'HISTORY_UNREADABLE' } })
      expect(!refused.ok && refused.error.why).toBeTruthy()
    }
    expect(existsSync(join(folder, 'dir.sqlite'))).toBe(true)
  })

  it.skipIf(process.getuid?.() === 0)('says that a folder is not writable', () => {
    const folder = join(tempFolder(), 'closed')
    mkdirSync(folder, { mode: 0o500 })
    expect(History.open(join(folder, 'history.sqlite'), NOW)).toMatchObject({
      ok: false,
      error: { code: 'HISTORY_UNREADABLE' },
    })
  })
})

describe('a second instance', () => {
  it('is refused in the same process while the first continues', () => {
    const file = newFile()
    const first = open(file)
    first.beginSource('LIVE', 'demo', '', NOW)
    expect(History.open(file, NOW)).toMatchObject({ ok: false, error: { code: 'HISTORY_IN_USE' } })
    first.record(NOW, [job('a')], [], facts)
    expect(first.count('instant')).toBe(1)
    // The refusal must not release the lock of the first.
    expect(History.open(file, NOW)).toMatchObject({ ok: false, error: { code: 'HISTORY_IN_USE' } })
    first.close()
    open(file).close()
  })
})
