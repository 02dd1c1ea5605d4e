/**
 * Operations of jobs on each metadata server over the last second: the counts of its samples, as far back as they are
 * contiguous. A cycle may begin at any sample and still judges by a second.
 */
import type { OpCounts } from '#core/padll/mds/operations.ts'
import type { NodeReading } from '../read/collector.ts'

type JobCounts = ReadonlyMap<string, OpCounts>

/** Counts of one server, and the seconds that they cover. */
export interface ServerCounts {
  readonly jobs: JobCounts
  readonly spanS: number
}

const NO_OPS: OpCounts = new Map()

/** Operations of each job in one sample of a server, over all of its targets; undefined if unknown. */
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

/** Counts of one sample, and the seconds that it covers. */
interface Counted<T> {
  readonly counts: T
  readonly seconds: number
}

/** Adds a sample, and drops those from the front that the span does not need. */
export function addCounted<T>(list: Counted<T>[], sample: Counted<T>, spanS: number): void {
  list.push(sample)
  // Seconds of many samples do not add up exactly.
  const least = spanS - 1e-6
  while (list.length > 1 && secondsOf(list) - (list[0]?.seconds ?? 0) >= least) list.shift()
}

export const secondsOf = (list: readonly Counted<unknown>[]): number => list.reduce((s, c) => s + c.seconds, 0)

export class MetadataWindow {
  readonly #spanS: number
  readonly #servers = new Map<string, Counted<JobCounts>[]>()

  /** @param spanS  length of the window, s; at least one sample. */
  constructor(spanS: number) {
    this.#spanS = spanS
  }

  /** Adds a sample of a server, of so many seconds; undefined for one without counts, which resets the window. */
  add(host: string, counts: JobCounts | undefined, seconds: number): void {
    const list = this.#servers.get(host) ?? []
    this.#servers.set(host, list)
    if (!counts) list.length = 0
    else addCounted(list, { counts, seconds }, this.#spanS)
  }

  has(host: string): boolean {
    return (this.#servers.get(host)?.length ?? 0) > 0
  }

  /** undefined if the newest sample of a server had no counts. */
  of(host: string): ServerCounts | undefined {
    const list = this.#servers.get(host) ?? []
    if (list.length === 0) return undefined
    const jobs = new Map<string, OpCounts>()
    for (const { counts } of list) {
      for (const [job, ops] of counts) jobs.set(job, sum(jobs.get(job) ?? NO_OPS, ops))
    }
    return { jobs, spanS: secondsOf(list) }
  }
}
