/**
 * Schema of each version of the history, word for word. A file from elsewhere is only read when its schema is one of these: anything else
 * in it (a trigger, a view, a generated column, a virtual table, under whatever name) could only be there to be run, or to take time.
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
 * Everything SQLite reads as schema, also what it names itself: a definition that it made (the index behind a UNIQUE, sqlite_sequence) is
 * in the reference as well, so no name is passed over. A file may write any name and any text into its sqlite_schema.
 */
const OBJECTS = `SELECT typeof(sql) || ' ' || substr(type, 1, @most) || ' ' || substr(name, 1, @most) || ' ' || substr(tbl_name, 1, @most) AS id,
  substr(ifnull(sql, ''), 1, @most) AS text FROM sqlite_schema`

/** Longer than any definition of Sluice, characters. */
const TEXT_MOST = 100_000

interface Row {
  readonly id: string
  readonly text: string
}

/** Schema of a version; what a migration leaves behind reads as its last step wrote it. */
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
  /** more: there is something that no Sluice makes; other: a definition is missing or is not as Sluice makes it. */
  readonly kind: 'more' | 'other'
  readonly why: string
}

/** Difference between the schema of a file and that of a version; undefined: there is none. */
export function tableFault(db: Database.Database, version: number): TableFault | undefined {
  const { objects, longest } = schemaOf(version)
  const left = new Map(objects)
  let other: TableFault | undefined
  // Rows are taken one by one: a file may hold millions of them, each as long as it likes.
  for (const row of db.prepare(OBJECTS).iterate({ most: longest + 1 })) {
    const { id, text } = row as Row
    const expected = left.get(id)
    if (expected === undefined) return { kind: 'more', why: 'there is more in it than Sluice keeps' }
    left.delete(id)
    if (expected !== text) other ??= { kind: 'other', why: `${nameOf(id)} is not as Sluice makes it` }
  }
  const [missing] = left.keys()
  if (missing !== undefined) other ??= { kind: 'other', why: `${nameOf(missing)} is not as Sluice makes it` }
  return other
}

/** `table job` of `text table job job`. */
const nameOf = (id: string): string => id.split(' ').slice(1, 3).join(' ')
