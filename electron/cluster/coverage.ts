/**
 * What a sample covers: which targets were measured in it, and of which jobs nothing is missing. What was not measured is a gap, and
 * what is left of a job while one of its targets is missing is no more than a lower bound.
 */
import type { JobRegistry } from './state/job-registry.ts'

/** What was never measured in so long is not waited for any more: jobs count as whole without it, ms. */
export const UNMET_MS = 60_000

/** Targets that a sample could have measured. */
export interface Expected {
  readonly targets: ReadonlySet<string>
  /** Those whose server is still being read: what runs there is not known yet. */
  readonly late: ReadonlySet<string>
  /** A server has not been read yet: its targets are not known. */
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
  /** When each target was last measured, and when one that never was became known. */
  readonly #measuredMs = new Map<string, number>()
  readonly #metMs = new Map<string, number>()

  constructor(jobs: JobRegistry) {
    this.#jobs = jobs
  }

  /** Takes the sample at `atMs`. @param measured  targets that have counts in it. */
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

  /** Whether a job may be at work on a target that was not measured, although it was not seen there. */
  #isOpen(target: string, firstSeenMs: number, atMs: number, isLate: boolean): boolean {
    const measuredMs = this.#measuredMs.get(target)
    // One that began after the target was last read may be at work there.
    if (measuredMs !== undefined) return isLate && firstSeenMs >= measuredMs
    const metMs = this.#metMs.get(target) ?? atMs
    this.#metMs.set(target, metMs)
    return atMs - metMs < UNMET_MS
  }
}
