/** Kept convoys: the longest of each day with the messages and lock lives of their resource, to be replayed lock by lock. */
import type { Database, Statement } from 'better-sqlite3'
import { deflateSync, inflateSync } from 'node:zlib'
import type { KeptConvoy } from './reader.ts'

/** Convoys kept of a UTC day. */
export const CONVOYS_A_DAY = 20
const DAY_MS = 86_400_000
/** Largest JSON of a convoy's messages. */
const TEXT_MAX = 2 * 2 ** 20
const NAME_LENGTH = 256

/** Packs messages and lives; undefined if they are too large. */
export const packConvoy = (frame: unknown): Buffer | undefined => {
  const text = JSON.stringify(frame)
  return text.length > TEXT_MAX ? undefined : deflateSync(text, { level: 1 })
}

/** Reads messages and lives; undefined if the bytes are not valid. */
export function unpackConvoy(data: Buffer): unknown {
  try {
    return JSON.parse(inflateSync(data, { maxOutputLength: 4 * TEXT_MAX }).toString()) as unknown
  } catch {
    return undefined
  }
}

type Value = string | number | Buffer

interface Row {
  readonly id: number
  readonly resource: string
  readonly server: string
  readonly from_ms: number
  readonly to_ms: number
  readonly waiting: number
}

export class ConvoyTable {
  readonly #insert: Statement<Value[]>
  readonly #trim: Statement<Record<string, number>>
  readonly #shortest: Statement<Record<string, number>>
  readonly #between: Statement<number[]>
  readonly #frame: Statement<number[]>
  readonly #drop: Statement<number[]>

  constructor(db: Database) {
    const ofDay = 'FROM convoy WHERE cluster = :cluster AND from_ms >= :from AND from_ms < :to'
    const longest = 'ORDER BY to_ms - from_ms DESC, id'
    this.#insert = db.prepare(
      'INSERT INTO convoy (cluster, resource, server, from_ms, to_ms, waiting, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    this.#trim = db.prepare(
      `DELETE FROM convoy WHERE id IN (SELECT id ${ofDay} ${longest} LIMIT -1 OFFSET ${CONVOYS_A_DAY})`,
    )
    this.#shortest = db
      .prepare(`SELECT to_ms - from_ms ${ofDay} ${longest} LIMIT 1 OFFSET ${CONVOYS_A_DAY - 1}`)
      .pluck()
    this.#between = db.prepare(
      `SELECT id, substr(resource, 1, ${NAME_LENGTH}) AS resource, substr(server, 1, ${NAME_LENGTH}) AS server, from_ms, to_ms,
       waiting FROM convoy WHERE cluster = ? AND to_ms >= ? AND from_ms <= ? ORDER BY from_ms, id LIMIT ?`,
    )
    this.#frame = db.prepare('SELECT data FROM convoy WHERE cluster = ? AND id = ?').pluck()
    this.#drop = db.prepare('DELETE FROM convoy WHERE cluster = ? AND to_ms < ?')
  }

  /** Length that a convoy of that day must exceed to be kept, ms. */
  leastLength(cluster: number, fromMs: number): number {
    return Number(this.#shortest.get({ cluster, ...dayOf(fromMs) }) ?? 0)
  }

  /** Writes a convoy, and deletes the shortest of its day above the limit. */
  put(cluster: number, { resource, server, fromMs, toMs, waiting }: Omit<KeptConvoy, 'id'>, data: Buffer): void {
    this.#insert.run(
      cluster,
      resource.slice(0, NAME_LENGTH),
      server.slice(0, NAME_LENGTH),
      fromMs,
      toMs,
      Math.round(waiting),
      data,
    )
    this.#trim.run({ cluster, ...dayOf(fromMs) })
  }

  between(cluster: number, fromMs: number, toMs: number, limit: number): KeptConvoy[] {
    const rows = this.#between.all(cluster, fromMs, toMs, limit) as Row[]
    return rows.map(({ from_ms: fromMs, to_ms: toMs, ...r }) => ({ ...r, fromMs, toMs }))
  }

  frame(cluster: number, id: number): unknown {
    const data = this.#frame.get(cluster, id) as Buffer | undefined
    return data && unpackConvoy(data)
  }

  /** Deletes convoys that ended before an instant. @returns true if any were deleted */
  cut(cluster: number, beforeMs: number): boolean {
    return this.#drop.run(cluster, beforeMs).changes > 0
  }
}

function dayOf(atMs: number): { readonly from: number; readonly to: number } {
  const from = Math.floor(atMs / DAY_MS) * DAY_MS
  return { from, to: from + DAY_MS }
}
