/**
 * Retention of data beside the samples: counters of locks and disks, service estimates, live decisions and moves for a day; events
 * and ended rules of a live cluster for as long as its coarsest samples. An emulated source's ended rules, decisions, moves
 * between jobs and audit are kept for an hour, because a controller makes dozens of them a second, and its events for a day. The
 * quota may evict them earlier: `BesideSamples`.
 */
import type { Database } from 'better-sqlite3'
import type { AuditTable } from './audit-table.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Deletes data that is expired at `atMs`, of the current source or of all others.
 *
 * @param longMs  retention of the coarsest tier.
 */
export function prune(
  db: Database,
  audit: AuditTable,
  atMs: number,
  source: { readonly id: number; readonly which: 'present' | 'others' },
  longMs: number,
): void {
  const is = source.which === 'present' ? '=' : '!='
  const run = (sql: string, ...values: number[]): void => void db.prepare(sql).run(...values, source.id)
  const of = (kind: string): string => `SELECT id FROM source WHERE kind = '${kind}' AND id ${is} ?`
  // A rule in force has no end yet; sources that have ended have no rules in force.
  const end = source.which === 'present' ? 'to_ms' : 'ifnull(to_ms, from_ms)'
  db.transaction(() => {
    run(
      `DELETE FROM ldlm_sample WHERE at_ms < ? AND namespace IN (SELECT id FROM ldlm_namespace WHERE source ${is} ?)`,
      atMs - DAY_MS,
    )
    const clusters = `SELECT cluster_id FROM source WHERE id ${is} ?`
    run(
      `DELETE FROM brw_sample WHERE at_ms < ? AND target IN (SELECT id FROM target WHERE cluster IN (${clusters}))`,
      atMs - DAY_MS,
    )
    run(`DELETE FROM service_timeout WHERE at_ms < ? AND cluster IN (${clusters})`, atMs - DAY_MS)
    for (const [kind, short, long] of [
      ['EMULATED', HOUR_MS, DAY_MS],
      ['LIVE', DAY_MS, longMs],
    ] as const) {
      // By target, the next column of the table's key after the source: avoids a scan of all decisions.
      run(
        `DELETE FROM decision WHERE at_ms < ? AND target IN (SELECT id FROM target) AND source IN (${of(kind)})`,
        atMs - short,
      )
      run(`DELETE FROM adaptbf_moves WHERE at_ms < ? AND source IN (${of(kind)})`, atMs - short)
      run(`DELETE FROM rule WHERE ${end} < ? AND source IN (${of(kind)})`, atMs - (kind === 'LIVE' ? long : short))
      run(`DELETE FROM event WHERE at_ms < ? AND source IN (${of(kind)})`, atMs - long)
    }
    audit.cutEmulated(atMs - HOUR_MS)
  })()
}
