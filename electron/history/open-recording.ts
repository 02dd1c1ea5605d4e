/**
 * Opens a file of the history to read it: a recording, or a history, also one that a console has open. A file may come from anywhere: only one
 * whose tables are ours word for word is read, and nothing in it is run.
 */
import Database from 'better-sqlite3'
import { existsSync, statSync } from 'node:fs'
import * as z from 'zod'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { FileReader } from './file-reader.ts'
import { findDamage } from './open.ts'
import { tableFault } from './own-tables.ts'
import type { HistoryReader } from './reader.ts'
import { RECORDING, type RecordingFacts } from './recording-facts.ts'
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts'

const refused = (file: string, code: string, why: string, next: string): Result<never> =>
  fail({ code, what: `${file} cannot be opened`, why, unaffected: 'It was not changed.', next })

const damaged = (file: string, why: string): Result<never> =>
  refused(file, 'RECORDING_DAMAGED', why, 'Get the file once more from where it was written.')

/** The last instant that a date can name. */
const LAST_MS = 8.64e15
const NAME_MAX = 256
const instant = z.number().min(0).max(LAST_MS)
const factsSchema = z.object({
  ...{ cluster: z.string().max(NAME_MAX), kind: z.string().max(NAME_MAX), fromMs: instant, toMs: instant },
})
/** Columns of instants that are read. */
const TIMES = [
  ...['instant.at_ms', 'block.at_ms', 'event.at_ms', 'kept_frame.at_ms', 'rule.from_ms', 'rule.to_ms'],
  'job.first_ms',
] as const

/** Columns of names and sentences, and the most bytes that one of them has: a page of a view holds hundreds. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  job: ['job_id', 'user', 'account', 'exe'],
  target: ['name', 'node'],
  rule: ['server', 'name', 'conditions'],
  event: ['subject', 'text', 'place'],
}
const TEXT_MOST = 65_536

/** What a recording is of; undefined for a history. */
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

export interface OpenedFile {
  readonly db: Database.Database
  readonly bytes: number
  /** Of a recording. */
  readonly facts: RecordingFacts | undefined
  readonly clusters: readonly { readonly id: number; readonly kind: string; readonly name: string }[]
}

function check(file: string, db: Database.Database, bytes: number): Failure | undefined {
  const number = (name: string): number => Number(db.pragma(name, { simple: true }))
  const [version, application] = [number('user_version'), number('application_id')]
  const failure = (r: Result<never>): Failure | undefined => (r.ok ? undefined : r.error)
  if (application !== APPLICATION_ID) {
    const next = 'Name a recording that Sluice wrote (.qosrec).'
    return failure(refused(file, 'RECORDING_FOREIGN', 'it is a database of another program', next))
  }
  if (version > SCHEMA_VERSION) {
    const why = `it was written by a newer Sluice (schema ${version}, this one knows ${SCHEMA_VERSION})`
    return failure(refused(file, 'RECORDING_NEWER', why, 'Open it with that Sluice, or bring this one up to date.'))
  }
  if (version < SCHEMA_VERSION) {
    const why = `it is a history of an older Sluice (schema ${version})`
    return failure(refused(file, 'RECORDING_OLDER', why, 'Start the console with it once: --history FILE.'))
  }
  const fault = tableFault(db, SCHEMA_VERSION)
  if (fault !== undefined) return failure(damaged(file, fault.why))
  const damage = findDamage(db, bytes)
  if (damage !== undefined) return failure(damaged(file, damage))
  const isOff = TIMES.some((name) => {
    const [table = '', column = ''] = name.split('.')
    return db.prepare(`SELECT 1 FROM ${table} WHERE ${column} NOT BETWEEN 0 AND ${LAST_MS} LIMIT 1`).get() !== undefined
  })
  if (isOff) return failure(damaged(file, 'it names instants that no clock has'))
  const isLong = Object.entries(TEXTS).some(
    ([table, columns]) =>
      db
        .prepare(`SELECT 1 FROM ${table} WHERE ${columns.map((c) => `octet_length(${c}) > ${TEXT_MOST}`).join(' OR ')}`)
        .get() !== undefined,
  )
  return isLong ? failure(damaged(file, 'it has names that are longer than any can be')) : undefined
}

/** Reading from a pipe or a device could wait for ever. */
function fileOf(file: string): { readonly size: number; readonly isFile: boolean } {
  const stat = statSync(file)
  return { size: stat.size, isFile: stat.isFile() }
}

/** Opens a file for reading. Failures: RECORDING_GONE, _FOREIGN, _NEWER, _OLDER, _DAMAGED, _IN_USE. */
export function openFile(file: string): Result<OpenedFile> {
  if (!existsSync(file)) return refused(file, 'RECORDING_GONE', 'there is no such file', 'Name another one.')
  let db: Database.Database | undefined
  try {
    const { size: bytes, isFile } = fileOf(file)
    if (!isFile) return refused(file, 'RECORDING_UNREADABLE', 'it is no file', 'Name another one.')
    db = new Database(file, { readonly: true, fileMustExist: true, timeout: 500 })
    db.pragma('trusted_schema = OFF')
    db.pragma('cell_size_check = ON')
    const failure = check(file, db, bytes)
    if (failure) {
      db.close()
      return fail(failure)
    }
    const clusters = db
      .prepare(`SELECT id, kind, substr(name, 1, ${NAME_MAX}) AS name FROM cluster ORDER BY id`)
      .all() as OpenedFile['clusters']
    return ok({ db, bytes, facts: factsOf(db), clusters })
  } catch (e) {
    db?.close()
    const code = e instanceof Error && 'code' in e ? String(e.code) : ''
    if (code === 'SQLITE_NOTADB') {
      return refused(file, 'RECORDING_FOREIGN', 'it is not a database', 'Name a recording that Sluice wrote (.qosrec).')
    }
    if (code.startsWith('SQLITE_BUSY')) {
      const next = 'Close that Sluice, or let it write a recording.'
      return refused(file, 'RECORDING_IN_USE', 'a Sluice that runs is using it', next)
    }
    const why = e instanceof Error ? e.message : String(e)
    if (code.startsWith('SQLITE_CORRUPT')) return damaged(file, why)
    return refused(file, 'RECORDING_UNREADABLE', why, 'Check the file and its rights.')
  }
}

/**
 * Opens a recording, or a history, to read one cluster of it.
 *
 * @param cluster  its name; by default the one recorded, or the newest.
 */
export function openRecording(file: string, cluster?: string): Result<HistoryReader> {
  const opened = openFile(file)
  if (!opened.ok) return opened
  const { db, clusters } = opened.value
  const chosen = clusters.findLast((c) => cluster === undefined || c.name === cluster)
  if (!chosen) {
    db.close()
    return refused(file, 'RECORDING_EMPTY', 'nothing is kept in it of that cluster', 'Name another cluster or file.')
  }
  return ok(new FileReader(db, chosen.id, { name: chosen.name, isOwner: true }))
}
