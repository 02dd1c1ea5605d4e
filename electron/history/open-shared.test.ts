import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { PLAIN } from '#core/snapshot/redactor.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { writeExcerpt } from './excerpt.ts'
import { History } from './history.ts'
import { openShared } from './open-shared.ts'
import { SCHEMA_VERSION } from './schema.ts'
import { facts, job, newFile, NOW, openAt, target } from '#tests/kits/electron/history/samples.ts'

const code = (file: string): string => {
  const opened = openShared(file)
  if (!opened.ok) return opened.error.code
  opened.value.db.close()
  return 'ok'
}
const refused = (file: string): unknown => {
  const opened = History.open(file, NOW)
  if (!opened.ok) return opened.error.code
  opened.value.close()
  return 'opened'
}
/** Records `n` seconds starting at `from`. */
function record(history: History, from: number, n: number): void {
  const jobs = Array.from({ length: 50 }, (_, k) => job(`${k}.a.u`, k))
  for (let s = from; s < from + n; s++) history.record(NOW + s * 1000, jobs, [target('T', s)], facts, { rpcs: s })
  history.flush()
}
function begun(): History {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'demo', '', NOW)
  record(history, 0, 60)
  return history
}
const COUNT = 'SELECT count(*) FROM instant WHERE tier = 0'

it('an excerpt is consistent while the console continues, and the log restarts when it is done', async () => {
  const history = begun()
  const shared = openShared(history.file)
  if (!shared.ok) throw new Error(shared.error.why)
  const { db } = shared.value
  let wrote = 60
  const progress = (): void => {
    record(history, wrote, 20)
    wrote += 20
  }
  const file = join(tempFolder(), 'x.qosrec')
  const span = { fromMs: NOW, toMs: NOW + 3_600_000 }
  const o = { redactor: PLAIN, detail: 'fit', keepJobs: new Set<string>(), progress } as const
  const written = await writeExcerpt(db, 1, span, file, o)
  expect(written.ok && written.value.instants).toBe(60)
  expect(wrote).toBeGreaterThan(60)
  expect(db.inTransaction).toBe(false)
  expect(db.prepare(COUNT).pluck().get()).toBe(wrote)
  // Without readers of an old snapshot the whole log can be checkpointed.
  const checkpoint = new Database(history.file)
  const [row] = checkpoint.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
  checkpoint.close()
  expect(row?.busy).toBe(0)
  expect(statSync(`${history.file}-wal`).size).toBe(0)
  db.close()
  history.close()
})

it('a second console is turned away by whatever name it comes: link, hard link, another folder', () => {
  const history = begun()
  const folder = tempFolder()
  symlinkSync(history.file, join(folder, 'symbolic.sqlite'))
  linkSync(history.file, join(folder, 'hard.sqlite'))
  symlinkSync(dirname(history.file), join(folder, 'way'))
  for (const name of ['symbolic.sqlite', 'hard.sqlite', 'way/history.sqlite']) {
    expect(refused(join(folder, name)), name).toBe('HISTORY_IN_USE')
  }
  record(history, 60, 1)
  history.close()
  // And the reverse: a history that is open under one of two hard links is exclusive.
  const hard = openAt(join(folder, 'hard.sqlite'))
  expect(refused(history.file)).toBe('HISTORY_IN_USE')
  expect(code(history.file)).toBe('HISTORY_IN_USE')
  hard.close()
  expect(refused(history.file)).toBe('opened')
  expect(readdirSync(dirname(history.file))).toEqual(['history.sqlite'])
})

it('what is no history of this version is refused with what to do, and stays as it is', () => {
  const altered = (sql: string): string => {
    const history = begun()
    history.close()
    const db = new Database(history.file)
    db.exec(sql)
    db.close()
    return history.file
  }
  const text = newFile()
  writeFileSync(text, 'no database at all'.repeat(99))
  const folder = newFile()
  mkdirSync(folder)
  for (const [file, wanted] of [
    [altered(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`), 'HISTORY_NEWER'],
    [altered('PRAGMA user_version = 3'), 'HISTORY_OLDER'],
    [altered('PRAGMA application_id = 7'), 'HISTORY_FOREIGN'],
    [altered('CREATE TRIGGER t AFTER INSERT ON job BEGIN DELETE FROM job; END'), 'HISTORY_DAMAGED'],
    [text, 'HISTORY_FOREIGN'],
    [folder, 'HISTORY_UNREADABLE'],
    [newFile(), 'HISTORY_GONE'],
  ] as const) {
    const before = statSync(file, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(file) : undefined
    expect(code(file)).toBe(wanted)
    if (before) expect(readFileSync(file).equals(before)).toBe(true)
  }
})
