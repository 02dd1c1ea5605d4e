/**
 * Rules that were started from this data folder and are believed to be in force: their reason, owner, and the timer
 * that ends them.
 */
import type { Database } from 'better-sqlite3'
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'
import { thisProcess } from './store-leases.ts'

/** Server, service and queue of a rule. Each queue of a server has rules of its own. */
export interface ManagedRulePlace {
  readonly cluster: string
  readonly host: string
  readonly service: ServiceName
  readonly queue: Queue
  readonly name: string
}

export interface ManagedRule extends ManagedRulePlace {
  /** Change that started it. */
  readonly change: string
  /** User who started it. */
  readonly owner: string
  readonly reason: string
  readonly ticket: string
  readonly createdMs: number
  /** Unit of the timer that stops it; empty if none. */
  readonly unit: string
  readonly expiresMs: number | null
  readonly realtime: boolean
}

/** Stored rule, with the process that started it. */
export interface StoredRule extends ManagedRule {
  readonly by: { readonly machine: string; readonly pid: number; readonly born: string }
}

interface Row {
  cluster: string
  host: string
  service: ServiceName
  queue: Queue
  name: string
  change: string
  owner: string
  reason: string
  ticket: string
  created_ms: number
  unit: string
  expires_ms: number | null
  realtime: number
  machine: string
  pid: number
  born: string
}

const ruleOf = ({ created_ms, expires_ms, realtime, machine, pid, born, ...r }: Row): StoredRule => ({
  ...r,
  by: { machine, pid, born },
  createdMs: created_ms,
  expiresMs: expires_ms,
  realtime: realtime !== 0,
})

export class ManagedRuleStore {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  /**
   * Records a rule before it is started: a recorded rule that does not exist is harmless, an unrecorded one that exists
   * has no owner.
   */
  keep(r: ManagedRule): void {
    const by = thisProcess()
    this.#db
      .prepare('INSERT OR REPLACE INTO rule VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run(
        ...[r.cluster, r.host, r.service, r.queue, r.name, r.change, r.owner, r.reason, r.ticket],
        ...[Math.round(r.createdMs), r.unit, r.expiresMs === null ? null : Math.round(r.expiresMs), r.realtime ? 1 : 0],
        ...[by.machine, by.pid, by.born],
      )
  }

  forget(p: ManagedRulePlace): void {
    this.#db
      .prepare('DELETE FROM rule WHERE cluster = ? AND host = ? AND service = ? AND queue = ? AND name = ?')
      .run(p.cluster, p.host, p.service, p.queue, p.name)
  }

  find(p: ManagedRulePlace): StoredRule | undefined {
    const row = this.#db
      .prepare('SELECT * FROM rule WHERE cluster = ? AND host = ? AND service = ? AND queue = ? AND name = ?')
      .get(p.cluster, p.host, p.service, p.queue, p.name)
    return row === undefined ? undefined : ruleOf(row as Row)
  }

  of(cluster: string, host?: string): StoredRule[] {
    const where = host === undefined ? '' : ' AND host = ?'
    const sql = `SELECT * FROM rule WHERE cluster = ?${where} ORDER BY host, service, queue, name`
    return (this.#db.prepare(sql).all(...(host === undefined ? [cluster] : [cluster, host])) as Row[]).map(ruleOf)
  }
}
