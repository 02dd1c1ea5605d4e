/** Events and rules of a cluster in a file. A file of another origin may hold anything: invalid events are skipped. */
import type { Database, Statement } from 'better-sqlite3'
import { mark, type Mark } from '#core/api/history.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'
import type { KeptRule } from './reader.ts'
import { inForceWithin } from './rule-durations.ts'

const RULES_MAX = 100_000
const TEXT_MAX = 2000
/** Longest text of a rule; its conditions are no longer than the command that created it. */
const RULE_TEXT_MAX = 65_536
const NAME_MAX = 512
const CPT_MAX = 65_535
const QUEUES: ReadonlySet<unknown> = new Set<Queue>(['reg', 'hp'])

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
  readonly #rulesAt: Statement<Record<string, number>[]>
  readonly #rulesBetween: Statement<Record<string, number>[]>

  constructor(db: Database, cluster: number) {
    this.#cluster = cluster
    const sources = 'source IN (SELECT id FROM source WHERE cluster_id = ?)'
    const event = `SELECT at_ms, kind, level, subject, text, place FROM event WHERE ${sources}`
    this.#events = db.prepare(`${event} AND at_ms > ? AND at_ms <= ? ORDER BY at_ms DESC, id DESC LIMIT ?`)
    this.#next = db.prepare(`SELECT min(at_ms) FROM event WHERE ${sources} AND at_ms > ?`).pluck()
    this.#previous = db.prepare(`SELECT max(at_ms) FROM event WHERE ${sources} AND at_ms < ?`).pluck()
    const rule = `SELECT server, queue, cpt, position, name, conditions, rate, from_ms, to_ms FROM rule WHERE ${inForceWithin('source IN (SELECT id FROM source WHERE cluster_id = :cluster)')}`
    this.#rulesAt = db.prepare(
      `${rule} AND (to_ms IS NULL OR to_ms > :from) ORDER BY server, queue DESC, cpt, position LIMIT ${RULES_MAX}`,
    )
    this.#rulesBetween = db.prepare(`${rule} ORDER BY from_ms, server, position LIMIT ${RULES_MAX}`)
  }

  events(fromMs: number, toMs: number, limit: number): Mark[] {
    const rows = this.#events.all(this.#cluster, whole(fromMs), whole(toMs), limit) as EventRow[]
    return rows.flatMap(({ at_ms: atMs, kind, level, subject, text, place }) => {
      const short = (s: string): string => s.slice(0, TEXT_MAX)
      const read = mark.safeParse({
        atMs,
        kind,
        level,
        subject: short(subject),
        text: short(text),
        where: short(place),
      })
      return read.success ? [read.data] : []
    })
  }

  beside(atMs: number, direction: 'next' | 'previous'): number | undefined {
    const statement = direction === 'next' ? this.#next : this.#previous
    return (statement.get(this.#cluster, whole(atMs)) as number | null) ?? undefined
  }

  rulesAt(atMs: number): KeptRule[] {
    return this.#rules(this.#rulesAt.all({ cluster: this.#cluster, from: whole(atMs), to: whole(atMs) }))
  }

  rulesBetween(fromMs: number, toMs: number): KeptRule[] {
    return this.#rules(this.#rulesBetween.all({ cluster: this.#cluster, from: whole(fromMs), to: whole(toMs) }))
  }

  #rules(rows: unknown[]): KeptRule[] {
    return (rows as RuleRow[])
      .filter(isRule)
      .map(({ from_ms: fromMs, to_ms: toMs, ...r }) => ({ ...r, ref: 0, fromMs, toMs }))
  }
}

const isRule = (r: RuleRow): boolean =>
  QUEUES.has(r.queue) &&
  r.cpt >= 0 &&
  r.cpt <= CPT_MAX &&
  r.rate >= 0 &&
  Number.isSafeInteger(r.rate) &&
  r.server.length + r.name.length <= NAME_MAX &&
  r.conditions.length <= RULE_TEXT_MAX
