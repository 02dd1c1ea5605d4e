/**
 * SQL over one cluster of an opened file: the tables of `tables.ts` as virtual tables of an empty database in memory. The file itself
 * is not attached, and only one SELECT is accepted, so that a query can neither write nor reach another file.
 *
 * A query can run forever or fill the memory, and SQLite cannot be interrupted from its own thread: `runQuery` runs in a process that
 * is killed at its limits (electron/foreign).
 */
import Database from 'better-sqlite3'
import * as z from 'zod'
import { TIERS, tierId, type TierId } from '#core/api/history.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { HISTORY_TABLES, type HistoryTable, type TableRange, type TableSource } from './tables.ts'

/** Rows of an answer: by default, and at most. */
export const QUERY_ROWS = { byDefault: 10_000, most: 1_000_000 } as const
/** Run time, s. */
export const QUERY_SECONDS = { byDefault: 30, most: 3600 } as const
/** Longest text of a query. */
export const SQL_MOST = 100_000
/** Longest answer, bytes. */
const ANSWER_MOST = 256 * 2 ** 20

export const sqlQuery = z.object({
  sql: z.string().max(SQL_MOST),
  rows: z.number().int().min(1).max(QUERY_ROWS.most),
  /** Range and tier of a table whose parameters do not name others. */
  fromMs: z.number(),
  toMs: z.number(),
  tier: tierId.nullable(),
})
export type SqlQuery = z.infer<typeof sqlQuery>

export const queryAnswer = z.object({
  columns: z.array(z.string()),
  rows: z.number().int(),
  /** There were more rows than `rows`. */
  isCut: z.boolean(),
})
export type QueryAnswer = z.infer<typeof queryAnswer>

const refused = (code: string, why: string, next: string): Failure => ({
  code,
  what: 'The query was not run',
  why,
  unaffected: 'The file was not changed.',
  next,
})

const NEXT = `Write one SELECT over the tables ${HISTORY_TABLES.map(({ name }) => name).join(', ')}, or columns.`

/** Parameter of a table that is not valid; SQLite passes it on from inside a row generator. */
class BadParameter extends Error {}

/** Unix ms, or ISO 8601. */
function instantOf(value: unknown, name: string, byDefault: number): number {
  if (value === undefined || value === null) return byDefault
  const ms = typeof value === 'string' ? Date.parse(value) : Number(value)
  if (Number.isFinite(ms)) return ms
  throw new BadParameter(`${name} must be Unix ms or an ISO 8601 time`)
}

function tierOf(value: unknown, byDefault: TierId | null): TierId | null {
  if (value === undefined || value === null) return byDefault
  const read = tierId.safeParse(value)
  if (read.success) return read.data
  throw new BadParameter(`tier must be one of ${TIERS.join(', ')}`)
}

function addTable(db: Database.Database, table: HistoryTable, source: TableSource, byDefault: TableRange): void {
  const columns = table.columns.map(({ name }) => name)
  const rowsOf = (tier: unknown, from: unknown, to: unknown): Iterable<readonly unknown[]> =>
    table.rows(source, {
      tier: tierOf(tier, byDefault.tier),
      fromMs: instantOf(from, 'from_ms', byDefault.fromMs),
      toMs: instantOf(to, 'to_ms', byDefault.toMs),
    })
  if (table.hasTiers) {
    db.table(table.name, {
      columns,
      parameters: ['tier', 'from_ms', 'to_ms'],
      *rows(tier: unknown, from: unknown, to: unknown) {
        yield* rowsOf(tier, from, to)
      },
    })
  } else {
    db.table(table.name, {
      columns,
      parameters: ['from_ms', 'to_ms'],
      *rows(from: unknown, to: unknown) {
        yield* rowsOf(undefined, from, to)
      },
    })
  }
}

/** Adds the table that lists the columns of the others. */
function addColumns(db: Database.Database): void {
  db.table('columns', {
    columns: ['table_name', 'column_name', 'type', 'unit', 'about'],
    *rows() {
      for (const { name, columns } of HISTORY_TABLES)
        for (const c of columns) yield [name, c.name, c.type, c.unit, c.about]
    },
  })
}

/** Blanks and comments before the first keyword. */
const BEFORE = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/
const FIRST = /^(?:SELECT|WITH|VALUES)\b/i

/** Value as JSON shows it: blobs as SQL literals. */
function shown(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return `x'${value.toString('hex')}'`
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

const why = (e: unknown): string => (e instanceof Error ? e.message : String(e))
const LINES_MOST = 64 * 1024

/**
 * Runs one SELECT.
 *
 * @param write  takes the rows as JSON arrays, one a line, in parts.
 * @returns      failures: SQL_NOT_SELECT, SQL_INVALID, QUERY_TOO_LARGE if the rows exceed 256 MiB.
 */
export function runQuery(source: TableSource, query: SqlQuery, write: (lines: string) => void): Result<QueryAnswer> {
  if (!FIRST.test(query.sql.replace(BEFORE, '')))
    return fail(refused('SQL_NOT_SELECT', 'only SELECT, WITH and VALUES are accepted', NEXT))
  const db = new Database(':memory:')
  try {
    // Sorting stays in memory, where its limit ends it.
    db.pragma('temp_store = MEMORY')
    db.pragma('trusted_schema = OFF')
    for (const table of HISTORY_TABLES) addTable(db, table, source, query)
    addColumns(db)
    db.pragma('query_only = ON')
    return answered(db, query, write)
  } catch (e) {
    return fail(refused('SQL_INVALID', why(e), NEXT))
  } finally {
    db.close()
  }
}

function answered(db: Database.Database, query: SqlQuery, write: (lines: string) => void): Result<QueryAnswer> {
  const statement = db.prepare(query.sql)
  if (!statement.reader || !statement.readonly)
    return fail(refused('SQL_NOT_SELECT', 'the statement does not only read', NEXT))
  const columns = statement.columns().map(({ name }) => name)
  let rows = 0
  let bytes = 0
  let isCut = false
  let lines = ''
  for (const row of statement.raw(true).iterate() as Iterable<unknown[]>) {
    if (rows === query.rows) {
      isCut = true
      break
    }
    rows++
    lines += `${JSON.stringify(row.map(shown))}\n`
    if (lines.length < LINES_MOST) continue
    bytes += Buffer.byteLength(lines)
    if (bytes > ANSWER_MOST) return fail(refused('QUERY_TOO_LARGE', 'its rows exceed 256 MiB', 'Select fewer rows.'))
    write(lines)
    lines = ''
  }
  write(lines)
  return ok({ columns, rows, isCut })
}
