/**
 * Opens the history file: one writer, WAL, concurrent readers. A newer file is refused, an unreadable one is set aside (never
 * deleted) and a new one started, and a second instance on the same file is refused.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { lockFile, type FileLock } from './file-lock.ts'
import { tableFault } from './expected-schema.ts'
import { APPLICATION_ID, migrate, SCHEMA_VERSION } from './schema.ts'

export interface OpenedHistory {
  readonly db: Database.Database
  /** Message for the operator if a damaged file was set aside. */
  readonly notice: Failure | undefined
  /** Closes the file and releases its lock. */
  readonly close: () => void
}

/** Lock timeout. */
const LOCK_MS = 500

const OWNER_ONLY = 0o600
const CACHE_KIB = 64 * 1024
const SQLITE_HEAD = 'SQLite format 3\0'

const isSqlite = (e: unknown): e is { code: string; message: string } =>
  e instanceof Error && 'code' in e && typeof e.code === 'string' && e.code.startsWith('SQLITE_')

/**
 * True if a file has several names (hard links). It would then have several locks and logs, too: it is opened exclusively, without
 * concurrent readers.
 */
const hasNames = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.nlink ?? 1) > 1

/**
 * Checks the identity of a file without writing to it: even the switch to WAL would alter another program's database. The file may
 * come from anywhere, so its schema must be that of its version before anything else in it is read, checked or migrated: a trigger
 * would run with the migration, a generated column with the page check.
 */
function refusal(file: string): Failure | 'damaged' | undefined {
  const db = new Database(file, { timeout: LOCK_MS })
  try {
    db.pragma('trusted_schema = OFF')
    if (hasNames(file)) db.pragma('locking_mode = EXCLUSIVE')
    const version = Number(db.pragma('user_version', { simple: true }))
    const application = Number(db.pragma('application_id', { simple: true }))
    const tables = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').pluck().get())
    if (tables > 0 && application !== APPLICATION_ID) {
      return {
        code: 'HISTORY_FOREIGN',
        what: `${file} is not used as the history`,
        why: 'it is a database of another program',
        unaffected: 'It was not changed.',
        next: 'Name another file with --history.',
      }
    }
    if (version > SCHEMA_VERSION) {
      return {
        code: 'HISTORY_NEWER',
        what: `the history ${file} cannot be opened`,
        why: `it was written by a newer Sluice (schema ${version}, this one knows ${SCHEMA_VERSION})`,
        unaffected: 'It was not changed.',
        next: 'Start the newer Sluice, or name another file with --history.',
      }
    }
    const fault = tables > 0 ? tableFault(db, version) : undefined
    // Missing or altered definitions are damage. An additional one was created by a program, not by a disk error.
    if (fault?.kind !== 'more') return fault && 'damaged'
    return {
      code: 'HISTORY_ALTERED',
      what: `the history ${file} cannot be opened`,
      why: fault.why,
      unaffected: 'It was not changed, and nothing in it was run.',
      next: 'Get another copy of the file from its source, or name another file with --history.',
    }
  } finally {
    db.close()
  }
}

/** Largest file that is checked page by page when opened. */
const CHECKED_BYTES = 128 * 2 ** 20
/** Tables of samples, of this version and of older ones. */
const SAMPLES: ReadonlySet<string> = new Set(['block', 'job_sample', 'target_sample'])
/** Number of blocks that are read in a larger file. */
const PROBES = 200

/**
 * Damage in a file, as SQLite reports it; undefined if none was found. In a large file every table except that of the samples is
 * checked page by page; of the samples only the newest, the oldest and some between: reading all of them would take too long at
 * start-up.
 */
export function findDamage(db: Database.Database, bytes: number): string | undefined {
  const check = (of: string): string | undefined => {
    const message = String(db.pragma(`quick_check(${of})`, { simple: true }))
    return message === 'ok' ? undefined : message
  }
  if (bytes <= CHECKED_BYTES) return check('1')
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all() as string[]
  for (const table of tables) {
    if (SAMPLES.has(table)) continue
    const message = check(`"${table.replaceAll('"', '""')}"`)
    if (message !== undefined) return message
  }
  // All rows of an older version are read when it is migrated.
  if (!tables.includes('block')) return undefined
  const ends = db.prepare('SELECT min(id) AS first, max(id) AS last FROM block').get() as {
    first: number | null
    last: number | null
  }
  const first = ends.first ?? 0
  const last = ends.last ?? 0
  const probe = db.prepare('SELECT * FROM block WHERE id >= ? ORDER BY id LIMIT 1')
  for (let i = 0; i <= PROBES; i++) probe.get(Math.round(first + ((last - first) * i) / PROBES))
  return undefined
}

const inUse = (file: string): Result<never> =>
  fail({
    code: 'HISTORY_IN_USE',
    what: `the history ${file} cannot be opened`,
    why: 'another Sluice is using it',
    unaffected: 'The other one keeps running.',
    next: 'Use that one, or name another file with --history.',
  })

