/**
 * Stop records of each cluster. Every process that shares the data folder reads them before each command that starts or
 * tightens a rule; ending rules, timers and leases needs no permission.
 */
import type { Database } from 'better-sqlite3'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { thisProcess } from './store-leases.ts'

/** take-over: another console of this data folder enforces from now on. */
export type StopKind = 'stop' | 'take-over'

export interface StopRecord {
  /** Number of the stop, counted per cluster from 1. */
  readonly number: number
  readonly kind: StopKind
  readonly atMs: number
  /** User and machine. */
  readonly who: string
  readonly machine: string
  readonly pid: number
}

/** Stop records of one cluster. */
export interface StopRecords {
  /** Newest record; undefined before the first. @throws if it cannot be read. */
  last(): StopRecord | undefined
  /** @throws if it cannot be written. */
  record(kind: StopKind, who: string, atMs: number): StopRecord
}

type Row = Omit<StopRecord, 'atMs'> & { at_ms: number }

export class StopLog {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  last(cluster: string): StopRecord | undefined {
    const sql = 'SELECT number, kind, at_ms, who, machine, pid FROM stop WHERE cluster = ?'
    const row = this.#db.prepare(sql).get(cluster) as Row | undefined
    if (row === undefined) return undefined
    const { at_ms: atMs, ...rest } = row
    return { ...rest, atMs }
  }

  record(cluster: string, kind: StopKind, who: string, atMs: number): StopRecord {
    const { machine, pid } = thisProcess()
    const sql = `INSERT INTO stop VALUES (?, 1, ?, ?, ?, ?, ?) ON CONFLICT (cluster) DO UPDATE SET
      number = number + 1, kind = excluded.kind, at_ms = excluded.at_ms, who = excluded.who,
      machine = excluded.machine, pid = excluded.pid RETURNING number`
    const number = this.#db.prepare(sql).pluck().get(cluster, kind, Math.round(atMs), who, machine, pid) as number
    return { number, kind, atMs: Math.round(atMs), who, machine, pid }
  }

  /** Stop records of one cluster. */
  of(cluster: string): StopRecords {
    return {
      last: () => this.last(cluster),
      record: (kind, who, atMs) => this.record(cluster, kind, who, atMs),
    }
  }
}

/** Stop records in memory, for a source that no other process can see. */
export function stopsInMemory(): StopRecords {
  let last: StopRecord | undefined
  return {
    last: () => last,
    record: (kind, who, atMs) => {
      const { machine, pid } = thisProcess()
      return (last = { number: (last?.number ?? 0) + 1, kind, atMs, who, machine, pid })
    },
  }
}

/**
 * Stop records of a cluster whose store cannot be used: a stop applies in this process, and `record` throws because it
 * does not reach other processes.
 */
export function unavailableStops(why: string): StopRecords {
  const here = stopsInMemory()
  return {
    last: () => here.last(),
    record: (...stop) => {
      here.record(...stop)
      throw new Error(why)
    },
  }
}

/** User and time of a stop for display. */
export function stopText({ kind, who, pid, atMs }: StopRecord): string {
  const at = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z')
  return `${who} ${kind === 'stop' ? 'stopped it' : 'took it over'} at ${at} (process ${pid})`
}

/** Permission to write; a later stop ends it. */
export class WritePermit {
  readonly #cluster: string
  readonly #stops: StopRecords
  /** Number of the newest stop when the permission was given; undefined if it could not be read. */
  #since: number | undefined

  constructor(cluster: string, stops: StopRecords) {
    this.#cluster = cluster
    this.#stops = stops
    this.renew()
  }

  /** Renews the permission when an operator enters enforce again: earlier stops no longer count. */
  renew(): void {
    const last = this.#read()
    this.#since = last.ok ? (last.value?.number ?? 0) : undefined
  }

  /** Reason why no rule may be started or tightened now. Failures: STOPPED (by a later stop), STOP_UNREADABLE. */
  refusal(): Failure | undefined {
    const last = this.#read()
    if (!last.ok) return last.error
    // Unreadable when the permission was given: the first number that can be read counts.
    this.#since ??= last.value?.number ?? 0
    if (last.value === undefined || last.value.number <= this.#since) return undefined
    return {
      code: 'STOPPED',
      what: `Nothing is enforced on ${this.#cluster} any more`,
      why: stopText(last.value),
      unaffected: 'Monitoring continues.',
      next: 'Choose Enforce again if it is to be controlled.',
    }
  }

  #read(): Result<StopRecord | undefined> {
    try {
      return ok(this.#stops.last())
    } catch (e) {
      return fail({
        code: 'STOP_UNREADABLE',
        what: `Nothing is written to ${this.#cluster}`,
        why: `the stop record cannot be read: ${e instanceof Error ? e.message : String(e)}`,
        unaffected: 'Rules can be removed. Those that stay end by their timers.',
        next: 'Check the data folder.',
      })
    }
  }
}
