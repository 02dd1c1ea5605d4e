/** Events and rules of a cluster in a file. A file of another origin may hold anything: invalid events are skipped. */
import type { Database, Statement } from 'better-sqlite3'
import { mark, OPERATOR_KINDS, type Mark } from '#core/api/history.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'
import { mainEvents, operatorsFirst } from '../base/main-events.ts'
import type { HistoryRule } from './reader.ts'
import { inForceWithin } from './rule-durations.ts'

const RULES_MAX = 100_000
const TEXT_MAX = 2000
/** Longest text of a rule; its conditions are no longer than the command that created it. */
const RULE_TEXT_MAX = 65_536
const NAME_MAX = 512
const CPT_MAX = 65_535
const QUEUES: ReadonlySet<unknown> = new Set<Queue>(['reg', 'hp'])

const integer = (ms: number): number =>
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
  id: number
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
  readonly #operatorEvents: Statement<number[]>
  readonly #next: Statement<number[]>
  readonly #previous: Statement<number[]>
  readonly #rulesAt: Statement<Record<string, number>[]>
  readonly #rulesBetween: Statement<Record<string, number>[]>

  constructor(db: Database, cluster: number) {
    this.#cluster = cluster
    const sources = 'source IN (SELECT id FROM source WHERE cluster_id = ?)'
    const event = `SELECT id, at_ms, kind, level, subject, text, place FROM event WHERE ${sources}`
    const newest = 'AND at_ms > ? AND at_ms <= ? ORDER BY at_ms DESC, id DESC LIMIT ?'
    this.#events = db.prepare(`${event} ${newest}`)
    const kinds = OPERATOR_KINDS.map((kind) => `'${kind}'`).join(', ')
    this.#operatorEvents = db.prepare(`${event} AND kind IN (${kinds}) ${newest}`)
    this.#next = db.prepare(`SELECT min(at_ms) FROM event WHERE ${sources} AND at_ms > ?`).pluck()
    this.#previous = db.prepare(`SELECT max(at_ms) FROM event WHERE ${sources} AND at_ms < ?`).pluck()
    const rule = `SELECT server, queue, cpt, position, name, conditions, rate, from_ms, to_ms FROM rule WHERE ${inForceWithin('source IN (SELECT id FROM source WHERE cluster_id = :cluster)')}`
    this.#rulesAt = db.prepare(
      `${rule} AND (to_ms IS NULL OR to_ms > :from) ORDER BY server, queue DESC, cpt, position LIMIT ${RULES_MAX}`,
    )
    this.#rulesBetween = db.prepare(`${rule} ORDER BY from_ms, server, position LIMIT ${RULES_MAX}`)
  }

  events(fromMs: number, toMs: number, limit: number): Mark[] {
    return this.#rows(this.#events, fromMs, toMs, limit).flatMap(markOf)
  }

  /** Like `events`, but if there are more than `limit`, events of operators take precedence over others. */
  mainEvents(fromMs: number, toMs: number, limit: number): Mark[] {
    const newest = this.#rows(this.#events, fromMs, toMs, limit)
    if (newest.length < limit) return newest.flatMap(markOf)
    const known = new Set(newest.map(({ id }) => id))
    const older = this.#rows(this.#operatorEvents, fromMs, toMs, operatorsFirst(limit)).filter(
      ({ id }) => !known.has(id),
    )
    // All of these are older than the newest ones.
    return mainEvents([...newest, ...older].flatMap(markOf), limit)
  }

  #rows(statement: Statement<number[]>, fromMs: number, toMs: number, limit: number): EventRow[] {
    return statement.all(this.#cluster, integer(fromMs), integer(toMs), limit) as EventRow[]
  }

  /** Time of the next or previous event, Unix ms; undefined if there is none. */
  eventBeside(atMs: number, direction: 'next' | 'previous'): number | undefined {
    const statement = direction === 'next' ? this.#next : this.#previous
    return (statement.get(this.#cluster, integer(atMs)) as number | null) ?? undefined
  }

  rulesAt(atMs: number): HistoryRule[] {
    return this.#rules(this.#rulesAt.all({ cluster: this.#cluster, from: integer(atMs), to: integer(atMs) }))
  }

  rulesBetween(fromMs: number, toMs: number): HistoryRule[] {
    return this.#rules(this.#rulesBetween.all({ cluster: this.#cluster, from: integer(fromMs), to: integer(toMs) }))
  }

  #rules(rows: unknown[]): HistoryRule[] {
    return (rows as RuleRow[])
      .filter(isRule)
      .map(({ from_ms: fromMs, to_ms: toMs, ...r }) => ({ ...r, ref: 0, fromMs, toMs }))
  }
}

/** The event of a row; none if the row is invalid. */
function markOf({ at_ms: atMs, kind, level, subject, text, place }: EventRow): Mark[] {
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
}

const isRule = (r: RuleRow): boolean =>
  QUEUES.has(r.queue) &&
  r.cpt >= 0 &&
  r.cpt <= CPT_MAX &&
  r.rate >= 0 &&
  Number.isSafeInteger(r.rate) &&
  r.server.length + r.name.length <= NAME_MAX &&
  r.conditions.length <= RULE_TEXT_MAX
