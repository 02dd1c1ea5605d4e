/**
 * Migrates a copy of an older recording to the current version. The file may come from anywhere: its tables must match its version
 * exactly before anything is done with it, so that nothing in it is executed, and what could take forever is refused. The copy is
 * changed in place: after a failure it must not be used.
 */
import Database from 'better-sqlite3'
import { constants, copyFileSync, existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'
import { checkFile, type CheckedFile } from './open-recording.ts'
import { findDamage } from './open.ts'
import { tableFault } from './expected-schema.ts'
import { APPLICATION_ID, migrate, SCHEMA_VERSION } from './schema.ts'
import { windowOf } from './schema-4.ts'

/** Largest size of an older file. */
const BYTES_MAX = 2 ** 30
/** Largest growth of the copy during the migration: a multiple of the file, plus room for small ones. */
const GROWTH = 3
const RESERVE_BYTES = 64 * 2 ** 20
const SERIES_MAX = 1_000_000
/** Most windows of samples times series: each is one query. */
const STEPS_MAX = 20_000_000
const NAME_MAX = 1024
const LAST_MS = 8.64e15
/** First version with samples in blocks, which are not migrated. */
const BLOCKS_SINCE = 4
/** Columns with instants and names, of the versions before blocks. */
const TIMES = ['job_sample.at_ms', 'target_sample.at_ms', 'job.first_ms', 'source.started_ms', 'rule.from_ms'] as const
const NAMES = ['job.job_id', 'job.user', 'job.account', 'target.name', 'target.node', 'source.cluster'] as const

const refused = (file: string, code: string, why: string, next: string): Result<never> =>
  fail({ code, what: `${file} cannot be opened`, why, unaffected: 'The original was not changed.', next })
const damaged = (file: string, why: string): Result<never> =>
  refused(file, 'RECORDING_DAMAGED', why, 'Get another copy of the file from its source.')
const tooLarge = (file: string): Result<never> => {
  const why = `an older file of more than ${BYTES_MAX / 2 ** 20} MiB is not upgraded`
  return refused(file, 'RECORDING_TOO_LARGE', why, 'Open it with the Sluice that wrote it.')
}

/**
 * Checks a file without blocks for content that would take too long to migrate or that Sluice does not write; undefined if there
 * is none.
 */
function faultOf(db: Database.Database): string | undefined {
  const any = (sql: string): boolean => db.prepare(sql).get() !== undefined
  const one = (sql: string): number => Number(db.prepare(sql).pluck().get())
  const table = (s: string) => s.split('.')[0] ?? ''
  const column = (s: string) => s.split('.')[1] ?? ''
  for (const t of TIMES) {
    if (any(`SELECT 1 FROM ${table(t)} WHERE ${column(t)} NOT BETWEEN 0 AND ${LAST_MS} LIMIT 1`)) {
      return 'it has invalid times'
    }
  }
  for (const n of NAMES) {
    if (any(`SELECT 1 FROM ${table(n)} WHERE length(${column(n)}) > ${NAME_MAX} LIMIT 1`))
      return 'a name in it is too long'
  }
  const series = one('SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM target)')
  if (series > SERIES_MAX) return 'it has more jobs than can be upgraded'
  for (const tier of [0, 1]) {
    const spanMs = one(
      `SELECT ifnull(max(at_ms) - min(at_ms), 0) FROM (SELECT at_ms FROM job_sample WHERE tier = ${tier}
       UNION ALL SELECT at_ms FROM target_sample WHERE tier = ${tier})`,
    )
    // Clusters are migrated one after another, each no longer than the whole.
    const clusters = one('SELECT count(*) FROM (SELECT DISTINCT kind, cluster FROM source)')
    const windows = Math.ceil(spanMs / windowOf(series, tier) + 1) * Math.max(1, clusters)
    if (windows * Math.max(1, series) > STEPS_MAX) return 'its samples are too far apart to be upgraded'
  }
  return undefined
}

/**
 * Migrates a private copy.
 *
 * @param file  a copy that no one else uses.
 * @returns     ok, also for a file of the current version. Failures: RECORDING_FOREIGN, _NEWER, _DAMAGED, _TOO_LARGE, _UNREADABLE.
 */
export function upgradeCopy(file: string): Result<undefined> {
  let db: Database.Database | undefined
  try {
    const stat = statSync(file)
    if (!stat.isFile()) return refused(file, 'RECORDING_UNREADABLE', 'it is not a regular file', 'Name another one.')
    db = new Database(file, { fileMustExist: true, timeout: 500 })
    for (const pragma of ['trusted_schema = OFF', 'cell_size_check = ON', 'foreign_keys = OFF']) db.pragma(pragma)
    const [version, application] = ['user_version', 'application_id'].map((p) =>
      Number(db?.pragma(p, { simple: true })),
    )
    if (application !== APPLICATION_ID || version === undefined || version < 1) {
      return refused(file, 'RECORDING_FOREIGN', 'it is a database of another program', 'Name one that Sluice wrote.')
    }
    if (version > SCHEMA_VERSION) {
      const why = `it was written by a newer Sluice (schema ${version}, this one knows ${SCHEMA_VERSION})`
      return refused(file, 'RECORDING_NEWER', why, 'Open it with that Sluice, or update this one.')
    }
    if (version === SCHEMA_VERSION) return ok(undefined)
    if (stat.size > BYTES_MAX) return tooLarge(file)
    const fault =
      tableFault(db, version)?.why ?? findDamage(db, 0) ?? (version < BLOCKS_SINCE ? faultOf(db) : undefined)
    if (fault !== undefined) return damaged(file, fault)
    const pageBytes = Number(db.pragma('page_size', { simple: true }))
    db.pragma(`max_page_count = ${Math.ceil((GROWTH * stat.size + RESERVE_BYTES) / pageBytes)}`)
    // A copy needs no crash-safe journal.
    db.pragma('journal_mode = MEMORY')
    db.pragma('synchronous = OFF')
    migrate(db)
    return ok(undefined)
  } catch (e) {
    const code = e instanceof Error && 'code' in e ? String(e.code) : ''
    const why = e instanceof Error ? e.message : String(e)
    if (code === 'SQLITE_NOTADB') return refused(file, 'RECORDING_FOREIGN', 'it is not a database', 'Name another one.')
    if (code === 'SQLITE_FULL') {
      const next = 'Free space where temporary files are kept, or open it with the Sluice that wrote it.'
      return refused(file, 'FILE_TOO_LARGE', 'it grows too large when it is upgraded', next)
    }
    if (/^SQLITE_(?:CORRUPT|CONSTRAINT|MISMATCH|TOOBIG|ERROR)/.test(code)) return damaged(file, why)
    return refused(file, 'RECORDING_UNREADABLE', why, 'Check the folder for temporary files and its space.')
  } finally {
    db?.close()
    for (const remnant of ['-journal', '-wal', '-shm']) rmSync(file + remnant, { force: true })
  }
}

/** Name of the copy. */
const COPY = 'history.sqlite'

/**
 * Copies an older recording, or history, into a private folder, migrates the copy and checks it.
 *
 * @param folder  private and empty.
 * @returns       the copy. Failures: those of `upgradeCopy` and of `checkFile`.
 */
export function copyUpgraded(file: string, folder: string): Result<CheckedFile> {
  const { size } = statSync(file)
  if (size > BYTES_MAX) return tooLarge(file)
  const copy = join(folder, COPY)
  // A log beside the file belongs to its contents.
  for (const suffix of ['', '-wal', '-journal']) {
    if (existsSync(file + suffix) && statSync(file + suffix).size <= BYTES_MAX) {
      copyFileSync(file + suffix, copy + suffix, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    }
  }
  const upgraded = upgradeCopy(copy)
  const checked = upgraded.ok ? checkFile(copy) : upgraded
  return checked.ok ? checked : fail({ ...checked.error, what: `${file} cannot be opened` })
}
