/**
 * What is kept for how long beside the samples: counters of locks and disks, service estimates, live decisions and moves for a day, events and ended rules of a live
 * cluster for as long as its coarsest samples. An emulated source's ended rules, decisions, moves between jobs and audit go after an
 * hour, because a controller makes dozens of them a second, and its events after a day. The quota may take them before: `BesideSamples`.
 */
import type { Database } from 'better-sqlite3'
import type { AuditTable } from './audit-table.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Deletes what is past its time at `atMs`, of the present source or of all others.
 *
 * @param longMs  how long the coarsest tier is kept.
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
  // A rule that still stands has no end yet; of a source that has ended none stands any more.
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
      // By target, which is what the table's key goes on with after the source: no scan of all decisions.
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
