/**
 * Counters of lock namespaces by second: writing and reading them. Sampled once a second and kept as long as the means of a
 * second; a server that did not answer has no row, which is a gap.
 */
import type { Database, Statement } from 'better-sqlite3'

/** One reading of a namespace; null where its server does not report it. Grants and cancels are locks a second. */
export interface LdlmRecord {
  /** Empty for the total of a server's namespaces: then only `granted` is set. */
  readonly namespace: string
  readonly locks: number | null
  readonly unused: number | null
  readonly resources: number | null
  readonly granted: number | null
  readonly grants: number | null
  readonly cancels: number | null
  readonly limit: number | null
  readonly timeouts: number | null
  readonly contentions: number | null
}

export interface LdlmSample extends LdlmRecord {
  readonly atMs: number
  readonly node: string
}

type Value = string | number | null
type Row = Omit<LdlmSample, 'atMs' | 'limit'> & { readonly at_ms: number; readonly pool_limit: number | null }

const NAME_MAX = 256
/** Namespaces that are read: twice what memory has of a live cluster. */
const NAMESPACES_MAX = 1_200
/** Readings, or means of them, in one answer: about five minutes of 600 namespaces. */
const READINGS_MAX = 200_000
/** Readings at the start of a step that its mean is taken of, ms: a day must not take longer to read than an hour. */
const MEAN_MS = 12_000

/** Namespaces of a cluster with a reading in the range, of all its sources. */
const SPACES = `space AS MATERIALIZED (
  SELECT id, substr(node, 1, ${NAME_MAX}) AS node, substr(name, 1, ${NAME_MAX}) AS namespace FROM ldlm_namespace AS n
  WHERE source IN (SELECT id FROM source WHERE cluster_id = :cluster)
  AND EXISTS (SELECT 1 FROM ldlm_sample WHERE namespace = n.id AND at_ms BETWEEN :from AND :to)
  ORDER BY id DESC LIMIT ${NAMESPACES_MAX})`
const NEWEST = `ORDER BY at_ms DESC, node DESC, namespace DESC LIMIT ${READINGS_MAX}`
const GAUGES = ['locks', 'unused', 'resources', 'granted', 'grants', 'cancels', 'pool_limit'] as const
const COUNTERS = ['timeouts', 'contentions'] as const

const READINGS = `WITH ${SPACES}
  SELECT s.at_ms AS at_ms, node, space.namespace AS namespace, ${[...GAUGES, ...COUNTERS].join(', ')}
  FROM space CROSS JOIN ldlm_sample AS s ON s.namespace = id AND s.at_ms BETWEEN :from AND :to ${NEWEST}`

const MEANS = `WITH RECURSIVE ${SPACES}, step (start) AS (
    SELECT :from UNION ALL SELECT start + :step FROM step WHERE start + :step < :to)
  SELECT start + :step AS at_ms, node, space.namespace AS namespace,
    ${GAUGES.map((c) => `avg(${c}) AS ${c}`).join(', ')}, ${COUNTERS.map((c) => `max(${c}) AS ${c}`).join(', ')}
  FROM space CROSS JOIN step CROSS JOIN ldlm_sample AS s
    ON s.namespace = id AND s.at_ms >= start AND s.at_ms < min(start + min(:step, ${MEAN_MS}), :to + 1)
  GROUP BY id, start ${NEWEST}`

/** Value of a file of any origin; null for one that no server can have reported. */
const plausible = (v: number | null): number | null => (v !== null && v >= 0 && v <= Number.MAX_SAFE_INTEGER ? v : null)

const sampleOf = ({ at_ms: atMs, node, namespace, pool_limit, ...r }: Row): LdlmSample => ({
  atMs,
  node,
  namespace,
  locks: plausible(r.locks),
  unused: plausible(r.unused),
  resources: plausible(r.resources),
  granted: plausible(r.granted),
  grants: plausible(r.grants),
  cancels: plausible(r.cancels),
  limit: plausible(pool_limit),
  timeouts: plausible(r.timeouts),
  contentions: plausible(r.contentions),
})

export class LdlmTable {
  readonly #namespace: Statement<Value[]>
  readonly #sample: Statement<Value[]>
  readonly #readings: Statement<Record<string, number>>
  readonly #means: Statement<Record<string, number>>

  constructor(db: Database) {
    this.#namespace = db.prepare('INSERT OR IGNORE INTO ldlm_namespace (source, node, name) VALUES (?, ?, ?)')
    this.#sample = db.prepare(
      `INSERT OR REPLACE INTO ldlm_sample
       SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM ldlm_namespace WHERE source = ? AND node = ? AND name = ?`,
    )
    this.#readings = db.prepare(READINGS)
    this.#means = db.prepare(MEANS)
  }

  write(source: number, atMs: number, node: string, r: LdlmRecord): void {
    this.#namespace.run(source, node, r.namespace)
    const counts = [r.locks, r.unused, r.resources, r.granted, r.grants, r.cancels, r.limit, r.timeouts, r.contentions]
    this.#sample.run(atMs, ...counts, source, node, r.namespace)
  }

  /** Readings of a cluster's namespaces: `HistoryReader.ldlmBetween`. */
  between(cluster: number, fromMs: number, toMs: number, stepMs?: number): LdlmSample[] {
    const range = { cluster, from: Math.floor(fromMs), to: Math.ceil(toMs) }
    const rows =
      stepMs === undefined ? this.#readings.all(range) : this.#means.all({ ...range, step: Math.ceil(stepMs) })
    return (rows as Row[]).map(sampleOf).reverse()
  }
}
