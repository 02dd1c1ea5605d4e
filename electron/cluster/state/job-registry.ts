/** Registry of all jobs seen on the cluster: owner, color, and activity in the last full second. */
import type { BatchJob } from '#core/batch/batch-job.ts'
import type { JobDelta } from '#core/lustre/job-deltas.ts'
import { JobColors } from '#core/series/job-colors.ts'

/** Sums over one second of the source's clock. */
interface SecondOfJob {
  readonly ops: Map<string, number>
  dataRpcs: number
  dataBytes: number
  serviceUsecs: number
}

const newSecond = (): SecondOfJob => ({ ops: new Map(), dataRpcs: 0, dataBytes: 0, serviceUsecs: 0 })

/** Decay of recent reads and writes per second: those of the last half minute weigh most. */
const KEPT_SHARE = 0.9

export class Job {
  readonly jobId: string
  readonly firstSeenMs: number
  user = ''
  account = ''
  nodes: number | undefined
  /** Names of its nodes, as far as known from the batch system or its id. */
  hosts: readonly string[] = []
  /** Time of its last RPC. */
  lastActiveMs: number
  /** Recent reads and writes, each second decaying with age; while the job is idle their ratio is kept. */
  #recentData = { rpcs: 0, bytes: 0 }
  #second = newSecond()
  #lastSecond = newSecond()
  /** Targets on which it was seen. */
  readonly targets = new Set<string>()
  readonly #jobColors: JobColors

  constructor(jobId: string, firstSeenMs: number, jobColors: JobColors) {
    this.jobId = jobId
    this.firstSeenMs = firstSeenMs
    this.lastActiveMs = firstSeenMs
    this.#jobColors = jobColors
  }

  /** Index of its categorical color, 0 = other. */
  get colour(): number {
    return this.#jobColors.of(this.jobId)
  }

  get recentData(): { readonly rpcs: number; readonly bytes: number } {
    return this.#recentData
  }

  get lastSecond(): Readonly<SecondOfJob> {
    return this.#lastSecond
  }

  /** @param scale  factor that scales the counts to one sampling period. */
  count(d: JobDelta, scale = 1): void {
    for (const [op, n] of d.ops) this.#second.ops.set(op, (this.#second.ops.get(op) ?? 0) + n * scale)
    this.#second.dataRpcs += d.dataRpcs * scale
    this.#second.dataBytes += (d.readBytes + d.writeBytes) * scale
    this.#second.serviceUsecs += d.serviceUsecs * scale
  }

  endSecond(): void {
    const { dataRpcs, dataBytes } = this.#second
    if (dataRpcs > 0) {
      const { rpcs, bytes } = this.#recentData
      this.#recentData = { rpcs: KEPT_SHARE * rpcs + dataRpcs, bytes: KEPT_SHARE * bytes + dataBytes }
    }
    this.#lastSecond = this.#second
    this.#second = newSecond()
  }

  describe(s: BatchJob | undefined): void {
    if (!s) return
    this.user = s.user
    this.account = s.account
    this.nodes = s.nodes
    if (s.hosts.length > 0) this.hosts = s.hosts
  }
}

export class JobRegistry {
  readonly #jobs = new Map<string, Job>()
  /** Colors of the jobs of this cluster, also of those that are only in its history. */
  readonly jobColors: JobColors

  /** @param nowMs  clock of the source. */
  constructor(nowMs: () => number = Date.now) {
    this.jobColors = new JobColors({ nowMs, isLiving: (jobId) => this.#jobs.has(jobId) })
  }

  get all(): IterableIterator<Job> {
    return this.#jobs.values()
  }

  get size(): number {
    return this.#jobs.size
  }

  find(jobId: string): Job | undefined {
    return this.#jobs.get(jobId)
  }

  /** Job with this id, registered if new. */
  meet(jobId: string, atMs: number): { job: Job; isNew: boolean } {
    const known = this.#jobs.get(jobId)
    if (known) return { job: known, isNew: false }
    const job = new Job(jobId, atMs, this.jobColors)
    this.#jobs.set(jobId, job)
    return { job, isNew: true }
  }

  drop(jobId: string): void {
    if (this.#jobs.delete(jobId)) this.jobColors.end(jobId)
  }
}
