/** Events and rules of a cluster, as a file keeps them. A file of others may hold anything: what is no event is passed over. */
import type { Database, Statement } from 'better-sqlite3'
import { mark, type Mark } from '#core/api/history.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'
import type { KeptRule } from './reader.ts'

const RULES_MAX = 100_000
const TEXT_MAX = 2000

const whole = (ms: number): number =>
  Math.round(Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, ms)))

interface RuleRow {
  server: string
  queue: Queue
  cpt: number
  position: number
  name: string
  conditions: string
  rate: number
  from_ms: number
  to_ms: number | null
}

interface EventRow {
  at_ms: number
  kind: string
  level: string
  subject: string
  text: string
  place: string
}

export class Marks {
  readonly #cluster: number
  readonly #events: Statement<number[]>
  readonly #next: Statement<number[]>
  readonly #previous: Statement<number[]>
  readonly #rulesAt: Statement<number[]>
  readonly #rulesBetween: Statement<number[]>

  constructor(db: Database, cluster: number) {
    this.#cluster = cluster
    const sources = 'source IN (SELECT id FROM source WHERE cluster_id = ?)'
    const event = `SELECT at_ms, kind, level, subject, text, place FROM event WHERE ${sources}`
    this.#events = db.prepare(`${event} AND at_ms > ? AND at_ms <= ? ORDER BY at_ms DESC, id DESC LIMIT ?`)
    this.#next = db.prepare(`SELECT min(at_ms) FROM event WHERE ${sources} AND at_ms > ?`).pluck()
    this.#previous = db.prepare(`SELECT max(at_ms) FROM event WHERE ${sources} AND at_ms < ?`).pluck()
    const rule = `SELECT server, queue, cpt, position, name, conditions, rate, from_ms, to_ms FROM rule WHERE ${sources}`
    this.#rulesAt = db.prepare(
      `${rule} AND from_ms <= ? AND (to_ms IS NULL OR to_ms > ?) ORDER BY server, queue DESC, cpt, position LIMIT ${RULES_MAX}`,
    )
    this.#rulesBetween = db.prepare(
      `${rule} AND from_ms <= ? AND (to_ms IS NULL OR to_ms >= ?) ORDER BY from_ms, server, position LIMIT ${RULES_MAX}`,
    )
  }

  events(fromMs: number, toMs: number, limit: number): Mark[] {
    const rows = this.#events.all(this.#cluster, whole(fromMs), whole(toMs), limit) as EventRow[]
    return rows.flatMap(({ at_ms: atMs, kind, level, subject, text, place }) => {
      const short = (s: string): string => s.slice(0, TEXT_MAX)
      const read = mark.safeParse({
        ...{ atMs, kind, level, subject: short(subject), text: short(text), where: short(place) },
      })
      return read.success ? [read.data] : []
    })
  }

  beside(atMs: number, direction: 'next' | 'previous'): number | undefined {
    const statement = direction === 'next' ? this.#next : this.#previous
    return (statement.get(this.#cluster, whole(atMs)) as number | null) ?? undefined
  }

  rulesAt(atMs: number): KeptRule[] {
    return this.#rules(this.#rulesAt.all(this.#cluster, whole(atMs), whole(atMs)))
  }

  rulesBetween(fromMs: number, toMs: number): KeptRule[] {
    return this.#rules(this.#rulesBetween.all(this.#cluster, whole(toMs), whole(fromMs)))
  }

  #rules(rows: unknown[]): KeptRule[] {
    return (rows as RuleRow[]).map(({ from_ms: fromMs, to_ms: toMs, ...r }) => ({ ...r, ref: 0, fromMs, toMs }))
  }
}
