/**
 * Opens a history file for reading: a recording, or a history, also while a console has it open. A file may come from anywhere, so
 * it is opened in two steps. `checkFile` reads all of it, which a hostile file can make take forever: it runs where it can be
 * killed (electron/foreign). `openChecked` then opens exactly the file that was checked, and verifies its schema once more.
 */
import Database from 'better-sqlite3'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import * as z from 'zod'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { stampOf } from '../files/file-stamp.ts'
import { FileReader } from './file-reader.ts'
import { findDamage } from './open.ts'
import { tableFault } from './expected-schema.ts'
import { RECORDING, type RecordingFacts } from './recording-facts.ts'
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts'

/** Lock timeout. */
const LOCK_MS = 500
const RECORDING_NEXT = 'Name a recording that Sluice wrote (.qosrec).'

const refused = (file: string, code: string, why: string, next: string): Failure => ({
  code,
  what: `${file} cannot be opened`,
  why,
  unaffected: 'It was not changed.',
  next,
})

const damaged = (file: string, why: string): Failure =>
  refused(file, 'RECORDING_DAMAGED', why, 'Get another copy of the file from its source.')

/** Latest instant that a Date can represent. */
const LAST_MS = 8.64e15
const NAME_MAX = 256
const instant = z.number().min(0).max(LAST_MS)
const factsSchema = z.object({
  cluster: z.string().max(NAME_MAX),
  kind: z.string().max(NAME_MAX),
  fromMs: instant,
  toMs: instant,
})
/** Most clusters in one file. */
const CLUSTERS_MAX = 10_000
/** Columns with instants. */
const TIMES = [
  'instant.at_ms',
  'block.at_ms',
  'event.at_ms',
  'convoy.from_ms',
  'convoy.to_ms',
  'rule.from_ms',
  'rule.to_ms',
  'job.first_ms',
] as const

/** Columns with names and texts, and the largest size of each in bytes: a page of a view holds hundreds. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  job: ['job_id', 'user', 'account', 'exe'],
  target: ['name', 'node'],
  rule: ['server', 'name', 'conditions'],
  event: ['subject', 'text', 'place'],
  plane_series: ['name', 'place', 'job_id'],
  convoy: ['resource', 'server'],
  ldlm_namespace: ['node', 'name'],
}
const TEXT_MOST = 65_536

/** Facts of a recording; undefined for a history. */
function factsOf(db: Database.Database): RecordingFacts | undefined {
  const text = db.prepare('SELECT value FROM setting WHERE name = ?').pluck().get(RECORDING) as string | undefined
  if (text === undefined) return undefined
  try {
    const read = factsSchema.safeParse(JSON.parse(text))
    return read.success ? read.data : undefined
  } catch {
    return undefined
  }
}

/** File that was read completely and is a valid history. */
export const checkedFile = z.object({
  file: z.string(),
  /** State at the time of the check. */
  state: z.string(),
  bytes: z.number(),
  /** Facts of a recording; only for one. */
  facts: factsSchema.optional(),
  clusters: z.array(z.object({ id: z.number(), kind: z.string(), name: z.string() })).max(CLUSTERS_MAX),
})
export type CheckedFile = z.infer<typeof checkedFile>

export interface OpenedFile {
  readonly checked: CheckedFile
  readonly db: Database.Database
  /** Closes the connection, and removes the copy if one was made. */
  readonly close: () => void
}

/** Offset of the file format version in SQLite's header, and its value in WAL mode. */
const LOG_AT = 18
const WITH_LOG = 2

function hasLog(file: string): boolean {
  const byte = Buffer.alloc(1)
  const handle = openSync(file, 'r')
  try {
    return readSync(handle, byte, 0, 1, LOG_AT) === 1 && byte[0] === WITH_LOG
  } finally {
    closeSync(handle)
  }
}

/**
 * State that must be unchanged when a checked file is opened. For a history that a console may be writing to (WAL mode, owned by
 * this user, not writable for others) only its identity: its contents change all the time.
 */
function stateOf(file: string): string {
  const stat = statSync(file)
  const isTrusted = stat.uid === (process.getuid?.() ?? stat.uid) && (stat.mode & 0o022) === 0
  if (isTrusted && hasLog(file)) return `live ${stat.dev} ${stat.ino}`
  // A log beside the file belongs to its contents; readers leave an empty one.
  const logs = ['-wal', '-journal'].map((suffix) => file + suffix)
  return [file, ...logs]
    .map((name) => ((statSync(name, { throwIfNoEntry: false })?.size ?? 0) > 0 ? stampOf(name) : ''))
    .join('; ')
}

/** Returns undefined if the header and schema are those of a history of this version; cheap. */
function checkSchema(file: string, db: Database.Database): Failure | undefined {
  const number = (name: string): number => Number(db.pragma(name, { simple: true }))
  const version = number('user_version')
  if (number('application_id') !== APPLICATION_ID) {
    return refused(file, 'RECORDING_FOREIGN', 'it is a database of another program', RECORDING_NEXT)
  }
  if (version > SCHEMA_VERSION) {
    const why = `it was written by a newer Sluice (schema ${version}, this one knows ${SCHEMA_VERSION})`
    return refused(file, 'RECORDING_NEWER', why, 'Open it with that Sluice, or update this one.')
  }
  if (version < SCHEMA_VERSION) {
    const why = `it is a history of an older Sluice (schema ${version})`
    return refused(file, 'RECORDING_OLDER', why, 'Open it with the Sluice that wrote it.')
  }
  const fault = tableFault(db, SCHEMA_VERSION)
  return fault && damaged(file, fault.why)
}

