/** Hostile schemas in a history file: each object is named as if SQLite itself had created it. */
import Database from 'better-sqlite3'

/** Writes schema rows that SQL itself refuses. */
function forge(db: Database.Database, write: () => void): void {
  db.unsafeMode(true)
  db.pragma('writable_schema = ON')
  write()
  db.pragma('writable_schema = OFF')
  db.unsafeMode(false)
}

/** Renames an object, in every definition that mentions it, to a name that begins with sqlite_. */
function rename(db: Database.Database, from: string, to: string): void {
  forge(db, () => {
    db.prepare(
      `UPDATE sqlite_schema SET name = replace(name, @from, @to), tbl_name = replace(tbl_name, @from, @to),
       sql = replace(sql, @from, @to) WHERE name LIKE @from || '%' OR tbl_name LIKE @from || '%'`,
    ).run({ from, to })
  })
}

/** Searches a long text in a longer one that nearly contains it everywhere: takes hours. */
const COSTLY = "instr(hex(zeroblob(4000000)), hex(zeroblob(2000000)) || '1')"

function add(db: Database.Database, { kind, name, sql }: { kind: string; name: string; sql: string | null }): void {
  forge(db, () => {
    db.prepare('INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, 0, ?)').run(
      ...[kind, name, name, sql],
    )
  })
}

/** Alterations of a file, by name. */
export const HOSTILE_SCHEMAS: Readonly<Record<string, (db: Database.Database) => void>> = {
  'a table sqlite_g whose generated column takes for ever': (db) => {
    db.exec(`CREATE TABLE zz_g (a TEXT, b INTEGER NOT NULL AS (${COSTLY}) VIRTUAL) STRICT`)
    // The cost is incurred by reading the row, not by writing it.
    forge(db, () => {
      db.prepare("UPDATE sqlite_schema SET sql = 'CREATE TABLE zz_g (a TEXT)' WHERE name = 'zz_g'").run()
    })
    const file = db.name
    const other = new Database(file)
    other.prepare('INSERT INTO zz_g VALUES (?)').run('a')
    forge(other, () => {
      const sql = `CREATE TABLE zz_g (a TEXT, b INTEGER NOT NULL AS (${COSTLY}) VIRTUAL) STRICT`
      other.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'zz_g'").run(sql)
    })
    rename(other, 'zz_g', 'sqlite_g')
    other.close()
  },
  'a trigger sqlite_evil': (db) => {
    db.exec('CREATE TRIGGER zz_evil AFTER UPDATE ON source BEGIN DELETE FROM event; END')
    rename(db, 'zz_evil', 'sqlite_evil')
  },
  'a view sqlite_v': (db) => {
    db.exec('CREATE VIEW zz_v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n')
    rename(db, 'zz_v', 'sqlite_v')
  },
  'a full-text table sqlite_f with what is none in its shadow tables': (db) => {
    db.exec('CREATE VIRTUAL TABLE zz_f USING fts5(a)')
    db.exec("INSERT INTO zz_f VALUES ('one two three')")
    forge(db, () => db.exec("UPDATE zz_f_data SET block = zeroblob(4000); UPDATE zz_f_config SET v = 'x'"))
    rename(db, 'zz_f', 'sqlite_f')
  },
  'an R-tree sqlite_r': (db) => {
    db.exec('CREATE VIRTUAL TABLE zz_r USING rtree(id, a, b)')
    rename(db, 'zz_r', 'sqlite_r')
  },
  'shadow tables of a full-text table that is not there': (db) => {
    db.exec('CREATE VIRTUAL TABLE zz_f USING fts5(a)')
    forge(db, () => db.exec("DELETE FROM sqlite_schema WHERE name = 'zz_f'"))
    const other = new Database(db.name)
    rename(other, 'zz_f', 'sqlite_f')
    other.close()
  },
  'a table sqlite_w without rowid, with a check of its own': (db) => {
    db.exec('CREATE TABLE zz_w (a PRIMARY KEY CHECK (length(zeroblob(a)) >= 0)) WITHOUT ROWID')
    rename(db, 'zz_w', 'sqlite_w')
  },
  'statistics that mislead the planner (sqlite_stat1)': (db) => {
    db.exec('ANALYZE')
    db.exec(
      `DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 VALUES ('block', 'block_by_time', '${'9 '.repeat(9000)}')`,
    )
  },
  'statistics of columns (sqlite_stat4)': (db) => {
    db.exec('ANALYZE')
    db.exec("DELETE FROM sqlite_stat4; INSERT INTO sqlite_stat4 VALUES ('job', 'x', '1', '1', '1', zeroblob(100000))")
  },
  'an index over an expression that is called sqlite_autoindex_job_9': (db) => {
    db.exec('CREATE INDEX zz_i ON job (length(job_id))')
    rename(db, 'zz_i', 'sqlite_autoindex_job_9')
  },
  'an index sqlite_autoindex_job_9 with no definition': (db) =>
    add(db, { kind: 'index', name: 'sqlite_autoindex_job_9', sql: null }),
  'one definition twice': (db) =>
    forge(db, () => {
      db.exec("INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'rule_by_time'")
    }),
  'an object of a kind that is none': (db) => add(db, { kind: 'other', name: 'sqlite_x', sql: null }),
  'a definition of ten megabytes': (db) => {
    db.exec('CREATE VIEW zz_v AS SELECT 1')
    forge(db, () => {
      const sql = `CREATE VIEW zz_v AS SELECT '${'x'.repeat(10 * 2 ** 20)}'`
      db.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'zz_v'").run(sql)
    })
  },
}

/** Applies one of them to a file. */
export function makeHostile(file: string, name: string): void {
  const db = new Database(file)
  HOSTILE_SCHEMAS[name]?.(db)
  db.close()
}
