/**
 * Registry of jobs found in blocks: maps each to a slot, which numbers columns over jobs here, and to its name, owner
 * and color.
 */
import type { JobColors } from '#core/series/job-colors.ts'
import type { JobRead, JobsRead, KnownJobs } from '../cluster/cluster-view.ts'
import type { Block, HistoryReader } from '../history/reader.ts'

/** Keys up to here are looked up in an array. */
const DENSE_MAX = 1 << 24
const NO_TARGETS: ReadonlySet<string> = new Set()
const NO_OPS: JobRead['lastSecond'] = { ops: new Map() }

export class RecordedJob implements JobRead {
  readonly key: number
  readonly jobId: string
  readonly firstSeenMs: number
  readonly user: string
  readonly account: string
  readonly nodes: number | undefined
  readonly targets = NO_TARGETS
  readonly lastSecond = NO_OPS
  readonly #jobColors: JobColors

  constructor(key: number, reader: HistoryReader, jobColors: JobColors) {
    const stored = reader.job(key)
    this.key = key
    // The file names a job that it does not describe: its figures are shown under its key.
    this.jobId = stored?.jobId ?? `key ${key}`
    this.firstSeenMs = stored?.firstMs ?? -Infinity
    this.user = stored?.user ?? ''
    this.account = stored?.account ?? ''
    this.nodes = stored?.nodes ?? undefined
    this.#jobColors = jobColors
  }

  get colour(): number {
    return this.#jobColors.of(this.jobId)
  }
}

export class RecordedJobRegistry {
  readonly #reader: HistoryReader
  readonly jobs: RecordedJob[] = []
  readonly #byName = new Map<string, number>()
  /** Slot + 1 by key. */
  #dense = new Int32Array(1024)
  readonly #sparse = new Map<number, number>()
  #names: readonly string[] = []
  readonly #slots = new WeakMap<readonly string[], Int32Array>()
  readonly #latest = new WeakMap<readonly string[], number>()
  readonly #ofBlocks = new WeakMap<Block, Int32Array>()
  /** Keys and slots of the previous block: nearly every block has the same series as its neighbor. */
  #last: { readonly keys: Uint32Array; readonly slots: Int32Array } = {
    keys: new Uint32Array(),
    slots: new Int32Array(),
  }
  /** Time of the first sample, by slot. */
  firstMs = new Float64Array(1024)
  readonly jobColors: JobColors

  /** @param jobColors  colors of the cluster's jobs, so that a job has the same color in every view. */
  constructor(reader: HistoryReader, jobColors: JobColors) {
    this.#reader = reader
    this.jobColors = jobColors
  }

  get size(): number {
    return this.jobs.length
  }

  /** Names by slot; a new array whenever jobs are added. */
  get names(): readonly string[] {
    if (this.#names.length !== this.jobs.length) this.#names = this.jobs.map((j) => j.jobId)
    return this.#names
  }

  /** Slot of a key, assigned if the key is new. */
  slot(key: number): number {
    const known = key < this.#dense.length ? (this.#dense[key] as number) : (this.#sparse.get(key) ?? 0)
    return known > 0 ? known - 1 : this.#meet(key)
  }

  /** -1 for an unknown job. */
  slotOf(jobId: string): number {
    const known = this.#byName.get(jobId)
    if (known !== undefined) return known
    const stored = this.#reader.jobByName(jobId)
    return stored ? this.slot(stored.key) : -1
  }

  /** Slots of names; cached as long as the list exists. */
  slotsOf(names: readonly string[]): Int32Array {
    let slots = this.#slots.get(names)
    if (!slots) {
      slots = Int32Array.from(names, (n) => this.slotOf(n))
      this.#slots.set(names, slots)
    }
    return slots
  }

  /** Time of the first sample of the newest job of a list; Infinity if one of them is unknown. */
  latestOf(names: readonly string[]): number {
    let latest = this.#latest.get(names)
    if (latest === undefined) {
      latest = -Infinity
      for (const slot of this.slotsOf(names))
        latest = Math.max(latest, slot < 0 ? Infinity : (this.firstMs[slot] as number))
      this.#latest.set(names, latest)
    }
    return latest
  }

  /** Slots of the series of a block; registers its new jobs. */
  slotsIn(block: Block): Int32Array {
    let slots = this.#ofBlocks.get(block)
    if (slots) return slots
    const { keys } = block
    const last = this.#last
    let isSame = last.keys.length === keys.length
    for (let i = 0; i < keys.length && isSame; i++) isSame = last.keys[i] === keys[i]
    if (isSame) slots = last.slots
    else {
      slots = new Int32Array(keys.length)
      for (let i = 0; i < keys.length; i++) slots[i] = this.slot(keys[i] as number)
      this.#last = { keys, slots }
    }
    this.#ofBlocks.set(block, slots)
    return slots
  }

  #meet(key: number): number {
    const slot = this.jobs.length
    const job = new RecordedJob(key, this.#reader, this.jobColors)
    if (slot >= this.firstMs.length) {
      const more = new Float64Array(this.firstMs.length * 2)
      more.set(this.firstMs)
      this.firstMs = more
    }
    this.firstMs[slot] = job.firstSeenMs
    this.jobs.push(job)
    this.#byName.set(job.jobId, slot)
    if (key < DENSE_MAX) {
      if (key >= this.#dense.length) {
        const more = new Int32Array(Math.min(DENSE_MAX, Math.max(key + 1, this.#dense.length * 2)))
        more.set(this.#dense)
        this.#dense = more
      }
      this.#dense[key] = slot + 1
    } else this.#sparse.set(key, slot + 1)
    return slot
  }
}

/** Jobs of a past view, as read by views. */
export class RecordedJobs implements JobsRead {
  readonly #registry: RecordedJobRegistry
  readonly #knownAt: (atMs: number) => KnownJobs

  constructor(registry: RecordedJobRegistry, knownAt: (atMs: number) => KnownJobs) {
    this.#registry = registry
    this.#knownAt = knownAt
  }

  get all(): Iterable<JobRead> {
    return this.#registry.jobs
  }

  get size(): number {
    return this.#registry.size
  }

  find(jobId: string): JobRead | undefined {
    return this.#registry.jobs[this.#registry.slotOf(jobId)]
  }

  known(atMs: number): KnownJobs {
    return this.#knownAt(atMs)
  }

  get jobColors(): JobColors {
    return this.#registry.jobColors
  }
}
