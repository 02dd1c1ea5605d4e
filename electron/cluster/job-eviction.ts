/**
 * Drops jobs that were idle for an hour from memory; the history keeps them. First their records are closed: tokens
 * lent or borrowed go to the account of jobs that ended (core/adaptbf/ended-jobs.ts). They stay known until no sample
 * in memory has a record of theirs, so that the records of each sample sum to 0 over the known jobs.
 */
import { ENDED_JOBS } from '#core/adaptbf/ended-jobs.ts'
import type { PairMove } from '#core/adaptbf/pair-accounts.ts'
import type { JobRegistry } from './state/job-registry.ts'
import type { Recent } from './state/recent.ts'
import type { TargetControllers } from './control/target-controllers.ts'

/** An hour. */
const FORGET_MS = 3_600_000

export interface ForgettingParts {
  readonly jobs: JobRegistry
  readonly recent: Recent
  /** Called with the resulting moves between pairs on a target. */
  readonly moved: (sample: number, atMs: number, target: string, moves: readonly PairMove[]) => void
  readonly controllers: Pick<TargetControllers, 'retire'>
  readonly nowNs: () => number
  /** Idle time after which a job is forgotten, ms on the source's clock. */
  readonly afterMs?: number | undefined
}

export class JobEviction {
  readonly #parts: ForgettingParts
  readonly #afterMs: number
  /** Jobs with closed records, and the time of closing. */
  readonly #closed = new Map<string, number>()

  constructor(parts: ForgettingParts) {
    this.#parts = parts
    this.#afterMs = parts.afterMs ?? FORGET_MS
  }

  /**
   * Closes and drops jobs that are due at a sample, before its records are stored: these and the pairs are those after
   * it.
   *
   * @returns  ids of the jobs that were dropped.
   */
  look(sample: number, atMs: number): string[] {
    const ended = this.#toClose(atMs)
    if (ended.size > 0) this.#close(ended, sample, atMs)
    const { jobs, recent } = this.#parts
    const { totals } = recent.raw
    const oldestMs = totals.atMs(totals.oldest)
    const gone = [...this.#closed].filter(([, closedMs]) => closedMs < oldestMs).map(([jobId]) => jobId)
    for (const jobId of gone) {
      this.#closed.delete(jobId)
      jobs.drop(jobId)
    }
    return gone
  }

  #toClose(atMs: number): Set<string> {
    const ended = new Set<string>()
    for (const { jobId, lastActiveMs } of this.#parts.jobs.all) {
      const isIdle = atMs - lastActiveMs > this.#afterMs && jobId !== ENDED_JOBS
      if (!isIdle) this.#closed.delete(jobId)
      else if (!this.#closed.has(jobId)) ended.add(jobId)
    }
    return ended
  }

  #close(ended: ReadonlySet<string>, sample: number, atMs: number): void {
    const { controllers, moved, jobs, nowNs } = this.#parts
    for (const jobId of ended) this.#closed.set(jobId, atMs)
    for (const [target, moves] of controllers.retire(ended, nowNs())) {
      moved(sample, atMs, target, moves)
      // Their remainder is listed with the other records, or these would not sum to 0.
      if (moves.length > 0) jobs.meet(ENDED_JOBS, atMs).job.targets.add(target)
    }
  }
}
