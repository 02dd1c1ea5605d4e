/**
 * Copies what is stored of a cluster beside its samples into another file: jobs and targets, rules in force, events. Values beyond
 * the range are cut off, so that the same range yields the same copy at any later time.
 */
import type { Database } from 'better-sqlite3'
import type { Span } from '#core/api/history.ts'
import type { Redactor } from '#core/snapshot/redactor.ts'
import { AS_IT_IS, columnsOf, type CopiedTable, type Value } from './copied-columns.ts'
import { stepOf } from './tiers.ts'

/** Range of one cluster and the two files it is copied between. */
export interface Copy {
  readonly from: Database
  readonly to: Database
  readonly cluster: number
  /** Whole milliseconds. */
  readonly span: Span
  readonly redactor: Redactor
  /** Called between two pieces of work; cancels the copy by throwing. */
  readonly breathe: (done: number) => Promise<void>
}

const DAY_MS = 86_400_000
/** Number of pieces in which rows with instants are copied. */
const PIECES = 500
const PIECE_LEAST_MS = 60_000
/** Rows written before yielding to the event loop. */
const ROWS_AT_ONCE = 10_000

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const quoted = (values: readonly (string | number)[]): string => values.join(', ')

/** Expressions for columns that are not copied verbatim, by table and column. */
type Cuts = Readonly<Record<string, string>>

interface Rows {
  /** WHERE clause. */
  readonly where: string
  readonly values: readonly Value[]
  /** Key columns: rows are written in this order. */
  readonly order: string
  /** Redacted column of the key: rows are written in the order of the pseudonyms, which reveals nothing about the names. */
  readonly redacted?: string
  readonly cuts?: Cuts
}

/**
 * Copies the rows of a table; only columns listed in COPIED. Returns their number. @throws SQLite's error if two names have one
 * pseudonym.
 */
export function copyRows({ from, to, redactor }: Copy, table: CopiedTable, rows: Rows): number {
  const columns = columnsOf(table)
  const names = columns.map(([name]) => name)
  const selected = names.map((name) => rows.cuts?.[name] ?? name)
  const found = from
    .prepare(`SELECT ${quoted(selected)} FROM ${table} ${rows.where} ORDER BY ${rows.order}`)
    .raw()
    .all(rows.values) as Value[][]
  if (found.length === 0) return 0
  const insert = to.prepare(`INSERT INTO ${table} (${quoted(names)}) VALUES (${quoted(names.map(() => '?'))})`)
  const treated = columns.flatMap(([, treat], i) => (treat === AS_IT_IS ? [] : [{ i, treat }]))
  /** @returns false for a row that is not copied */
  const redacted = (row: Value[]): boolean => {
    let isKept = true
    for (const { i, treat } of treated) {
      const value = treat(row[i] ?? null, redactor)
      if (value === undefined) isKept = false
      else if (row[i] !== null) row[i] = value
    }
    return isKept
  }
  const kept = redactor.isOn ? found.filter(redacted) : found
  const key = names.findIndex((name) => name === rows.redacted)
  if (redactor.isOn && key >= 0) kept.sort((a, b) => byText(String(a[key]), String(b[key])))
  to.transaction(() => {
    for (const row of kept) insert.run(row)
  })()
  return found.length
}

/** Copies the cluster, its sources until the end of the range, its targets, the rules in force in the range, and evictions. */
export function copyFacts(copy: Copy): { readonly name: string; readonly kind: string } | undefined {
  const { from, cluster, span } = copy
  const { fromMs, toMs } = span
  const row = from.prepare('SELECT kind, name FROM cluster WHERE id = ?').get(cluster) as
    { kind: string; name: string } | undefined
  if (!row) return undefined
  copyRows(copy, 'cluster', { where: 'WHERE id = ?', values: [cluster], order: 'id' })
  copyRows(copy, 'source', {
    where: 'WHERE cluster_id = ? AND started_ms < ?',
    values: [cluster, toMs],
    order: 'id',
  })
  copyRows(copy, 'target', { where: 'WHERE cluster = ?', values: [cluster], order: 'id' })
  const started = 'source IN (SELECT id FROM source WHERE cluster_id = ? AND started_ms < ?)'
  copyRows(copy, 'ldlm_namespace', { where: `WHERE ${started}`, values: [cluster, toMs], order: 'id' })
  copyRows(copy, 'rule', {
    where: `WHERE ${started} AND from_ms < ? AND (to_ms IS NULL OR to_ms >= ?)`,
    values: [cluster, toMs, toMs, fromMs],
    order: 'id',
    // Still in force at the end of the range.
    cuts: { to_ms: `CASE WHEN to_ms < ${toMs} THEN to_ms END` },
  })
  copyRows(copy, 'eviction', {
    where: 'WHERE cluster = ? AND from_ms < ? AND to_ms >= ?',
    values: [cluster, toMs, fromMs],
    order: 'id',
  })
  const ends = [1, 2, 3].map((tier) => `WHEN ${tier} THEN ${Math.ceil(toMs / stepOf(tier)) * stepOf(tier)}`)
  copyRows(copy, 'rolled', {
    where: 'WHERE cluster = ?',
    values: [cluster],
    order: 'tier',
    cuts: { to_ms: `min(to_ms, CASE tier ${ends.join(' ')} ELSE to_ms END)` },
  })
  return row
}

