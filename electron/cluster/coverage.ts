/**
 * What a sample covers: which targets were measured in it, and of which jobs nothing is missing. What was not measured is a gap, and
 * what is left of a job while one of its targets is missing is no more than a lower bound.
 */
import type { JobRegistry } from './job-registry.ts'

/** Targets that a sample could have measured. */
export interface Expected {
  readonly targets: ReadonlySet<string>
  /** Those whose server is still being read: what runs there is not known yet. */
  readonly late: ReadonlySet<string>
  /** A server that is being read for the first time: its targets are not known. */
  readonly hasUnmet: boolean
}

export interface Covered {
  /** Every target was measured. */
  readonly isWhole: boolean
  /** Every target was measured on which the job may have done something. */
  hasAllOf(jobId: string): boolean
}

export class Coverage {
  readonly #jobs: JobRegistry
  /** When each target was last measured. */
  readonly #measuredMs = new Map<string, number>()

  constructor(jobs: JobRegistry) {
    this.#jobs = jobs
  }

  /** Takes the sample at `atMs`. @param measured  targets that have counts in it. */
  of(atMs: number, measured: ReadonlySet<string>, expected: Expected): Covered {
    const missing = [...expected.targets].filter((t) => !measured.has(t))
    const isWhole = missing.length === 0 && !expected.hasUnmet
    const before = new Map(missing.map((t) => [t, this.#measuredMs.get(t) ?? -Infinity]))
    for (const t of measured) this.#measuredMs.set(t, atMs)
    if (isWhole) return { isWhole, hasAllOf: () => true }
    if (measured.size === 0 || expected.hasUnmet) return { isWhole, hasAllOf: () => false }
    const hasAllOf = (jobId: string): boolean => {
      const job = this.#jobs.find(jobId)
      if (!job) return true
      // One that began after the target was last read may be at work there.
      const mayUse = (t: string): boolean =>
        job.targets.has(t) || (expected.late.has(t) && job.firstSeenMs >= (before.get(t) ?? -Infinity))
      return !missing.some(mayUse)
    }
    return { isWhole, hasAllOf }
  }
}
