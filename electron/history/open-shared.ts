/**
 * Opens a history to read it while a console has it open: for an export in a thread of its own, and for another process.
 *
 * It is the console's own file, in a folder that is its user's alone, and was looked through when the console opened it: so its tables
 * are compared (a few milliseconds), and its pages are not read through (seconds). What is damaged meets whoever reads it as an error.
 */
import Database from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { fail, ok, type Result } from '#core/base/result.ts'
import { tableFault } from './own-tables.ts'
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts'

/** How long a lock is waited for: readers are only turned away while a log is being recovered or the file vacuumed. */
const LOCK_MS = 2000
const CACHE_KIB = 16 * 1024

const refused = (file: string, code: string, why: string, next: string): Result<never> =>
  fail({ code, what: `the history ${file} cannot be read`, why, unaffected: 'It was not changed.', next })

function check(file: string, db: Database.Database): Result<undefined> {
  const number = (name: string): number => Number(db.pragma(name, { simple: true }))
  const [version, application] = [number('user_version'), number('application_id')]
  const other = 'Name the history of a console.'
  if (application !== APPLICATION_ID)
    return refused(file, 'HISTORY_FOREIGN', 'it is a database of another program', other)
  if (version > SCHEMA_VERSION) {
    const why = `it was written by a newer Sluice (schema ${version}, this one knows ${SCHEMA_VERSION})`
    return refused(file, 'HISTORY_NEWER', why, 'Read it with that Sluice.')
  }
  if (version < SCHEMA_VERSION) {
    const why = `it is of an older Sluice (schema ${version})`
    return refused(file, 'HISTORY_OLDER', why, 'Start the console whose history it is: it brings it up to date.')
  }
  const fault = tableFault(db, SCHEMA_VERSION)
  return fault === undefined
    ? ok(undefined)
    : refused(file, 'HISTORY_DAMAGED', fault.why, 'Start the console with it once.')
}

/**
 * A connection that only reads, and never keeps the writer waiting: in WAL a reader has its own snapshot. While a transaction of it is
 * open the log cannot begin anew and grows by what is written meanwhile, so keep one for seconds, not for hours.
 *
 * @returns  failures: HISTORY_GONE, _FOREIGN, _NEWER, _OLDER, _DAMAGED, _IN_USE (an older Sluice has it), _UNREADABLE.
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
      return refused(file, 'HISTORY_IN_USE', 'a Sluice that shares it with nobody is using it', 'Close that one.')
    }
    return refused(file, 'HISTORY_UNREADABLE', why, 'Check the file and its rights.')
  }
}
