/** The tables of each version, word for word: what else a file has could only be there to be run, or to take time. */
import Database from 'better-sqlite3'
import { migrateTo } from './schema.ts'

const own = new Map<number, ReadonlyMap<string, string>>()

/** The tables of a version, by kind and name; what a migration leaves behind reads as its last step wrote it. */
function ownTables(version: number): ReadonlyMap<string, string> {
  const known = own.get(version)
  if (known) return known
  const db = new Database(':memory:')
  migrateTo(db, version)
  const tables = tablesOf(db)
  db.close()
  own.set(version, tables)
  return tables
}

function tablesOf(db: Database.Database): Map<string, string> {
  const sql = "SELECT type || ' ' || name, ifnull(sql, '') FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'"
  return new Map(db.prepare(sql).raw().all() as [string, string][])
}

/** In what the tables of a file are not those of a version; undefined: they are. */
export function tableFault(db: Database.Database, version: number): string | undefined {
  const tables = tablesOf(db)
  for (const [name, sql] of ownTables(version)) {
    if (tables.get(name) !== sql) return `${name} is not as Sluice makes it`
    tables.delete(name)
  }
  return tables.size > 0 ? 'there is more in it than Sluice keeps' : undefined
}
