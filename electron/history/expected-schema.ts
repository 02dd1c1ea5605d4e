/**
 * Exact schema of each version of the history. A file from another origin is only read if its schema is one of these: anything
 * else in it (a trigger, a view, a generated column, a virtual table, under any name) could only be there to be executed, or to
 * take time.
 */
import Database from 'better-sqlite3'
import { migrateTo } from './schema.ts'

/** Schema of one version: definitions by kind and name, and the length of the longest. */
interface Schema {
  readonly objects: ReadonlyMap<string, string>
  readonly longest: number
}

const schemas = new Map<number, Schema>()

/**
 * Everything that SQLite reads as schema, including objects it creates itself: these (the index of a UNIQUE, sqlite_sequence) are
 * in the reference as well, so no name is exempt. A file may have any name and any text in its sqlite_schema.
 */
const OBJECTS = `SELECT typeof(sql) || ' ' || substr(type, 1, @most) || ' ' || substr(name, 1, @most) || ' ' || substr(tbl_name, 1, @most) AS id,
  substr(ifnull(sql, ''), 1, @most) AS text FROM sqlite_schema`

/** Longer than any definition of Sluice, characters. */
const TEXT_MOST = 100_000

interface Row {
  readonly id: string
  readonly text: string
}

/** Schema of a version, as its migrations leave it. */
function schemaOf(version: number): Schema {
  const known = schemas.get(version)
  if (known) return known
  const db = new Database(':memory:')
  migrateTo(db, version)
  const rows = db.prepare(OBJECTS).all({ most: TEXT_MOST }) as Row[]
  db.close()
  const schema = {
    objects: new Map(rows.map(({ id, text }) => [id, text])),
    longest: Math.max(0, ...rows.map(({ id, text }) => Math.max(id.length, text.length))),
  }
  schemas.set(version, schema)
  return schema
}

export interface TableFault {
  /** more: an additional object; other: a definition is missing or altered. */
  readonly kind: 'more' | 'other'
  readonly why: string
}

/** Compares the schema of a file with that of a version; undefined if equal. */
export function tableFault(db: Database.Database, version: number): TableFault | undefined {
  const { objects, longest } = schemaOf(version)
  const remaining = new Map(objects)
  let other: TableFault | undefined
  // Rows are read one by one: a file may hold millions of them, of any length.
  for (const row of db.prepare(OBJECTS).iterate({ most: longest + 1 })) {
    const { id, text } = row as Row
    const expected = remaining.get(id)
    if (expected === undefined) return { kind: 'more', why: 'it has objects that Sluice does not create' }
    remaining.delete(id)
    if (expected !== text) other ??= { kind: 'other', why: `${nameOf(id)} differs from Sluice's schema` }
  }
  const [missing] = remaining.keys()
  if (missing !== undefined) other ??= { kind: 'other', why: `${nameOf(missing)} differs from Sluice's schema` }
  return other
}

/** `table job` from `text table job job`. */
const nameOf = (id: string): string => id.split(' ').slice(1, 3).join(' ')