/**
 * Makes the file private to its user in any folder, as it holds job ids and names; the log and its index inherit its permissions.
 */
function makePrivate(file: string): void {
  if (file === ':memory:') return
  for (const name of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(name)) chmodSync(name, OWNER_ONLY)
}

function tryOpen(file: string): Result<Database.Database, Failure | 'damaged'> {
  let db: Database.Database | undefined
  try {
    if (file !== ':memory:' && !existsSync(file)) closeSync(openSync(file, 'wx', OWNER_ONLY))
    const refused = refusal(file)
    if (refused !== undefined) return fail(refused)
    makePrivate(file)
    db = new Database(file, { timeout: LOCK_MS })
    if (hasNames(file)) db.pragma('locking_mode = EXCLUSIVE')
    // Only possible for a new file: freed pages can be returned to the disk.
    db.pragma('auto_vacuum = INCREMENTAL')
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma(`cache_size = -${CACHE_KIB}`)
    db.exec('BEGIN IMMEDIATE; COMMIT')
    if (findDamage(db, existsSync(file) ? statSync(file).size : 0) !== undefined) {
      db.close()
      return fail('damaged')
    }
    migrate(db)
    return ok(db)
  } catch (e) {
    db?.close()
    if (!isSqlite(e)) throw e
    if (e.code.startsWith('SQLITE_BUSY') || e.code === 'SQLITE_LOCKED') return inUse(file)
    if (e.code === 'SQLITE_NOTADB' || e.code.startsWith('SQLITE_CORRUPT')) return fail('damaged')
    return fail({
      code: 'HISTORY_UNREADABLE',
      what: `the history ${file} cannot be opened`,
      why: e.message,
      next: 'Check the folder and its free space, or name another file with --history.',
    })
  }
}

/**
 * True if a file is, or once was, a database: only then it is set aside as damaged. A file of another kind was named by mistake
 * and stays in place.
 */
function isDatabase(file: string): boolean {
  const head = Buffer.alloc(SQLITE_HEAD.length)
  const handle = openSync(file, 'r')
  try {
    readSync(handle, head, 0, head.length, 0)
  } finally {
    closeSync(handle)
  }
  return head.toString('latin1') === SQLITE_HEAD || file.endsWith('.sqlite')
}

const unusable = (file: string, why: string): Result<never> =>
  fail({
    code: 'HISTORY_UNREADABLE',
    what: `the history ${file} cannot be opened`,
    why,
    next: 'Check the folder and its permissions, or name another file with --history.',
  })

/** Sets a damaged file aside and starts a new one; a file that was never a database is left in place. */
function startAfresh(file: string, nowMs: number): Result<Omit<OpenedHistory, 'close'>> {
  if (!isDatabase(file)) {
    return fail({
      code: 'HISTORY_FOREIGN',
      what: `${file} is not used as the history`,
      why: 'it is not a database',
      unaffected: 'It was not changed.',
      next: 'Name another file with --history.',
    })
  }
  const aside = `${file}.damaged-${new Date(nowMs).toISOString().replace(/[:.]/g, '-')}`
  renameSync(file, aside)
  // The log and index belong to the damaged file; beside a new one they would be replayed into it.
  for (const suffix of ['-wal', '-shm']) if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix)
  const fresh = tryOpen(file)
  if (!fresh.ok) return fresh.error === 'damaged' ? unusable(file, 'the new file is damaged too') : fail(fresh.error)
  return ok({
    db: fresh.value,
    notice: {
      code: 'HISTORY_DAMAGED',
      what: 'The history file was damaged and a new one was started',
      why: `it could not be read as a database; it was kept as ${aside}`,
      unaffected: 'Sampling and rules are not affected.',
      next: 'Keep the file if its past matters: sqlite3 can often recover it.',
    },
  })
}

/**
 * Opens or creates the history.
 *
 * @param file  path, or `:memory:`.
 * @param nowMs wall clock, for the name of a file set aside.
 */
export function openHistory(file: string, nowMs: number): Result<OpenedHistory> {
  const isFile = file !== ':memory:'
  let lock: FileLock | undefined
  let opened: Result<Omit<OpenedHistory, 'close'>> | undefined
  try {
    if (isFile) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      lock = lockFile(file, LOCK_MS)
      if (!lock) return inUse(file)
    }
    const first = tryOpen(file)
    if (first.ok) opened = ok({ db: first.value, notice: undefined })
    else opened = first.error === 'damaged' ? startAfresh(file, nowMs) : fail(first.error)
  } catch (e) {
    opened = unusable(file, e instanceof Error ? e.message : String(e))
  } finally {
    if (opened?.ok !== true) lock?.release()
  }
  if (!opened.ok) return opened
  const { db, notice } = opened.value
  const close = (): void => {
    try {
      db.close()
    } finally {
      lock?.release()
    }
  }
  return ok({ db, notice, close })
}
