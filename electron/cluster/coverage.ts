/**
 * Coverage of a sample: the targets that were measured in it, and the jobs whose data are complete. Anything not
 * measured is a gap, and the rest of a job while one of its targets is missing is only a lower bound.
 */
import type { JobRegistry } from './state/job-registry.ts'

/** Targets that were never measured are ignored after this time: jobs count as complete without them, ms. */
export const UNMET_MS = 60_000

/** Targets that a sample could have measured. */
export interface Expected {
  readonly targets: ReadonlySet<string>
  /** Targets whose server is still being read: their current activity is unknown. */
  readonly late: ReadonlySet<string>
  /** Set while a server has not been read yet: its targets are unknown. */
  readonly hasUnmet: boolean
}

export interface Covered {
  /** Every target was measured. */
  readonly isWhole: boolean
  /** True if every target was measured on which the job may have done something. */
  hasAllOf(jobId: string): boolean
}

export class Coverage {
  readonly #jobs: JobRegistry
  /** Time at which each target was last measured, and at which one never measured became known. */
  readonly #measuredMs = new Map<string, number>()
  readonly #metMs = new Map<string, number>()

  constructor(jobs: JobRegistry) {
    this.#jobs = jobs
  }

  /** Processes the sample at `atMs`. @param measured  targets that have counts in it. */
  of(atMs: number, measured: ReadonlySet<string>, expected: Expected): Covered {
    const missing = [...expected.targets].filter((t) => !measured.has(t))
    const isWhole = missing.length === 0 && !expected.hasUnmet
    for (const t of measured) this.#measuredMs.set(t, atMs)
    if (isWhole) return { isWhole, hasAllOf: () => true }
    if (measured.size === 0 || expected.hasUnmet) return { isWhole, hasAllOf: () => false }
    const hasAllOf = (jobId: string): boolean => {
      const job = this.#jobs.find(jobId)
      if (!job) return true
      return !missing.some((t) => job.targets.has(t) || this.#isOpen(t, job.firstSeenMs, atMs, expected.late.has(t)))
    }
    return { isWhole, hasAllOf }
  }

  /** True if a job may be active on a target that was not measured, although it was not seen there. */
  #isOpen(target: string, firstSeenMs: number, atMs: number, isLate: boolean): boolean {
    const measuredMs = this.#measuredMs.get(target)
    // A job that began after the target was last read may be active there.
    if (measuredMs !== undefined) return isLate && firstSeenMs >= measuredMs
    const metMs = this.#metMs.get(target) ?? atMs
    this.#metMs.set(target, metMs)
    return atMs - metMs < UNMET_MS
  }
}