/** Reads all pages, then the values that views rely on. */
function checkContents(file: string, db: Database.Database): Failure | undefined {
  const damage = findDamage(db, 0)
  if (damage !== undefined) return damaged(file, damage)
  const isOff = TIMES.some((name) => {
    const [table = '', column = ''] = name.split('.')
    return db.prepare(`SELECT 1 FROM ${table} WHERE ${column} NOT BETWEEN 0 AND ${LAST_MS} LIMIT 1`).get() !== undefined
  })
  if (isOff) return damaged(file, 'it has invalid times')
  const isLong = Object.entries(TEXTS).some(
    ([table, columns]) =>
      db
        .prepare(`SELECT 1 FROM ${table} WHERE ${columns.map((c) => `octet_length(${c}) > ${TEXT_MOST}`).join(' OR ')}`)
        .get() !== undefined,
  )
  if (isLong) return damaged(file, 'it has names that are too long')
  const clusters = Number(db.prepare('SELECT count(*) FROM cluster').pluck().get())
  return clusters > CLUSTERS_MAX ? damaged(file, `it has more than ${CLUSTERS_MAX} clusters`) : undefined
}

/** Runs `use` on a read-only connection; SQLite errors become failures. */
function onFile<T>(file: string, use: (db: Database.Database) => Result<T>, keepOpen: boolean): Result<T> {
  if (!existsSync(file)) return fail(refused(file, 'RECORDING_GONE', 'there is no such file', 'Name another one.'))
  let db: Database.Database | undefined
  let isKept = false
  try {
    // Reading from a pipe or a device could block forever.
    if (!statSync(file).isFile())
      return fail(refused(file, 'RECORDING_UNREADABLE', 'it is not a regular file', 'Name another one.'))
    db = new Database(file, { readonly: true, fileMustExist: true, timeout: LOCK_MS })
    db.pragma('trusted_schema = OFF')
    db.pragma('cell_size_check = ON')
    const used = use(db)
    isKept = keepOpen && used.ok
    return used
  } catch (e) {
    return fail(sqliteFailure(file, e))
  } finally {
    if (!isKept) db?.close()
  }
}

function sqliteFailure(file: string, e: unknown): Failure {
  const code = e instanceof Error && 'code' in e ? String(e.code) : ''
  if (code === 'SQLITE_NOTADB') return refused(file, 'RECORDING_FOREIGN', 'it is not a database', RECORDING_NEXT)
  if (code.startsWith('SQLITE_BUSY')) {
    const next = 'Close that Sluice, or let it write a recording.'
    return refused(file, 'RECORDING_IN_USE', 'a running Sluice is using it', next)
  }
  const why = e instanceof Error ? e.message : String(e)
  // Includes a schema that SQLite cannot read.
  if (/^SQLITE_(?:CORRUPT|ERROR|TOOBIG|MISMATCH)/.test(code)) return damaged(file, why)
  return refused(file, 'RECORDING_UNREADABLE', why, 'Check the file and its permissions.')
}

const changed = (file: string): Failure =>
  refused(file, 'FILE_CHANGED', 'it changed while it was being checked', 'Open it again when nothing writes to it.')

/**
 * Reads a file completely. A hostile one can make this take forever: call it in a process that can be killed.
 *
 * Failures: RECORDING_GONE, _UNREADABLE, _FOREIGN, _NEWER, _OLDER, _DAMAGED, _IN_USE, FILE_CHANGED.
 */
export function checkFile(file: string): Result<CheckedFile> {
  let before: string | undefined
  const checked = onFile(
    file,
    (db): Result<CheckedFile> => {
      before = stateOf(file)
      const failure = checkSchema(file, db) ?? checkContents(file, db)
      if (failure) return fail(failure)
      const sql = `SELECT id, substr(kind, 1, ${NAME_MAX}) AS kind, substr(name, 1, ${NAME_MAX}) AS name FROM cluster ORDER BY id`
      const clusters = db.prepare(sql).all() as CheckedFile['clusters']
      return ok({ file, state: before, bytes: statSync(file).size, facts: factsOf(db), clusters })
    },
    false,
  )
  if (!checked.ok) return checked
  return stateOf(file) === before ? checked : fail(changed(file))
}

/** Opens a checked file. Failures: those of `checkFile`, FILE_CHANGED if it is not the one that was checked. */
export function openChecked(checked: CheckedFile): Result<OpenedFile> {
  const { file } = checked
  return onFile(
    file,
    (db): Result<OpenedFile> => {
      if (stateOf(file) !== checked.state) return fail(changed(file))
      const failure = checkSchema(file, db)
      return failure ? fail(failure) : ok({ checked, db, close: () => void db.close() })
    },
    true,
  )
}

/**
 * Creates a reader of one cluster of an opened file, which is closed with it.
 *
 * @param cluster  its name; by default the one recorded, or the newest.
 * @returns        failure: RECORDING_EMPTY; the file is closed then.
 */
export function readerOf(opened: OpenedFile, cluster?: string): Result<FileReader> {
  const { file, clusters } = opened.checked
  const chosen = clusters.findLast((c) => cluster === undefined || c.name === cluster)
  if (chosen)
    return ok(new FileReader(opened.db, chosen.id, { name: chosen.name, isOwner: true, close: () => opened.close() }))
  opened.close()
  return fail(refused(file, 'RECORDING_EMPTY', 'it has no data of that cluster', 'Name another cluster or file.'))
}
