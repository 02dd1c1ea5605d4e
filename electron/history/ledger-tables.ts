/** Queries of the pair ledger and of controller states. */
import type { Database, Statement } from 'better-sqlite3'
import type { MoveRecord } from './records.ts'

export interface MovesQuery {
  /** Only moves in which this job lent or borrowed; all by default. */
  readonly jobId?: string | undefined
  readonly target?: string | undefined
  /** Seconds that begin in [fromMs, toMs]. */
  readonly fromMs: number
  readonly toMs: number
  readonly limit: number
}

interface Row {
  at_ms: number
  target: string
  node: string
  lender: string
  borrower: string
  kind: MoveRecord['kind']
  tokens: number
}

export class LedgerTables {
  readonly #moves: Statement<Record<string, string | number | null>>
  readonly #movesOf: Statement<Record<string, string | number | null>>
  readonly #state: Statement<string[]>

  constructor(db: Database) {
    // A live cluster is the same across starts of the console; an emulated one is new each time.
    const sources = `SELECT id FROM source WHERE id = :source OR kind = 'LIVE' AND (kind, cluster) =
      (SELECT kind, cluster FROM source WHERE id = :source)`
    const select = `SELECT at_ms, target.name AS target, target.node, a.job_id AS lender, b.job_id AS borrower, kind, tokens
      FROM adaptbf_moves AS m JOIN target ON target.id = m.target
      JOIN job AS a ON a.id = m.lender JOIN job AS b ON b.id = m.borrower
      WHERE at_ms BETWEEN :from AND :to AND (:target IS NULL OR target.name = :target)`
    const order = 'ORDER BY at_ms DESC, target, lender, borrower, kind LIMIT :limit'
    const jobs = `SELECT id FROM job WHERE cluster = (SELECT cluster_id FROM source WHERE id = :source) AND job_id = :job`
    const own = `${select} AND m.source IN (${sources})`
    this.#moves = db.prepare(`${own} ${order}`)
    this.#movesOf = db.prepare(`${own} AND m.lender IN (${jobs}) UNION ALL ${own} AND m.borrower IN (${jobs}) ${order}`)
    this.#state = db.prepare('SELECT at_ms, state FROM adaptbf_state WHERE cluster = ? AND target = ?')
  }

  moves(source: number, { jobId, target, fromMs, toMs, limit }: MovesQuery): MoveRecord[] {
    const from = Math.max(0, Math.floor(fromMs))
    const to = Math.floor(toMs)
    const query = { source, target: target ?? null, from, to, limit }
    const rows = (jobId === undefined ? this.#moves.all(query) : this.#movesOf.all({ ...query, job: jobId })) as Row[]
    return rows.map(({ at_ms, ...row }) => ({ atMs: at_ms, ...row }))
  }

  state(cluster: string, target: string): { readonly atMs: number; readonly state: string } | undefined {
    const row = this.#state.get(cluster, target) as { at_ms: number; state: string } | undefined
    return row && { atMs: row.at_ms, state: row.state }
  }
}
