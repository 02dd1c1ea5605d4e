/**
 * What a job did between two readings of job_stats. Counters are never cleared by Sluice; a counter that went down means
 * that somebody else cleared the entry, or that it aged out, and then everything it shows is new.
 */
import type { Counter, JobEntry } from './job-stats.ts'

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
  /** Reads and writes per power-of-two size bin. */
  readonly sizes: ReadonlyMap<number, number>
}

type Seen = ReadonlyMap<string, Counter>

const isBytes = (name: string): boolean => name === 'read_bytes' || name === 'write_bytes'

function deltaOf(jobId: string, now: Seen, before: Seen | undefined): JobDelta {
  const ops = new Map<string, number>()
  const sizes = new Map<number, number>()
  let rpcs = 0
  let dataRpcs = 0
  let serviceUsecs = 0
  const bytes = { read_bytes: 0, write_bytes: 0 }
  for (const [name, c] of now) {
    const old = before?.get(name)
    const base = old && old.samples <= c.samples ? old : undefined
    const samples = c.samples - (base?.samples ?? 0)
    if (samples === 0) continue
    if (isBytes(name)) {
      bytes[name as keyof typeof bytes] = c.sum - (base?.sum ?? 0)
      for (const [bin, n] of c.hist ?? []) {
        const d = n - (base?.hist?.get(bin) ?? 0)
        if (d > 0) sizes.set(bin, (sizes.get(bin) ?? 0) + d)
      }
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
  return { jobId, rpcs, ops, readBytes: bytes.read_bytes, writeBytes: bytes.write_bytes, serviceUsecs, dataRpcs, sizes }
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
    this.#before = new Map(entries.map((e) => [e.jobId, e.counters]))
    if (!before) return undefined
    return entries.map((e) => deltaOf(e.jobId, e.counters, before.get(e.jobId))).filter((d) => d.rpcs > 0)
  }

  /** Forgets the base, after a gap too long to bridge. */
  reset(): void {
    this.#before = undefined
  }
}
