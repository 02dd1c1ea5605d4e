/** Where jobs become known: in readings of servers, in stages before their first RPC, in records that were restored. */
import type { NodeReading } from './read/collector.ts'
import type { EventLog } from './state/event-log.ts'
import type { JobRegistry } from './state/job-registry.ts'
import type { BatchQueue } from './batch/batch-queue.ts'
import type { RestoredTarget } from './control/target-controllers.ts'

export class JobMeeting {
  readonly #jobs: JobRegistry
  readonly #batch: BatchQueue
  readonly #events: EventLog

  constructor(jobs: JobRegistry, batch: BatchQueue, events: EventLog) {
    this.#jobs = jobs
    this.#batch = batch
    this.#events = events
  }

  /**
   * Jobs that did something in a reading.
   *
   * @returns  whether the batch system should be asked again: one that it did not know two seconds ago may be in its queue by now.
   */
  inReading(reading: NodeReading, atMs: number): boolean {
    let asks = false
    for (const t of reading.targets) {
      for (const d of t.deltas ?? []) {
        const { job, isNew } = this.#jobs.meet(d.jobId, atMs)
        if (isNew) {
          const host = this.#batch.hostOf(d.jobId)
          if (host !== undefined) job.hosts = [host]
          job.describe(this.#batch.find(d.jobId))
          asks ||= job.nodes === undefined
          const where = job.nodes === undefined ? '' : job.nodes === 1 ? '1 node' : `${job.nodes} nodes`
          this.#events.add({ atMs, kind: 'job', level: 'idle', subject: 'Job', text: `${d.jobId} started I/O`, where })
        }
        job.lastActiveMs = atMs
        job.targets.add(t.target)
        job.count(d, t.scale)
      }
    }
    return asks
  }

  /** Jobs whose operations wait in stages are known before their first RPC. */
  inStages(staged: readonly { readonly job: string; readonly asked: number }[], atMs: number): void {
    for (const { job: id, asked } of staged) {
      const { job, isNew } = this.#jobs.meet(id, atMs)
      if (isNew) job.describe(this.#batch.find(id))
      if (asked > 0) job.lastActiveMs = atMs
    }
  }

  /** Jobs of restored records are known, also while they are idle: the records sum to zero over all known jobs. */
  inRecords(restored: readonly RestoredTarget[], atMs: number): void {
    for (const { target, savedMs, jobs } of restored) {
      for (const id of jobs) {
        const { job, isNew } = this.#jobs.meet(id, atMs)
        if (isNew) job.describe(this.#batch.find(id))
        job.targets.add(target)
      }
      const span = Math.max(0, Math.round((atMs - savedMs) / 1000))
      const text = `${jobs.length} ${jobs.length === 1 ? 'record' : 'records'} restored as they stood ${span} s ago`
      this.#events.add({ atMs, kind: 'controller', level: 'ok', subject: 'AdapTBF', text, where: target })
    }
  }
}
