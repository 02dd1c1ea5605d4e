/**
 * Keys of a cluster's jobs and targets. A key is assigned on first use, before its row is written: a row that the disk refused is
 * written later under the same key. The owner of a job is filled in when the resource manager reports it.
 */
import type { Database, Statement } from 'better-sqlite3'
import { exeOf } from './exe.ts'
import type { JobFacts } from './records.ts'

/** Most names held in memory; beyond it they are looked up in the file again. */
const NAMES_MAX = 200_000
const NAME_LENGTH = 256
const DAY_MS = 86_400_000

interface Known {
  readonly jobId: string
  readonly key: number
  isNamed: boolean
  /** Day until which its row marks it as seen. */
  lastMs: number
}

/** Next unassigned keys of the file. */
export interface FreeKeys {
  job: number
  target: number
  plane: number
}

export const freeKeys = (db: Database): FreeKeys => {
  const next = (table: string): number =>
    Number(db.prepare(`SELECT ifnull(max(id), 0) + 1 FROM ${table}`).pluck().get())
  return { job: next('job'), target: next('target'), plane: next('plane_series') }
}

type Value = string | number | null
type Defer = (write: () => void) => void

export class SeriesNames {
  readonly #cluster: number
  readonly #free: FreeKeys
  readonly #defer: Defer
  readonly #jobs = new Map<string, Known>()
  /** Names of the latest sample, by position. */
  #placed: Known[] = []
  readonly #targets = new Map<string, { readonly key: number; node: string }>()
  readonly #sql: Record<
    'findJob' | 'newJob' | 'describeJob' | 'seen' | 'findTarget' | 'newTarget' | 'moved',
    Statement<Value[]>
  >

  /** @param defer  queues writes for the next batch. */
  constructor(db: Database, cluster: number, free: FreeKeys, defer: Defer) {
    this.#cluster = cluster
    this.#free = free
    this.#defer = defer
    const prepare = (sql: string): Statement<Value[]> => db.prepare(sql)
    this.#sql = {
      findJob: prepare('SELECT id, user, nodes, last_ms FROM job WHERE cluster = ? AND job_id = ?'),
      newJob: prepare('INSERT OR IGNORE INTO job VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
      describeJob: prepare('UPDATE job SET user = ?, account = ?, nodes = ? WHERE id = ?'),
      seen: prepare('UPDATE job SET last_ms = ? WHERE id = ?'),
      findTarget: prepare('SELECT id, node FROM target WHERE cluster = ? AND name = ?'),
      newTarget: prepare('INSERT OR IGNORE INTO target VALUES (?, ?, ?, ?)'),
      moved: prepare('UPDATE target SET node = ? WHERE id = ?'),
    }
  }

  /**
   * Returns the key of a job that is active at an instant.
   *
   * @param at  its position in the sample: most jobs have the same position as in the last sample, which makes the lookup fast.
   */
  job(jobId: string, atMs: number, facts: (id: string) => JobFacts, at = -1): number {
    let known = this.#placed[at]
    if (known?.jobId !== jobId) {
      known = this.#jobs.get(jobId) ?? this.#meet(jobId, atMs, facts)
      if (at >= 0 && at <= this.#placed.length) this.#placed[at] = known
    }
    if (!known.isNamed) {
      const f = facts(jobId)
      if (f.user !== '' || f.nodes !== null) {
        known.isNamed = true
        this.#defer(() => this.#sql.describeJob.run(f.user, f.account, f.nodes, known.key))
      }
    }
    if (atMs > known.lastMs) {
      const day = (known.lastMs = Math.ceil(atMs / DAY_MS) * DAY_MS)
      this.#defer(() => this.#sql.seen.run(day, known.key))
    }
    return known.key
  }

  target(name: string, node: string): number {
    let known = this.#targets.get(name)
    if (!known) {
      const row = this.#sql.findTarget.get(this.#cluster, name) as { id: number; node: string } | undefined
      if (row) known = { key: row.id, node: row.node }
      else {
        const key = this.#free.target++
        known = { key, node }
        this.#defer(() => this.#sql.newTarget.run(key, this.#cluster, name, node))
      }
      this.#targets.set(name, known)
    }
    // A failover: the target is on this server from now on.
    if (known.node !== node) {
      const { key } = known
      known.node = node
      this.#defer(() => this.#sql.moved.run(node, key))
    }
    return known.key
  }

  /** Drops cached names if there are very many; call it when all of them are in the file. */
  trim(): void {
    if (this.#jobs.size <= NAMES_MAX) return
    this.#jobs.clear()
    this.#placed = []
  }

  #meet(jobId: string, atMs: number, facts: (id: string) => JobFacts): Known {
    const id = jobId.slice(0, NAME_LENGTH)
    const row = this.#sql.findJob.get(this.#cluster, id) as
      { id: number; user: string; nodes: number | null; last_ms: number } | undefined
    let known: Known
    if (row) known = { jobId, key: row.id, isNamed: row.user !== '' || row.nodes !== null, lastMs: row.last_ms }
    else {
      const f = facts(jobId)
      const key = this.#free.job++
      const lastMs = Math.ceil(atMs / DAY_MS) * DAY_MS
      known = { jobId, key, isNamed: f.user !== '' || f.nodes !== null, lastMs }
      const at = Math.round(atMs)
      this.#defer(() => this.#sql.newJob.run(key, this.#cluster, id, f.user, f.account, exeOf(id), f.nodes, at, lastMs))
    }
    this.#jobs.set(jobId, known)
    return known
  }
}
