/** Tables of the enforcement store, and migrations from older versions. Migrations go forward only. */
import type { Database } from 'better-sqlite3'

/** SQLite application id of the file ("Slue"); the history has another one. */
export const STORE_ID = 0x536c7565

/** Migration n turns version n into version n + 1. */
const MIGRATIONS: readonly string[] = [
  `
  -- one chain for all live clusters and all processes
  CREATE TABLE audit (
    number INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, server TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
    hash TEXT NOT NULL, cluster TEXT, plan TEXT, who TEXT, login TEXT, mono_ms INTEGER
  ) STRICT;
  -- a fault of the chain, or a lost file, that keeps everything from being written until somebody has agreed
  CREATE TABLE fault (
    id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, why TEXT NOT NULL, agreed_ms INTEGER, agreed_by TEXT, upto INTEGER
  ) STRICT;
  CREATE TABLE plan (
    id TEXT PRIMARY KEY, cluster TEXT NOT NULL, at_ms INTEGER NOT NULL, state TEXT NOT NULL, document TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX plan_by_time ON plan (cluster, at_ms);
  CREATE TABLE change (
    id TEXT PRIMARY KEY, cluster TEXT NOT NULL, at_ms INTEGER NOT NULL, state TEXT NOT NULL, document TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX change_by_time ON change (cluster, at_ms);
  -- rules that were started from here and, as far as is known, stand
  CREATE TABLE rule (
    cluster TEXT NOT NULL, host TEXT NOT NULL, service TEXT NOT NULL, queue TEXT NOT NULL, name TEXT NOT NULL,
    change TEXT NOT NULL, owner TEXT NOT NULL, reason TEXT NOT NULL, ticket TEXT NOT NULL, created_ms INTEGER NOT NULL,
    unit TEXT NOT NULL, expires_ms INTEGER, realtime INTEGER NOT NULL, machine TEXT NOT NULL, pid INTEGER NOT NULL,
    born TEXT NOT NULL,
    PRIMARY KEY (cluster, host, service, queue, name)
  ) STRICT, WITHOUT ROWID;
  -- timers of controllers, and the process that renews them
  CREATE TABLE lease (
    cluster TEXT NOT NULL, host TEXT NOT NULL, unit TEXT NOT NULL, owner TEXT NOT NULL, machine TEXT NOT NULL,
    pid INTEGER NOT NULL, born TEXT NOT NULL, rules INTEGER NOT NULL, created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL, PRIMARY KEY (cluster, host, unit)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- the newest stop of each cluster, which every process obeys before each command
  CREATE TABLE stop (
    cluster TEXT PRIMARY KEY, number INTEGER NOT NULL, kind TEXT NOT NULL, at_ms INTEGER NOT NULL, who TEXT NOT NULL,
    machine TEXT NOT NULL, pid INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
]

export const STORE_VERSION = MIGRATIONS.length

/**
 * Migrates a file to this version; several processes may try at once. A current file is not locked: opening must not
 * queue behind processes that append.
 */
export function migrateStore(db: Database): void {
  const version = (): number => Number(db.pragma('user_version', { simple: true }))
  if (version() >= STORE_VERSION) return
  db.transaction(() => {
    const at = version()
    for (let v = at; v < STORE_VERSION; v++) {
      db.exec(MIGRATIONS[v] as string)
      db.pragma(`user_version = ${v + 1}`)
      db.pragma(`application_id = ${STORE_ID}`)
    }
  }).immediate()
}
