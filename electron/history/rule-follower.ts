/** Follows the rules of servers: a rule is a row from the reading that first saw it so to the last. */
import type { Database, Statement } from 'better-sqlite3'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'

interface Open {
  id: number
  readonly rate: number
  readonly conditions: string
  /** Rank in match order: which of two rules a job falls under follows from it. */
  readonly position: number
}

type Value = string | number | null

export class RuleFollower {
  readonly #source: number
  readonly #insert: Statement<Value[]>
  readonly #close: Statement<Value[]>
  /** By server, then queue, CPT and name. */
  readonly #open = new Map<string, Map<string, Open>>()

  constructor(db: Database, source: number) {
    this.#source = source
    this.#insert = db.prepare(
      `INSERT INTO rule (source, server, queue, cpt, position, name, conditions, rate, from_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#close = db.prepare('UPDATE rule SET to_ms = ? WHERE id = ?')
  }

  /** What is to be written after a reading of one server. */
  follow(at: number, server: string, rules: readonly RuleLine[]): (() => void)[] {
    const before = this.#open.get(server)
    const now = new Map<string, Open>()
    const changes: (() => void)[] = []
    rules.forEach((r, position) => {
      const key = `${r.queue}\u0000${r.cpt}\u0000${r.name}`
      const open = before?.get(key)
      before?.delete(key)
      if (open?.rate === r.rate && open.conditions === r.conditions && open.position === position) {
        now.set(key, open)
        return
      }
      if (open) changes.push(() => this.#close.run(at, open.id))
      const row: Open = { id: 0, rate: r.rate, conditions: r.conditions, position }
      now.set(key, row)
      const { queue, cpt, name, conditions, rate } = r
      changes.push(() => {
        const made = this.#insert.run(this.#source, server, queue, cpt, position, name, conditions, rate, at)
        row.id = Number(made.lastInsertRowid)
      })
    })
    for (const gone of before?.values() ?? []) changes.push(() => this.#close.run(at, gone.id))
    this.#open.set(server, now)
    return changes
  }
}
