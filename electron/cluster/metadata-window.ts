/**
 * What jobs did on each metadata server over the last second: the counts of its samples, as far back as they follow each
 * other without a gap. A cycle may begin at any sample and still judges by a second.
 */
import { NS_PER_S } from '#core/base/units.ts'
import type { OpCounts } from '#core/padll/mds/operations.ts'
import type { NodeReading } from './collector.ts'

type JobCounts = ReadonlyMap<string, OpCounts>

/** Counts of one server, and the seconds that they cover. */
export interface ServerCounts {
  readonly jobs: JobCounts
  readonly spanS: number
}

const NO_OPS: OpCounts = new Map()

/** What each job did in one sample of a server, all of its targets; undefined where that is not known. */
export function countsOf(reading: NodeReading): JobCounts | undefined {
  const jobs = new Map<string, OpCounts>()
  for (const { deltas, scale } of reading.targets) {
    if (!deltas) return undefined
    for (const d of deltas) {
      const known = jobs.get(d.jobId)
      const ops = scale === 1 ? d.ops : new Map([...d.ops].map(([op, n]) => [op, n * scale] as const))
      jobs.set(d.jobId, known ? sum(known, ops) : ops)
    }
  }
  return jobs
}

function sum(a: OpCounts, b: OpCounts): OpCounts {
  const out = new Map(a)
  for (const [op, n] of b) out.set(op, (out.get(op) ?? 0) + n)
  return out
}

export class MetadataWindow {
  readonly #samples: number
  readonly #periodS: number
  readonly #servers = new Map<string, JobCounts[]>()

  /** @param spanNs  how far back it reaches; at least one sample. */
  constructor(periodNs: number, spanNs: number) {
    this.#samples = Math.max(1, Math.round(spanNs / periodNs))
    this.#periodS = periodNs / NS_PER_S
  }

  /** Samples that it reaches back. */
  get samples(): number {
    return this.#samples
  }

  /** Takes a sample of a server; undefined for one without counts, which ends what went before. */
  add(host: string, counts: JobCounts | undefined): void {
    const list = this.#servers.get(host) ?? []
    this.#servers.set(host, list)
    if (!counts) list.length = 0
    else {
      list.push(counts)
      if (list.length > this.#samples) list.shift()
    }
  }

  has(host: string): boolean {
    return (this.#servers.get(host)?.length ?? 0) > 0
  }

  /** undefined where the newest sample of a server had no counts. */
  of(host: string): ServerCounts | undefined {
    const list = this.#servers.get(host) ?? []
    if (list.length === 0) return undefined
    const jobs = new Map<string, OpCounts>()
    for (const counts of list) {
      for (const [job, ops] of counts) jobs.set(job, sum(jobs.get(job) ?? NO_OPS, ops))
    }
    return { jobs, spanS: list.length * this.#periodS }
  }
}
