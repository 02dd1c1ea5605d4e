/**
 * Opens a history for reading while a console has it open: for an export thread, or another process.
 *
 * It is the console's own file, in a private folder, and was checked when the console opened it: therefore only its tables are
 * compared (a few milliseconds), and its pages are not read (seconds). Damage appears as a read error.
 */
import Database from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { fail, ok, type Result } from '#core/base/result.ts'
import { tableFault } from './expected-schema.ts'
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts'

/** Lock timeout: readers are refused only while a log is being recovered or the file vacuumed. */
const LOCK_MS = 2000
const CACHE_KIB = 16 * 1024

const refused = (file: string, code: string, why: string, next: string): Result<never> =>
  fail({ code, what: `the history ${file} cannot be read`, why, unaffected: 'It was not changed.', next })

function check(file: string, db: Database.Database): Result<undefined> {
  const number = (name: string): number => Number(db.pragma(name, { simple: true }))
  const version = number('user_version')
  const application = number('application_id')
  const other = 'Name the history of a console.'
  if (application !== APPLICATION_ID)
    return refused(file, 'HISTORY_FOREIGN', 'it is a database of another program', other)
  if (version > SCHEMA_VERSION) {
    const why = `it was written by a newer Sluice (schema ${version}, this one knows ${SCHEMA_VERSION})`
    return refused(file, 'HISTORY_NEWER', why, 'Read it with that Sluice.')
  }
  if (version < SCHEMA_VERSION) {
    const why = `it is of an older Sluice (schema ${version})`
    return refused(file, 'HISTORY_OLDER', why, 'Start the console that owns it, which upgrades it.')
  }
  const fault = tableFault(db, SCHEMA_VERSION)
  return fault === undefined
    ? ok(undefined)
    : refused(file, 'HISTORY_DAMAGED', fault.why, 'Start the console with it once.')
}

/**
 * Opens a read-only connection that never blocks the writer: in WAL mode a reader has its own snapshot. While it has a transaction
 * open the log cannot restart and grows with every write, so keep one for seconds, not for hours.
 *
 * @returns  failures: HISTORY_GONE, _FOREIGN, _NEWER, _OLDER, _DAMAGED, _IN_USE (by an older Sluice), _UNREADABLE.
 */
export function openShared(file: string): Result<{ readonly db: Database.Database }> {
  if (!existsSync(file)) return refused(file, 'HISTORY_GONE', 'there is no such file', 'Name another one.')
  let db: Database.Database | undefined
  try {
    db = new Database(file, { readonly: true, fileMustExist: true, timeout: LOCK_MS })
    db.pragma('query_only = ON')
    db.pragma('trusted_schema = OFF')
    db.pragma(`cache_size = -${CACHE_KIB}`)
    const checked = check(file, db)
    if (checked.ok) return ok({ db })
    db.close()
    return checked
  } catch (e) {
    db?.close()
    const code = e instanceof Error && 'code' in e ? String(e.code) : ''
    const why = e instanceof Error ? e.message : String(e)
    if (code === 'SQLITE_NOTADB') return refused(file, 'HISTORY_FOREIGN', 'it is not a database', 'Name another one.')
    if (code.startsWith('SQLITE_BUSY')) {
      return refused(file, 'HISTORY_IN_USE', 'a Sluice with an exclusive lock is using it', 'Close that one.')
    }
    return refused(file, 'HISTORY_UNREADABLE', why, 'Check the file and its permissions.')
  }
}
