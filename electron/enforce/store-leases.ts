/** Leases of controllers, with the process that renews each; leases of a process that has ended are orphans. */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Database } from 'better-sqlite3'
import { isRunning } from '../files/is-running.ts'
import type { LeaseStore } from './lease.ts'

export interface LeaseRecord {
  readonly cluster: string
  readonly host: string
  readonly unit: string
  readonly owner: string
  /** Machine and process of the console that renews the lease. */
  readonly machine: string
  readonly pid: number
  /** Start time of that process as reported by its system: pids are reused. */
  readonly born: string
  readonly rules: number
  readonly createdMs: number
  readonly expiresMs: number
}

type Row = Omit<LeaseRecord, 'createdMs' | 'expiresMs'> & { created_ms: number; expires_ms: number }

/** Start time of a process of this machine; empty if unknown. */
function bornOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

/** This process. */
export const thisProcess = (): Pick<LeaseRecord, 'machine' | 'pid' | 'born'> => ({
  machine: hostname(),
  pid: process.pid,
  born: bornOf(process.pid),
})

/**
 * True if a lease has expired, or its process has ended. Processes of another machine cannot be checked: their leases
 * count as live until they expire.
 */
export function isOrphan(lease: Pick<LeaseRecord, 'machine' | 'pid' | 'born' | 'expiresMs'>, nowMs: number): boolean {
  if (lease.expiresMs <= nowMs) return true
  if (lease.machine !== hostname()) return false
  return !isRunning(lease.pid) || (lease.born !== '' && bornOf(lease.pid) !== lease.born)
}

/** True if a process of this machine is certainly running: its pid and start time match the record. */
export const isProvenToRun = ({ machine, pid, born }: Pick<LeaseRecord, 'machine' | 'pid' | 'born'>): boolean =>
  machine === hostname() && born !== '' && isRunning(pid) && bornOf(pid) === born

export class LeaseRecords {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  keep(l: LeaseRecord): void {
    this.#db
      .prepare('INSERT OR REPLACE INTO lease VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run(
        ...[l.cluster, l.host, l.unit, l.owner, l.machine, l.pid, l.born, l.rules],
        ...[Math.round(l.createdMs), Math.round(l.expiresMs)],
      )
  }

  end(cluster: string, host: string, unit: string): void {
    this.#db.prepare('DELETE FROM lease WHERE cluster = ? AND host = ? AND unit = ?').run(cluster, host, unit)
  }

  of(cluster: string): LeaseRecord[] {
    const rows = this.#db.prepare('SELECT * FROM lease WHERE cluster = ? ORDER BY host, unit').all(cluster) as Row[]
    return rows.map(({ created_ms, expires_ms, ...l }) => ({ ...l, createdMs: created_ms, expiresMs: expires_ms }))
  }

  /** Deletes leases that expired more than an hour ago. */
  forgetOld(nowMs: number): void {
    this.#db.prepare('DELETE FROM lease WHERE expires_ms < ?').run(Math.round(nowMs) - 3_600_000)
  }
}

/** Records leases in the store in the name of this process. */
export function leaseStore(leases: LeaseRecords, cluster: string, owner: string): LeaseStore {
  const me = thisProcess()
  return {
    keep: (lease) => leases.keep({ cluster, owner, ...me, ...lease }),
    end: (host, unit) => {
      try {
        leases.end(cluster, host, unit)
      } catch {
        // While the disk is full the lease stays on record until it would have expired.
      }
    },
    has: (host, unit) => leases.of(cluster).some((l) => l.host === host && l.unit === unit),
  }
}
