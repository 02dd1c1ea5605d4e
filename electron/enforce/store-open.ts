/**
 * Opens the enforcement store, which several processes share: WAL, each commit flushed to disk. A newer file and one of
 * another program are refused and not changed; a damaged one is set aside, never deleted.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { migrateStore, STORE_ID, STORE_VERSION } from './store-schema.ts'

/**
 * Longest wait for other processes' writes. SQLite's lock has no queue: on a slow disk, where each record takes tens of
 * milliseconds to flush, one of several appending processes can miss every gap for seconds.
 */
const LOCK_MS = 10_000

export const headPath = (file: string): string => `${file}.head`

const isSqlite = (e: unknown): e is { code: string; message: string } =>
  e instanceof Error && 'code' in e && typeof e.code === 'string' && e.code.startsWith('SQLITE_')

const refused = (code: string, file: string, why: string, next: string): Failure => ({
  code,
  what: `the enforcement store ${file} cannot be opened`,
  why,
  unaffected: 'It was not changed. Clusters can be monitored; nothing is written to them.',
  next,
})

const unusable = (file: string, e: unknown): Failure =>
  refused(
    'STORE_UNREADABLE',
    file,
    e instanceof Error ? e.message : String(e),
    'Check the data folder and its permissions.',
  )

/** Checks without writing that the file belongs to Sluice, in a version this release can read. */
function foreign(file: string, db: Database.Database): Failure | undefined {
  const version = Number(db.pragma('user_version', { simple: true }))
  const tables = Number(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get())
  if (tables > 0 && Number(db.pragma('application_id', { simple: true })) !== STORE_ID) {
    return refused(
      'STORE_FOREIGN',
      file,
      'it is a database of another program',
      'Name another data folder: SLUICE_DATA.',
    )
  }
  if (version <= STORE_VERSION) return undefined
  const why = `it was written by a newer Sluice (schema ${version}, this one knows ${STORE_VERSION})`
  return refused('STORE_NEWER', file, why, 'Start the newer Sluice.')
}

function tryOpen(file: string): Result<Database.Database, Failure | 'damaged'> {
  let db: Database.Database | undefined
  try {
    if (file !== ':memory:') {
      // Created before SQLite does, which would make it readable for all; its log and index get the same mode.
      closeSync(openSync(file, 'a', 0o600))
      chmodSync(file, 0o600)
    }
    db = new Database(file, { timeout: LOCK_MS })
    const not = foreign(file, db)
    if (not) {
      db.close()
      return fail(not)
    }
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    if (db.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      db.close()
      return fail('damaged')
    }
    migrateStore(db)
    return ok(db)
  } catch (e) {
    db?.close()
    if (!isSqlite(e)) throw e
    if (e.code.startsWith('SQLITE_BUSY') || e.code === 'SQLITE_LOCKED') {
      return fail(refused('STORE_BUSY', file, 'another Sluice keeps writing to it', 'Try again.'))
    }
    if (e.code === 'SQLITE_NOTADB' || e.code.startsWith('SQLITE_CORRUPT')) return fail('damaged')
    return fail(unusable(file, e))
  }
}

/**
 * Opens (or creates) the store's file.
 *
 * @param file  path, or `:memory:`.
 * @param nowMs wall clock, for the name of a file set aside.
 * @returns     the database, and the new name of a damaged file that was set aside.
 */
export function openStoreFile(
  file: string,
  nowMs: number,
): Result<{ readonly db: Database.Database; readonly aside: string | undefined }> {
  try {
    if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const first = tryOpen(file)
    if (first.ok) return ok({ db: first.value, aside: undefined })
    if (first.error !== 'damaged') return fail(first.error)
    const aside = `${file}.damaged-${new Date(nowMs).toISOString().replace(/[:.]/g, '-')}`
    // The log and index of the damaged file belong to it, and so does its head.
    for (const suffix of ['', '-wal', '-shm', '.head']) {
      if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix)
    }
    const fresh = tryOpen(file)
    if (fresh.ok) return ok({ db: fresh.value, aside })
    return fail(fresh.error === 'damaged' ? unusable(file, 'the fresh file is damaged too') : fresh.error)
  } catch (e) {
    return fail(unusable(file, e))
  }
}

/** Opens a store read-only. Failures: those of opening, and STORE_UNREADABLE for a missing or damaged file. */
export function openStoreForReading(file: string): Result<Database.Database> {
  let db: Database.Database | undefined
  try {
    db = new Database(file, { readonly: true, fileMustExist: true, timeout: LOCK_MS })
    const not = foreign(file, db)
    if (!not) return ok(db)
    db.close()
    return fail(not)
  } catch (e) {
    db?.close()
    return fail(unusable(file, e))
  }
}
