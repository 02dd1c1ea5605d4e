/**
 * What is kept for how long: raw samples an hour, means of a second and lock counters a day. An emulated source's ended rules,
 * decisions, moves between jobs and audit an hour too, because a controller makes dozens of them a second, and its events a day.
 */
import type { Database } from 'better-sqlite3'
import type { AuditTable } from './audit-table.ts'

const HOUR_MS = 3_600_000
/** By tier. */
const KEEP_MS = [HOUR_MS, 24 * HOUR_MS] as const

/** Deletes what is past its time at `atMs`, of the present source or of all others. */
export function prune(
  db: Database,
  audit: AuditTable,
  atMs: number,
  source: { readonly id: number; readonly which: 'present' | 'others' },
): void {
  const which = source.which === 'present' ? 'source = ?' : 'source != ?'
  const run = (sql: string, ...values: number[]): void => void db.prepare(sql).run(...values, source.id)
  db.transaction(() => {
    KEEP_MS.forEach((keep, tier) => {
      for (const name of ['job', 'target'] as const) {
        run(
          `DELETE FROM ${name}_sample WHERE tier = ? AND at_ms < ? AND ${name} IN (SELECT id FROM ${name} WHERE ${which})`,
          tier,
          atMs - keep,
        )
      }
    })
    run(
      `DELETE FROM ldlm_sample WHERE at_ms < ? AND namespace IN (SELECT id FROM ldlm_namespace WHERE ${which})`,
      atMs - KEEP_MS[1],
    )
    const emulated = `SELECT id FROM source WHERE kind = 'EMULATED' AND ${source.which === 'present' ? 'id = ?' : 'id != ?'}`
    // By target, which is what the table's key begins with after the source: no scan of an hour's decisions.
    run(
      `DELETE FROM decision WHERE at_ms < ? AND source IN (${emulated})
       AND target IN (SELECT id FROM target WHERE target.source = decision.source)`,
      atMs - HOUR_MS,
    )
    run(
      `DELETE FROM adaptbf_moves WHERE at_ms < ? AND target IN (SELECT id FROM target WHERE source IN (${emulated}))`,
      atMs - HOUR_MS,
    )
    // A rule that still stands has no end yet; of a source that has ended none stands any more.
    const end = source.which === 'present' ? 'to_ms' : 'ifnull(to_ms, from_ms)'
    run(`DELETE FROM rule WHERE ${end} < ? AND source IN (${emulated})`, atMs - HOUR_MS)
    run(`DELETE FROM event WHERE at_ms < ? AND source IN (${emulated})`, atMs - 24 * HOUR_MS)
    audit.cutEmulated(atMs - HOUR_MS)
  })()
}
