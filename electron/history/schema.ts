/**
 * Schema of the history file and its migrations. Migrations only go forward; each runs in one transaction and ends by writing its
 * number.
 */
import type { Database } from 'better-sqlite3'
import { carryOver, prepareVersion4, VERSION_4 } from './schema-4.ts'
import { carryFrames, VERSION_6 } from './schema-6.ts'

/** Application id of Sluice's files ("Slui"). */
export const APPLICATION_ID = 0x536c7569

/** Step n migrates version n to version n + 1. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE source (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, cluster TEXT NOT NULL, detail TEXT NOT NULL, started_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE job (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source, job_id TEXT NOT NULL, user TEXT NOT NULL,
    account TEXT NOT NULL, nodes INTEGER, first_ms INTEGER NOT NULL, UNIQUE (source, job_id)
  ) STRICT;
  CREATE TABLE target (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source, name TEXT NOT NULL, node TEXT NOT NULL,
    UNIQUE (source, name)
  ) STRICT;
  -- tier 0: as sampled; tier 1: means of one second
  CREATE TABLE job_sample (
    tier INTEGER NOT NULL, job INTEGER NOT NULL REFERENCES job, at_ms INTEGER NOT NULL, rpcs REAL, read_bps REAL,
    write_bps REAL, throttled REAL, record INTEGER, PRIMARY KEY (tier, job, at_ms)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE target_sample (
    tier INTEGER NOT NULL, target INTEGER NOT NULL REFERENCES target, at_ms INTEGER NOT NULL, rpcs REAL, service_ms REAL,
    queued REAL, PRIMARY KEY (tier, target, at_ms)
  ) STRICT, WITHOUT ROWID;
  -- a rule as it stood on a server, from one reading to the last that saw it unchanged; open while to_ms is null
  CREATE TABLE rule (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source, server TEXT NOT NULL, queue TEXT NOT NULL,
    cpt INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, conditions TEXT NOT NULL, rate INTEGER NOT NULL,
    from_ms INTEGER NOT NULL, to_ms INTEGER
  ) STRICT;
  CREATE INDEX rule_by_time ON rule (source, from_ms);
  CREATE TABLE decision (
    source INTEGER NOT NULL REFERENCES source, target INTEGER NOT NULL REFERENCES target, at_ms INTEGER NOT NULL,
    controller TEXT NOT NULL, budget INTEGER NOT NULL, allocations TEXT NOT NULL, PRIMARY KEY (source, target, at_ms)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE event (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source, at_ms INTEGER NOT NULL, kind TEXT NOT NULL,
    level TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL, place TEXT NOT NULL
  ) STRICT;
  CREATE INDEX event_by_time ON event (source, at_ms);
  -- live and emulated sources have a chain each: the emulated one is cut after a while, the live one never
  CREATE TABLE audit (
    chain TEXT NOT NULL, number INTEGER NOT NULL, at_ms INTEGER NOT NULL, server TEXT NOT NULL, kind TEXT NOT NULL,
    text TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (chain, number)
  ) STRICT, WITHOUT ROWID;
  -- the last record that was cut off a chain: what its first remaining one follows from
  CREATE TABLE audit_anchor (chain TEXT PRIMARY KEY, number INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
  `,
  `
  -- tokens that moved between two jobs on a target, summed over the second that begins at at_ms
  CREATE TABLE adaptbf_moves (
    target INTEGER NOT NULL REFERENCES target, at_ms INTEGER NOT NULL, lender INTEGER NOT NULL REFERENCES job,
    borrower INTEGER NOT NULL REFERENCES job, kind TEXT NOT NULL CHECK (kind IN ('lend', 'reclaim')),
    tokens INTEGER NOT NULL CHECK (tokens > 0), PRIMARY KEY (target, at_ms, lender, borrower, kind)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX adaptbf_moves_by_lender ON adaptbf_moves (lender, at_ms);
  CREATE INDEX adaptbf_moves_by_borrower ON adaptbf_moves (borrower, at_ms);
  -- a live cluster's controllers as they stood when last written, one row a target
  CREATE TABLE adaptbf_state (
    cluster TEXT NOT NULL, target TEXT NOT NULL, at_ms INTEGER NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (cluster, target)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- lock namespaces of the servers' targets; the empty name is what a server says of all of its own
  CREATE TABLE ldlm_namespace (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source, node TEXT NOT NULL, name TEXT NOT NULL,
    UNIQUE (source, node, name)
  ) STRICT;
  CREATE INDEX ldlm_namespace_by_name ON ldlm_namespace (source, name);
  -- one row a reading, about one a second; grants and cancels are locks a second; no row where a server did not answer
  CREATE TABLE ldlm_sample (
    namespace INTEGER NOT NULL REFERENCES ldlm_namespace, at_ms INTEGER NOT NULL, locks INTEGER, unused INTEGER,
    resources INTEGER, granted INTEGER, grants REAL, cancels REAL, pool_limit INTEGER, timeouts INTEGER,
    contentions INTEGER, PRIMARY KEY (namespace, at_ms)
  ) STRICT, WITHOUT ROWID;
  `,
  VERSION_4,
  `
  -- what the disk of a target did in the seconds before at_ms, from two readings of brw_stats:
  -- {"sizeBytes": [[upper bound of the bin, reads, writes], ...], "timeMs": ..., "inFlight": ..., "fragments": ...}
  CREATE TABLE brw_sample (
    target INTEGER NOT NULL REFERENCES target, at_ms INTEGER NOT NULL, seconds REAL NOT NULL, bins TEXT NOT NULL,
    PRIMARY KEY (target, at_ms)
  ) STRICT, WITHOUT ROWID;
  -- how long a service expects to take on one CPT, seconds; no row where a server did not answer
  CREATE TABLE service_timeout (
    cluster INTEGER NOT NULL REFERENCES cluster, node TEXT NOT NULL, service TEXT NOT NULL, cpt INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, current INTEGER NOT NULL, worst INTEGER NOT NULL, worst_at_s INTEGER NOT NULL,
    PRIMARY KEY (cluster, node, at_ms, service, cpt)
  ) STRICT, WITHOUT ROWID;
  `,
  VERSION_6,
]

/** Code that a migration runs after its SQL, by resulting version. */
const CARRIES: Readonly<Record<number, (db: Database) => void>> = { 4: carryOver, 6: carryFrames }

/** Version that this release writes. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Migrates a file to a version. */
export function migrateTo(db: Database, version: number): void {
  const at = Number(db.pragma('user_version', { simple: true }))
  if (at < 4) prepareVersion4(db)
  for (let v = at; v < version; v++) {
    db.transaction(() => {
      db.exec(MIGRATIONS[v] as string)
      CARRIES[v + 1]?.(db)
      db.pragma(`user_version = ${v + 1}`)
      db.pragma(`application_id = ${APPLICATION_ID}`)
    })()
  }
}

/** Migrates a file to the current version. */
export const migrate = (db: Database): void => migrateTo(db, SCHEMA_VERSION)
