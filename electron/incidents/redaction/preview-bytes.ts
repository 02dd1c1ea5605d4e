/**
 * How large the parts of a bundle would be, about: by what is counted in the history, times what such a thing takes in an archive. The
 * factors are of bundles of emulated clusters; an estimate, within a factor of two as a rule.
 */
import type { Database } from 'better-sqlite3'
import type { Span } from '#core/api/history.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import { JOB_SAMPLES_FIT, MEANS_BYTES_FIT } from '../../history/fit.ts'
import { SECOND } from '../../history/tiers.ts'
import type { AuditSlice, RawReading } from '../bundle/bundle-source.ts'

/** Bytes in the archive: of a byte of packed samples, of a row, of a character. */
const PACKED = 0.8
const CSV_ROW = 14
const CSV_ROWS_FIT = 120_000
const EVENT = 60
const RULE = 24
const FRAME = 0.7
const AUDIT_CHAR = 0.03
const AUDIT_RECORD = 60
const TEXT_CHAR = 0.2
const CHART = 60_000
const PAGES = 300_000

export interface HistoryCounts {
  readonly samples: number
  readonly instants: number
  /** Finest resolution that is there: raw, 1s, 10s, 1min; null: none. */
  readonly tier: string | null
  readonly targets: number
  readonly bytes: number
  readonly events: number
  readonly rules: number
  readonly frameBytes: number
}

/** What of a span is there; packed bytes as far as a bundle of that detail takes them. */
export function countHistory(db: Database, cluster: number, span: Span, detail: 'fit' | 'all'): HistoryCounts {
  const [from, to] = [Math.floor(span.fromMs), Math.ceil(span.toMs)]
  const tiers = db
    .prepare(
      `SELECT kind, tier, count(*) AS blocks, sum(n) AS samples, sum(length(lead) + length(rest)) AS bytes FROM block
       WHERE cluster = ? AND kind IN (0, 1) AND tier BETWEEN 0 AND 3 AND at_ms >= ? AND at_ms < ? GROUP BY kind, tier`,
    )
    .all(cluster, from, to) as { kind: number; tier: number; blocks: number; samples: number; bytes: number }[]
  let bytes = 0
  for (const t of tiers) {
    const isMost = detail === 'fit' && t.kind === 0 && t.samples > JOB_SAMPLES_FIT
    if (!isMost) bytes += t.bytes
    else bytes += t.tier <= SECOND ? (t.bytes * JOB_SAMPLES_FIT) / t.samples : Math.min(t.bytes, MEANS_BYTES_FIT)
  }
  const number = (sql: string): number => Number(db.prepare(sql).pluck().get(cluster, from, to) ?? 0)
  const own = 'source IN (SELECT id FROM source WHERE cluster_id = ?)'
  const finest = (kind: number): { blocks: number; samples: number } =>
    tiers.filter((t) => t.kind === kind).sort((a, b) => a.tier - b.tier)[0] ?? { blocks: 0, samples: 0 }
  const least = Math.min(...tiers.map((t) => t.tier))
  return {
    samples: finest(0).samples,
    instants: Math.max(finest(0).blocks, finest(1).blocks),
    tier: ['raw', '1s', '10s', '1min'][least] ?? null,
    targets: finest(1).samples,
    bytes,
    events: number(`SELECT count(*) FROM event WHERE ${own} AND at_ms >= ? AND at_ms < ?`),
    rules: Number(
      db
        .prepare(`SELECT count(*) FROM rule WHERE ${own} AND from_ms < ? AND (to_ms IS NULL OR to_ms >= ?)`)
        .pluck()
        .get(cluster, to, from),
    ),
    frameBytes: number('SELECT sum(length(data)) FROM kept_frame WHERE cluster = ? AND at_ms >= ? AND at_ms < ?'),
  }
}

export const historyBytes = (c: HistoryCounts): number =>
  Math.round(c.bytes * PACKED + c.events * EVENT + c.rules * RULE + c.frameBytes * FRAME)

export const csvBytes = (c: HistoryCounts, detail: 'fit' | 'all'): number => {
  const rows = detail === 'all' ? c.samples : Math.min(c.samples, CSV_ROWS_FIT)
  return Math.round((rows + c.targets + c.instants) * CSV_ROW + c.events * EVENT + c.rules * RULE)
}

export const auditBytes = (slice: AuditSlice | null): number =>
  Math.round((slice?.records ?? []).reduce((n, r) => n + AUDIT_RECORD + r.text.length * AUDIT_CHAR, 0))

export const readingBytes = (readings: readonly RawReading[]): number =>
  Math.round(readings.reduce((n, r) => n + r.text.length * TEXT_CHAR, 0))

export const notebookBytes = (incident: Incident | null): number =>
  incident ? Math.round(JSON.stringify(incident).length * TEXT_CHAR) : 0

export const chartBytes = (incident: Incident | null): number =>
  (incident?.cells ?? []).filter((c) => c.kind === 'chart').length * CHART

export const ruleTextBytes = (c: HistoryCounts): number => Math.min(c.rules, 10_000) * RULE

/** README.html with its data, report and manifest. */
export const PAGE_BYTES = PAGES
