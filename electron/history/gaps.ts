/** Ranges of a cluster's history without samples, with the reason as far as it is recorded. */
import type { Database } from 'better-sqlite3'
import type { BlockReader } from './block-reader.ts'
import { cadenceOf, isHole, missingFrom } from './parts.ts'
import type { HistoryReader } from './reader.ts'
import { stepOf, tierNumber } from './tiers.ts'

/** Most instants that are examined for gaps; shorter gaps are not visible in a chart of the span. */
const INSTANTS_MAX = 10_000
const GAPS_MAX = 1000
/** A connection is reported as lost a little before or after the last sample. */
const NEAR_MS = 10_000

type Gap = ReturnType<HistoryReader['gaps']>[number]

export function gapsOf(db: Database, cluster: number, blocks: BlockReader, fromMs: number, toMs: number): Gap[] {
  const tier = tierNumber(blocks.tierFor(fromMs, toMs, INSTANTS_MAX))
  const inside = blocks.instants(tier, fromMs, toMs)
  const before = blocks.beside(tier, fromMs, 'before')
  const after = blocks.beside(tier, toMs, 'after')
  // Instants outside the range count only as ends of a gap.
  const instants = [...(before === undefined ? [] : [before]), ...inside, ...(after === undefined ? [] : [after])]
  const all = Float64Array.from(instants)
  const cadence = cadenceOf(inside.length > 1 ? inside : Float64Array.from(instants.slice(0, 1)), stepOf(tier))
  const missing = missingFrom(cadence)
  const begun = db.prepare('SELECT 1 FROM source WHERE cluster_id = ? AND started_ms BETWEEN ? AND ? LIMIT 1')
  const lost = db
    .prepare(
      `SELECT text FROM event WHERE kind = 'lost' AND at_ms BETWEEN ? AND ?
       AND source IN (SELECT id FROM source WHERE cluster_id = ?) ORDER BY at_ms LIMIT 1`,
    )
    .pluck()
  const out: Gap[] = []
  for (let i = 1; i < instants.length && out.length < GAPS_MAX; i++) {
    const a = instants[i - 1] as number
    const b = instants[i] as number
    if (!isHole(all, i, missing)) continue
    const from = Math.max(fromMs, a + cadence)
    const to = Math.min(toMs, b)
    if (to <= from) continue
    const wasStarted = begun.get(cluster, Math.round(a), Math.round(b + NEAR_MS)) !== undefined
    const text = lost.get(Math.round(a - NEAR_MS), Math.round(b), cluster) as string | undefined
    out.push({ fromMs: from, toMs: to, why: wasStarted ? 'Sluice was not running' : (text ?? '').slice(0, 500) })
  }
  return out
}
