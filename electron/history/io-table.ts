/**
 * Disk I/O of targets (brw_stats) and service estimates (timeouts), one row per reading: writing and reading them. They are
 * sampled about once a minute and kept for a day.
 */
import type { Database, Statement } from 'better-sqlite3'
import * as z from 'zod'
import type { BrwBins } from '#core/lustre/brw-stats.ts'

/** Disk I/O of a target between two readings. */
export interface BrwRecord {
  readonly target: string
  readonly seconds: number
  readonly bins: BrwBins
}
export interface BrwSample extends BrwRecord {
  readonly atMs: number
}

/** Estimated service time on one CPT, seconds. */
export interface TimeoutRecord {
  readonly service: string
  readonly cpt: number
  readonly current: number
  readonly worst: number
  /** Time of the worst value, Unix seconds. */
  readonly worstAtS: number
}
export interface TimeoutSample extends TimeoutRecord {
  readonly atMs: number
  readonly node: string
}

type Value = string | number
const bins = z.array(z.tuple([z.number(), z.number(), z.number()]))
const binsOf = z.object({
  sizeBytes: bins.optional(),
  timeMs: bins.optional(),
  inFlight: bins.optional(),
  fragments: bins.optional(),
})

/** Parses stored bins; undefined if the text is not valid. */
export function readBins(text: string): BrwBins | undefined {
  try {
    const read = binsOf.safeParse(JSON.parse(text)).data
    return read && Object.fromEntries(Object.entries(read).filter(([, rows]) => rows !== undefined))
  } catch {
    return undefined
  }
}

interface BrwRow {
  readonly target: string
  readonly at_ms: number
  readonly seconds: number
  readonly bins: string
}
type TimeoutRow = Omit<TimeoutSample, 'atMs' | 'worstAtS'> & { readonly at_ms: number; readonly worst_at_s: number }

const brwOf = ({ target, at_ms: atMs, seconds, bins: text }: BrwRow): BrwSample => {
  return { target, atMs, seconds, bins: readBins(text) ?? {} }
}
const timeoutOf = ({ at_ms: atMs, worst_at_s: worstAtS, ...r }: TimeoutRow): TimeoutSample => ({ ...r, atMs, worstAtS })

const BRW = 'SELECT name AS target, at_ms, seconds, bins FROM brw_sample JOIN target ON target.id = brw_sample.target'
const TIMEOUTS = 'SELECT node, service, cpt, at_ms, current, worst, worst_at_s FROM service_timeout'

export class IoTable {
  readonly #brwAt: Statement<Record<string, Value>>
  readonly #brwBetween: Statement<Record<string, Value>>
  readonly #timeoutsAt: Statement<Record<string, Value>>
  readonly #timeoutsBetween: Statement<Record<string, Value>>
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
    const prepare = (sql: string): Statement<Record<string, Value>> => db.prepare(sql)
    this.#brwAt = prepare(
      `${BRW} WHERE cluster = :cluster AND name = :target AND at_ms > :from AND at_ms <= :to ORDER BY at_ms DESC LIMIT 1`,
    )
    this.#brwBetween = prepare(
      `${BRW} WHERE cluster = :cluster AND at_ms >= :from AND at_ms <= :to ORDER BY at_ms, name`,
    )
    this.#timeoutsAt = prepare(
      `${TIMEOUTS} WHERE cluster = :cluster AND node = :node AND at_ms = (SELECT max(at_ms) FROM service_timeout
       WHERE cluster = :cluster AND node = :node AND at_ms > :from AND at_ms <= :to) ORDER BY service, cpt`,
    )
    this.#timeoutsBetween = prepare(
      `${TIMEOUTS} WHERE cluster = :cluster AND at_ms >= :from AND at_ms <= :to ORDER BY at_ms, node, service, cpt`,
    )
  }

  /** @param target  key of the target. */
  writeBrw(target: number, atMs: number, { seconds, bins: of }: BrwRecord): void {
    this.#db
      .prepare('INSERT OR REPLACE INTO brw_sample VALUES (?, ?, ?, ?)')
      .run(target, Math.round(atMs), seconds, JSON.stringify(of))
  }

  writeTimeout(cluster: number, atMs: number, node: string, r: TimeoutRecord): void {
    this.#db
      .prepare('INSERT OR REPLACE INTO service_timeout VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(cluster, node, r.service, r.cpt, Math.round(atMs), r.current, r.worst, r.worstAtS)
  }

  /** Latest reading of a target in (fromMs, toMs]. */
  brwAt(cluster: number, target: string, fromMs: number, toMs: number): BrwSample | undefined {
    const row = this.#brwAt.get({ cluster, target, from: fromMs, to: toMs })
    return row === undefined ? undefined : brwOf(row as BrwRow)
  }

  /** Readings of all targets in [fromMs, toMs], oldest first. */
  *brwBetween(cluster: number, fromMs: number, toMs: number): Generator<BrwSample, void, void> {
    for (const row of this.#brwBetween.iterate({ cluster, from: fromMs, to: toMs })) yield brwOf(row as BrwRow)
  }

  /** Latest reading of a server in (fromMs, toMs]: one row per service and CPT. */
  timeoutsAt(cluster: number, node: string, fromMs: number, toMs: number): TimeoutSample[] {
    return (this.#timeoutsAt.all({ cluster, node, from: fromMs, to: toMs }) as TimeoutRow[]).map(timeoutOf)
  }

  /** Readings of all servers in [fromMs, toMs], oldest first. */
  *timeoutsBetween(cluster: number, fromMs: number, toMs: number): Generator<TimeoutSample, void, void> {
    const rows = this.#timeoutsBetween.iterate({ cluster, from: fromMs, to: toMs })
    for (const row of rows) yield timeoutOf(row as TimeoutRow)
  }
}
