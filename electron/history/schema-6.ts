/**
 * Migration to version 6: locks, metadata and tokens in rows of planes instead of frames of views. What kept frames show of the
 * tables' columns is carried over, as periods at the instants of the frames; the rest of a frame was drawn from it.
 */
import type { Database } from 'better-sqlite3'
import { inflateSync } from 'node:zlib'
import * as z from 'zod'
import { planeTable, type PlaneRow, type PlaneTableId } from '#core/series/plane-tables.ts'
import { BlockTable } from './block-table.ts'
import { PlaneWriter } from './plane-writer.ts'

export const VERSION_6 = `
  -- series of locks, metadata and tokens; kind: number of the table, as in block
  CREATE TABLE plane_series (
    id INTEGER PRIMARY KEY, cluster INTEGER NOT NULL REFERENCES cluster, kind INTEGER NOT NULL, place TEXT NOT NULL,
    name TEXT NOT NULL, job_id TEXT NOT NULL, last_ms INTEGER NOT NULL, UNIQUE (cluster, kind, place, name, job_id)
  ) STRICT;
  -- the longest convoys of each day; data: their messages and lock lives, as deflated JSON
  CREATE TABLE convoy (
    id INTEGER PRIMARY KEY, cluster INTEGER NOT NULL REFERENCES cluster, resource TEXT NOT NULL, server TEXT NOT NULL,
    from_ms REAL NOT NULL, to_ms REAL NOT NULL, waiting INTEGER NOT NULL, data BLOB NOT NULL
  ) STRICT;
  CREATE INDEX convoy_by_time ON convoy (cluster, from_ms);
`

const AFTER = 'DROP TABLE kept_frame;'

/** Largest inflated frame of version 5. */
const FRAME_MAX = 64 * 2 ** 20

const texts = z.array(z.string())
const values = z.array(z.number().nullable())
const one = z.number().nullable()

const locks = z.object({
  held: one,
  grants: one,
  cancels: one,
  rows: z.object({ name: texts, server: texts, waiting: values, conflicts: values, revocations: values, held: values }),
})
const metadata = z.object({
  plane: z.string().nullable(),
  scope: z.string(),
  limit: one,
  controller: z.object({ epoch: one }),
  jobs: z.object({ jobId: texts, stages: values, asked: values, allocated: values, measured: values, queued: values }),
})
const tokens = z.object({
  node: z.string(),
  clients: z.object({
    name: texts,
    jobId: texts,
    reservation: values,
    limit: values,
    usedReserved: values,
    usedPool: values,
    yielded: values,
  }),
})

/** Row with the named columns; the others are gaps. */
function rowOf(
  table: PlaneTableId,
  name: string,
  place: string,
  jobId: string,
  known: Readonly<Record<string, number | null | undefined>>,
): PlaneRow {
  return { name, place, jobId, values: planeTable(table).columns.map((c) => known[c.name] ?? NaN) }
}

type Rows = readonly (readonly [PlaneTableId, readonly PlaneRow[]])[]

function locksRows({ held, grants, cancels, rows }: z.infer<typeof locks>): Rows {
  const resources = rows.name.map((name, i) =>
    rowOf('lock_resources', name, rows.server[i] ?? '', '', {
      conflicts_per_s: rows.conflicts[i],
      holders: rows.held[i],
      waiters: rows.waiting[i],
      revocations_per_s: rows.revocations[i],
    }),
  )
  const all = rowOf('lock_servers', 'all', '', '', { holders: held, grants_per_s: grants, cancels_per_s: cancels })
  return [
    ['lock_resources', resources],
    ['lock_servers', held === null ? [] : [all]],
  ]
}

function metadataRows({ plane, scope, limit, controller, jobs }: z.infer<typeof metadata>): Rows {
  // The row `other` of a frame is the sum of its remaining jobs.
  const rows = jobs.jobId.map((jobId, i) =>
    rowOf('metadata_jobs', scope, plane ?? '', jobId, {
      served_per_s: jobs.measured[i],
      asked_per_s: jobs.asked[i],
      allocated_per_s: jobs.allocated[i],
      limit_per_s: limit,
      queued: jobs.queued[i],
      stages: jobs.stages[i],
      epoch: controller.epoch,
    }),
  )
  return [['metadata_jobs', rows]]
}

function tokensRows({ node, clients }: z.infer<typeof tokens>): Rows {
  const rows = clients.name.map((name, i) => {
    const reserved = clients.usedReserved[i] ?? 0
    const pool = clients.usedPool[i] ?? 0
    return rowOf('token_clients', name, node, clients.jobId[i] ?? '', {
      used: reserved + pool,
      reservation: clients.reservation[i],
      limit: clients.limit[i],
      used_reserved: reserved,
      used_pool: pool,
      yielded: clients.yielded[i],
    })
  })
  return [['token_clients', rows]]
}

const READERS: Readonly<Record<string, (frame: unknown) => Rows>> = {
  locks: (frame) => rowsOf(locks.safeParse(frame), locksRows),
  metadata: (frame) => rowsOf(metadata.safeParse(frame), metadataRows),
  tokens: (frame) => rowsOf(tokens.safeParse(frame), tokensRows),
}

const rowsOf = <T>(parsed: { readonly data?: T | undefined }, rows: (frame: T) => Rows): Rows =>
  parsed.data === undefined ? [] : rows(parsed.data)

function frameOf(data: Buffer): unknown {
  try {
    return JSON.parse(inflateSync(data, { maxOutputLength: FRAME_MAX }).toString()) as unknown
  } catch {
    return undefined
  }
}

/** Carries the kept frames over. */
export function carryFrames(db: Database): void {
  const table = new BlockTable(db)
  const free = { job: 0, target: 0, plane: 1 }
  const ids = db.prepare('SELECT id FROM kept_frame WHERE cluster = ? ORDER BY at_ms, id').pluck()
  const one = db.prepare('SELECT view, at_ms, data FROM kept_frame WHERE id = ?')
  for (const cluster of db.prepare('SELECT DISTINCT cluster FROM kept_frame').pluck().all() as number[]) {
    const writer = new PlaneWriter(
      db,
      cluster,
      free,
      (write) => write(),
      (block) => table.put(block),
    )
    for (const id of ids.all(cluster) as number[]) {
      const { view, at_ms: atMs, data } = one.get(id) as { view: string; at_ms: number; data: Buffer }
      const read = Object.hasOwn(READERS, view) ? READERS[view] : undefined
      for (const [name, rows] of read?.(frameOf(data)) ?? []) if (rows.length > 0) writer.add(name, atMs, rows)
    }
  }
  db.exec(AFTER)
}
