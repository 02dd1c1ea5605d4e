/** Registry of all jobs seen on the cluster: owner, color, and activity in the last full second. */
import type { BatchJob } from '#core/batch/batch-job.ts'
import type { JobDelta } from '#core/lustre/job-deltas.ts'

/** Sums over one second of the source's clock. */
interface SecondOfJob {
  readonly ops: Map<string, number>
  dataRpcs: number
  dataBytes: number
  serviceUsecs: number
}

const newSecond = (): SecondOfJob => ({ ops: new Map(), dataRpcs: 0, dataBytes: 0, serviceUsecs: 0 })

const COLOURS = 7
/** Decay of recent reads and writes per second: those of the last half minute weigh most. */
const KEPT = 0.9

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
  /** Index of its categorical color, 0 = other. */
  colour = 0
  /** Recent reads and writes, each second decaying with age; while the job is idle their ratio is kept. */
  #recentData = { rpcs: 0, bytes: 0 }
  #second = newSecond()
  #lastSecond = newSecond()
  /** Targets on which it was seen. */
  readonly targets = new Set<string>()

  constructor(jobId: string, firstSeenMs: number) {
    this.jobId = jobId
    this.firstSeenMs = firstSeenMs
    this.lastActiveMs = firstSeenMs
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
      this.#recentData = { rpcs: KEPT * rpcs + dataRpcs, bytes: KEPT * bytes + dataBytes }
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
    const job = new Job(jobId, atMs)
    this.#jobs.set(jobId, job)
    return { job, isNew: true }
  }

  drop(jobId: string): void {
    this.#jobs.delete(jobId)
  }

  /**
   * Assigns colors to the jobs of a chart. A job keeps its color for the session; a new one gets a color that no other
   * job of the chart has.
   */
  colour(top: readonly string[]): void {
    const wanted = top
      .slice(0, COLOURS)
      .map((id) => this.#jobs.get(id))
      .filter((j) => j !== undefined)
    const taken = new Set(wanted.map((j) => j.colour))
    for (const j of wanted) {
      if (j.colour !== 0) continue
      let free = 1
      while (taken.has(free) && free < COLOURS) free++
      if (taken.has(free)) continue
      for (const other of this.#jobs.values()) if (other.colour === free) other.colour = 0
      j.colour = free
      taken.add(free)
    }
  }
}