/** Limits for rows that may be very many, for a file of bounded size. */
export interface Thinning {
  /** Interval at which one decision per target is copied. */
  readonly decisionsMs: number
  /** Set to omit moves between jobs. */
  readonly withoutMoves: boolean
}

/** Copies rows with instants, one piece of the range at a time. */
export async function copyTimedRows(copy: Copy, thin?: Thinning): Promise<void> {
  const { cluster, span } = copy
  const width = Math.max(PIECE_LEAST_MS, Math.ceil((span.toMs - span.fromMs) / PIECES))
  const within = 'at_ms >= ? AND at_ms < ?'
  const ofCluster = `WHERE source IN (SELECT id FROM source WHERE cluster_id = ?) AND ${within}`
  const spaces = 'SELECT id FROM ldlm_namespace WHERE source IN (SELECT id FROM source WHERE cluster_id = ?)'
  /** First row of each `ms` per series; applied to its own output it selects the same rows. */
  const firstOf = (table: string, by: string, where: string, ms: number): string =>
    `${where} AND (${by}, at_ms) IN (SELECT ${by}, min(at_ms) FROM ${table} ${where} GROUP BY ${by}, at_ms / ${Math.round(ms)})`
  for (let from = span.fromMs; from < span.toMs; from += width) {
    const values = [cluster, from, Math.min(from + width, span.toMs)]
    const twice = thin ? [...values, ...values] : values
    copyRows(copy, 'decision', {
      where: thin ? firstOf('decision', 'source, target', ofCluster, thin.decisionsMs) : ofCluster,
      values: twice,
      order: 'source, target, at_ms',
    })
    if (thin?.withoutMoves !== true) {
      copyRows(copy, 'adaptbf_moves', {
        where: ofCluster,
        values,
        order: 'source, at_ms, target, lender, borrower, kind',
      })
    }
    copyRows(copy, 'event', { where: ofCluster, values, order: 'id' })
    copyRows(copy, 'ldlm_sample', {
      where: `WHERE namespace IN (${spaces}) AND ${within}`,
      values,
      order: 'namespace, at_ms',
    })
    copyRows(copy, 'brw_sample', {
      where: `WHERE target IN (SELECT id FROM target WHERE cluster = ?) AND ${within}`,
      values,
      order: 'target, at_ms',
    })
    copyRows(copy, 'service_timeout', {
      where: `WHERE cluster = ? AND ${within}`,
      values,
      order: 'cluster, node, at_ms, service, cpt',
      redacted: 'node',
    })
    copyRows(copy, 'convoy', { where: 'WHERE cluster = ? AND from_ms >= ? AND from_ms < ?', values, order: 'id' })
    await copy.breathe((from - span.fromMs) / (span.toMs - span.fromMs))
  }
}

/** Copies series of planes by key. */
export function copyPlaneSeries(copy: Copy, keys: readonly number[]): void {
  copyRows(copy, 'plane_series', {
    where: 'WHERE cluster = ? AND id IN (SELECT value FROM json_each(?))',
    values: [copy.cluster, JSON.stringify(keys)],
    order: 'id',
    cuts: { last_ms: `min(last_ms, ${dayAfter(copy.span.toMs)})` },
  })
}

const dayAfter = (atMs: number): number => Math.ceil(atMs / DAY_MS) * DAY_MS

/** Copies jobs by key, and those that tokens moved between. */
export async function copyJobs(copy: Copy, sampled: Iterable<number>): Promise<void> {
  const keys = new Set(sampled)
  for (const side of ['lender', 'borrower'] as const) {
    const used = copy.to.prepare(`SELECT DISTINCT ${side} FROM adaptbf_moves`).pluck().all() as number[]
    for (const key of used) keys.add(key)
  }
  const all = Float64Array.from(keys).sort()
  const day = dayAfter(copy.span.toMs)
  for (let i = 0; i < all.length; i += ROWS_AT_ONCE) {
    const some = JSON.stringify([...all.subarray(i, i + ROWS_AT_ONCE)])
    copyRows(copy, 'job', {
      where: 'WHERE cluster = ? AND id IN (SELECT value FROM json_each(?))',
      values: [copy.cluster, some],
      order: 'id',
      cuts: { last_ms: `min(last_ms, ${day})` },
    })
    await copy.breathe(1)
  }
}
