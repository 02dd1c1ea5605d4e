/**
 * What the jobs did between two readings of one target's job_stats. Counters are never cleared by Sluice; where somebody else
 * cleared them is seen in the entries themselves (entry-delta.ts).
 */
import { amountSince } from './counter-delta.ts'
import { continues, merged, moved, type Seen } from './entry-delta.ts'
import type { JobEntry } from './job-entry.ts'

export interface JobDelta {
  readonly jobId: string
  /** RPCs served, all operations. */
  readonly rpcs: number
  /** RPCs by operation; only those with any. */
  readonly ops: ReadonlyMap<string, number>
  readonly readBytes: number
  readonly writeBytes: number
  /** Sum of the service times of reads and writes, microseconds. */
  readonly serviceUsecs: number
  /** Reads and writes behind `serviceUsecs`. */
  readonly dataRpcs: number
}

/** What all jobs did, by name: RPCs of each operation, and the bytes as `read_bytes` and `write_bytes`. */
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
 * Readings for which an entry that is not in them is remembered. A server that printed a part of its table, or a text cut
 * off, must not make the whole life of a job look like one interval when the entry is back.
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
    // 2.12 has no read and write counters of their own: there the byte counters carry the RPCs.
    if (op === name || !now.counters.has(op)) this.#count(op, samples)
  }

  #count(op: string, samples: number): void {
    this.ops.set(op, (this.ops.get(op) ?? 0) + samples)
    this.rpcs += samples
  }
}

/** The entries that one job id had in a reading: one, but for ids that 2.12 prints alike. */
interface Base {
  readonly entries: readonly Seen[]
  /** Readings since that did not have the id. */
  missed: number
}

/**
 * Entries of one job id in a reading. The same entry printed twice is known by its start time, and the later print is the
 * newer one. Entries with other start times are other entries: one was cleared and made anew while the table was read. Without
 * start times they are jobs whose ids print alike (2.12 makes `?` of what it cannot print), and each counts.
 */
function add(entries: readonly Seen[], e: Seen): readonly Seen[] {
  const same = e.startTime === undefined ? -1 : entries.findIndex((x) => x.startTime === e.startTime)
  return same < 0 ? [...entries, e] : entries.with(same, e)
}

/** Whether an entry is the one of the reading before, untouched: the reader hands back the very counters of those. */
const stands = (last: Base, e: Seen): boolean =>
  last.missed === 0 && last.entries.length === 1 && last.entries[0]?.counters === e.counters

/** Successive readings of one target. */
export class JobDeltas {
  #before: Map<string, Base> | undefined

  /**
   * Takes one reading.
   *
   * @returns  jobs with at least one RPC since the reading before; undefined for the first one, which is only the base.
   */
  update(entries: readonly JobEntry[]): JobDelta[] | undefined {
    const before = this.#before
    const now = new Map<string, Base>()
    for (const e of entries) {
      const known = now.get(e.jobId)
      const last = known ? undefined : before?.get(e.jobId)
      // Most entries stand still from one reading to the next: nothing new is made for them.
      if (last && stands(last, e)) now.set(e.jobId, last)
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

  /** Forgets the base, after a gap too long to bridge. */
  reset(): void {
    this.#before = undefined
  }
}
