/**
 * RPCs and bytes of jobs between two readings of one target's job_stats. Sluice never clears counters; clearing by others is detected
 * from the entries (entry-delta.ts).
 */
import { amountSince } from './counter-delta.ts'
import { continues, merged, moved, type Seen } from './entry-delta.ts'
import type { JobEntry } from './job-entry.ts'

export interface JobDelta {
  readonly jobId: string
  /** RPCs served, all operations. */
  readonly rpcs: number
  /** RPCs by operation; only operations with RPCs. */
  readonly ops: ReadonlyMap<string, number>
  readonly readBytes: number
  readonly writeBytes: number
  /** Sum of the service times of reads and writes, microseconds. */
  readonly serviceUsecs: number
  /** Reads and writes counted in `serviceUsecs`. */
  readonly dataRpcs: number
}

/** Totals over all jobs by name: RPCs of each operation, and bytes as `read_bytes` and `write_bytes`. */
export function totalOf(deltas: readonly JobDelta[]): Map<string, number> {
  const total = new Map<string, number>()
  const add = (name: string, n: number): void => {
    if (n > 0) total.set(name, (total.get(name) ?? 0) + n)
  }
  for (const d of deltas) {
    for (const [op, n] of d.ops) add(op, n)
    add('read_bytes', d.readBytes)
    add('write_bytes', d.writeBytes)
  }
  return total
}

/**
 * Number of readings for which a missing entry is remembered. Partial or truncated output must not make the whole history of a job look
 * like one interval when the entry reappears.
 */
export const REMEMBERED_READINGS = 10

class Sum implements JobDelta {
  rpcs = 0
  readonly ops = new Map<string, number>()
  readBytes = 0
  writeBytes = 0
  serviceUsecs = 0
  dataRpcs = 0
  readonly jobId: string

  constructor(jobId: string) {
    this.jobId = jobId
  }

  add(now: Seen, before: Seen | undefined): void {
    for (const [name, c, base] of moved(now, before)) {
      const samples = amountSince(c, base, 'samples')
      if (c.unit === 'bytes') this.#addBytes(now, name, samples, amountSince(c, base, 'sum'))
      else {
        this.#count(name, samples)
        if (name === 'read' || name === 'write') {
          this.dataRpcs += samples
          this.serviceUsecs += amountSince(c, base, 'sum')
        }
      }
    }
  }

  #addBytes(now: Seen, name: string, samples: number, bytes: number): void {
    const op = name.endsWith('_bytes') ? name.slice(0, -6) : name
    if (op === 'read') this.readBytes += bytes
    if (op === 'write') this.writeBytes += bytes
    // 2.12 has no separate read and write counters: there the byte counters carry the RPCs.
    if (op === name || !now.counters.has(op)) this.#count(op, samples)
  }

  #count(op: string, samples: number): void {
    this.ops.set(op, (this.ops.get(op) ?? 0) + samples)
    this.rpcs += samples
  }
}

/** Entries of one job id in a reading: one, except for ids that 2.12 prints alike. */
interface Base {
  readonly entries: readonly Seen[]
  /** Readings since then without the id. */
  missed: number
}

/**
 * Adds an entry to those of its job id. The same entry printed twice has the same start time, and the later print is the newer one.
 * Entries with other start times are other entries: one was cleared and recreated while the table was read. Without start times they are
 * jobs whose ids print alike (2.12 prints `?` for unprintable bytes), and each counts.
 */
function add(entries: readonly Seen[], e: Seen): readonly Seen[] {
  const same = e.startTime === undefined ? -1 : entries.findIndex((x) => x.startTime === e.startTime)
  return same < 0 ? [...entries, e] : entries.with(same, e)
}

/** True if an entry is unchanged since the previous reading: the reader returns the same counter objects. */
const isUnchanged = (last: Base, e: Seen): boolean =>
  last.missed === 0 && last.entries.length === 1 && last.entries[0]?.counters === e.counters

/** Successive readings of one target. */
export class JobDeltas {
  #before: Map<string, Base> | undefined

  /**
   * Takes one reading.
   *
   * @returns  jobs with at least one RPC since the previous reading; undefined for the first one, which is only the base.
   */
  update(entries: readonly JobEntry[]): JobDelta[] | undefined {
    const before = this.#before
    const now = new Map<string, Base>()
    for (const e of entries) {
      const known = now.get(e.jobId)
      const last = known ? undefined : before?.get(e.jobId)
      // Most entries are unchanged between readings: no new objects are created for them.
      if (last && isUnchanged(last, e)) now.set(e.jobId, last)
      else now.set(e.jobId, { entries: known ? add(known.entries, e) : [e], missed: 0 })
    }
    this.#before = now
    if (!before) return undefined
    const deltas: JobDelta[] = []
    for (const [jobId, base] of now) {
      const last = before.get(jobId)
      const [entry] = base.entries
      if (base === last) continue
      if (base.entries.length === 1 && last?.entries.length === 1 && entry?.counters === last.entries[0]?.counters)
        continue
      const sum = new Sum(jobId)
      const left = [...(last?.entries ?? [])]
      const kept = base.entries.map((e) => {
        const at = left.findIndex((b) => continues(e, b))
        const [b] = at < 0 ? [] : left.splice(at, 1)
        sum.add(e, b)
        return b ? merged(e, b) : e
      })
      now.set(jobId, { entries: kept, missed: 0 })
      if (sum.rpcs > 0) deltas.push(sum)
    }
    for (const [jobId, base] of before) {
      if (!now.has(jobId) && base.missed < REMEMBERED_READINGS) now.set(jobId, { ...base, missed: base.missed + 1 })
    }
    return deltas
  }

  /** Discards the base, after a gap too long to bridge. */
  reset(): void {
    this.#before = undefined
  }
}
