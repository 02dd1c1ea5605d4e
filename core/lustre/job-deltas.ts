/**
 * RPCs and bytes of jobs between two readings of one target's job_stats. Counters are cleared by
 * others, which is detected from the entries (`Seen`), and by Sluice if an operator chose so (`cleared`).
 */
import { amountSince, counterDelta, mayContinue, wasReset, type CounterDelta } from './counter-delta.ts'
import type { Counter } from './counter-line.ts'
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

/**
 * Entry of job_stats in one reading.
 *
 * Identity between two readings, and changes since: a server creates an entry with all counters at zero, never resets one, and gives it a
 * start time in nanoseconds (2.15 and later). So another start time, or a counter that decreased, means another entry: it was cleared, or
 * it aged out and its job returned; then its whole content is new. Fewer counters than before mean truncated text or a lost line: missing
 * counters are assumed unchanged. Times of the server's clock are never subtracted, because it may be set.
 */
type Seen = Pick<JobEntry, 'startTime' | 'counters' | 'listed'>

/** True if `now` is a later reading of the same entry as `before`. */
function continues(now: Seen, before: Seen): boolean {
  const isKnown = now.startTime !== undefined && before.startTime !== undefined
  if (isKnown && now.startTime !== before.startTime) return false
  const isCut = now.listed < before.listed
  for (const [name, old] of before.counters) {
    const c = now.counters.get(name)
    if (!c && isCut) continue
    if (!c || !mayContinue(c, old)) return false
    if (!isKnown && wasReset(c, old)) return false
  }
  return true
}

/** Returns the base for the next comparison: `now`, completed by the counters of `before` that it lacks. */
function merged(now: Seen, before: Seen): Seen {
  if (now.listed >= before.listed) return now
  const startTime = now.startTime ?? before.startTime
  return { startTime, counters: new Map([...before.counters, ...now.counters]), listed: before.listed }
}

/**
 * Yields the counters of an entry that changed, with their previous values.
 *
 * @param before  the previous reading of the same entry; undefined if there is none, or if it was of another entry.
 */
function* moved(now: Seen, before: Seen | undefined): Generator<[string, Counter, Counter | undefined]> {
  // If the previous reading was truncated, a missing counter's old value is unknown: its change is counted from this
  // reading on.
  const wasCut = before !== undefined && before.listed < now.listed
  for (const [name, c] of now.counters) {
    const base = before?.counters.get(name)
    if (base === undefined && wasCut) continue
    if (c !== base && amountSince(c, base, 'samples') > 0) yield [name, c, base]
  }
}

/** Returns the change of each counter of an entry since the previous reading; unchanged ones are omitted. */
export function entryDelta(now: Seen, last: Seen | undefined): Map<string, CounterDelta> {
  const before = last && continues(now, last) ? last : undefined
  const deltas = new Map<string, CounterDelta>()
  for (const [name, c, base] of moved(now, before)) deltas.set(name, counterDelta(c, base))
  return deltas
}

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
  #replaced = 0

  /** Entries of the last reading that were not those of the reading before, although their jobs were in both: others cleared them. */
  get replaced(): number {
    return this.#replaced
  }

  /**
   * Takes one reading.
   *
   * @returns  jobs with at least one RPC since the previous reading; undefined for the first one, which is only the base.
   */
  update(entries: readonly JobEntry[]): JobDelta[] | undefined {
    const before = this.#before
    const now = new Map<string, Base>()
    this.#replaced = 0
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
      const unmatched = [...(last?.entries ?? [])]
      const current = base.entries.map((e) => {
        const at = unmatched.findIndex((b) => continues(e, b))
        const [b] = at < 0 ? [] : unmatched.splice(at, 1)
        if (!b && last?.missed === 0 && last.entries.length === 1 && base.entries.length === 1) this.#replaced++
        sum.add(e, b)
        return b ? merged(e, b) : e
      })
      now.set(jobId, { entries: current, missed: 0 })
      if (sum.rpcs > 0) deltas.push(sum)
    }
    for (const [jobId, base] of before) {
      if (!now.has(jobId) && base.missed < REMEMBERED_READINGS) now.set(jobId, { ...base, missed: base.missed + 1 })
    }
    return deltas
  }

  /** Takes note that the table was cleared since the last reading: each entry of the next one is new, whatever its counters. */
  cleared(): void {
    if (this.#before) this.#before = new Map()
  }

  /** Discards the base, after a gap too long to bridge. */
  reset(): void {
    this.#before = undefined
  }
}
