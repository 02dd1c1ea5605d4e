/**
 * What a job did between two readings of job_stats. Counters are never cleared by Sluice; a counter that went down, or
 * another start time, means that somebody else cleared the entry, or that it aged out, and then everything it shows is new.
 */
import type { JobEntry } from './job-stats.ts'

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

type Seen = Pick<JobEntry, 'startTime' | 'counters'>

/** Whether `now` goes on where `before` stood. */
function continues(now: Seen, before: Seen): boolean {
  if (now.startTime !== before.startTime) return false
  for (const [name, old] of before.counters) if (old.samples > (now.counters.get(name)?.samples ?? 0)) return false
  return true
}

const isBytes = (name: string): boolean => name === 'read_bytes' || name === 'write_bytes'

function deltaOf({ jobId, ...entry }: JobEntry, last: Seen | undefined): JobDelta {
  const now = entry.counters
  const before = last && continues(entry, last) ? last.counters : undefined
  const ops = new Map<string, number>()
  let rpcs = 0
  let dataRpcs = 0
  let serviceUsecs = 0
  const bytes = { read_bytes: 0, write_bytes: 0 }
  for (const [name, c] of now) {
    const base = before?.get(name)
    const samples = c.samples - (base?.samples ?? 0)
    if (samples === 0) continue
    if (isBytes(name)) {
      bytes[name as keyof typeof bytes] = c.sum - (base?.sum ?? 0)
      // 2.12 has no read and write counters of their own: there the byte counters carry the RPCs.
      const op = name.slice(0, -6)
      if (now.has(op)) continue
      ops.set(op, samples)
      rpcs += samples
      continue
    }
    ops.set(name, samples)
    rpcs += samples
    if (name === 'read' || name === 'write') {
      dataRpcs += samples
      serviceUsecs += c.sum - (base?.sum ?? 0)
    }
  }
  return { jobId, rpcs, ops, readBytes: bytes.read_bytes, writeBytes: bytes.write_bytes, serviceUsecs, dataRpcs }
}

/** Successive readings of one target. */
export class JobDeltas {
  #before: Map<string, Seen> | undefined

  /**
   * Takes one reading.
   *
   * @returns  jobs with at least one RPC since the reading before; undefined for the first one, which is only the base.
   */
  update(entries: readonly JobEntry[]): JobDelta[] | undefined {
    const before = this.#before
    this.#before = new Map(entries.map((e) => [e.jobId, e]))
    if (!before) return undefined
    return entries
      .filter((e) => before.get(e.jobId)?.counters !== e.counters)
      .map((e) => deltaOf(e, before.get(e.jobId)))
      .filter((d) => d.rpcs > 0)
  }

  /** Forgets the base, after a gap too long to bridge. */
  reset(): void {
    this.#before = undefined
  }
}
