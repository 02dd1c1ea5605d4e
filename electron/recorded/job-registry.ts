/**
 * Registry of jobs found in blocks: maps each to a slot, which numbers columns over jobs here, and to its name, owner
 * and color.
 */
import type { JobRead, JobsRead, KnownJobs } from '../cluster/cluster-view.ts'
import type { Block, HistoryReader } from '../history/reader.ts'

/** Keys up to here are looked up in an array. */
const DENSE_MAX = 1 << 24
const INKS = 7
const NO_TARGETS: ReadonlySet<string> = new Set()
const NO_OPS: JobRead['lastSecond'] = { ops: new Map() }

export class RecordedJob implements JobRead {
  readonly key: number
  readonly jobId: string
  readonly firstSeenMs: number
  readonly user: string
  readonly account: string
  readonly nodes: number | undefined
  colour = 0
  readonly targets = NO_TARGETS
  readonly lastSecond = NO_OPS

  constructor(key: number, reader: HistoryReader) {
    const kept = reader.job(key)
    this.key = key
    // The file names a job that it does not describe: its figures are shown under its key.
    this.jobId = kept?.jobId ?? `key ${key}`
    this.firstSeenMs = kept?.firstMs ?? -Infinity
    this.user = kept?.user ?? ''
    this.account = kept?.account ?? ''
    this.nodes = kept?.nodes ?? undefined
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
  /** Colors that jobs have elsewhere, so that a job has the same color in every view. */
  readonly #inkOf: (jobId: string) => number

  constructor(reader: HistoryReader, inkOf: (jobId: string) => number = () => 0) {
    this.#reader = reader
    this.#inkOf = inkOf
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
    const kept = this.#reader.jobByName(jobId)
    return kept ? this.slot(kept.key) : -1
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
    const job = new RecordedJob(key, this.#reader)
    if (slot >= this.firstMs.length) {
      const more = new Float64Array(this.firstMs.length * 2)
      more.set(this.firstMs)
      this.firstMs = more
    }
    this.firstMs[slot] = job.firstSeenMs
    job.colour = this.#inkOf(job.jobId)
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

  /** Assigns colors to the jobs of a chart, unique within the chart. */
  colour(top: readonly string[]): void {
    const wanted = top.slice(0, INKS).flatMap((id) => this.jobs[this.slotOf(id)] ?? [])
    const taken = new Set<number>()
    for (const j of wanted) {
      if (taken.has(j.colour)) j.colour = 0
      if (j.colour !== 0) taken.add(j.colour)
    }
    for (const j of wanted) {
      if (j.colour !== 0) continue
      let free = 1
      while (taken.has(free) && free < INKS) free++
      for (const other of this.jobs) if (other.colour === free) other.colour = 0
      j.colour = free
      taken.add(free)
    }
  }
}

/** Jobs of a past view, as read by views. */
export class RecordedJobs implements JobsRead {
  readonly #book: RecordedJobRegistry
  readonly #knownAt: (atMs: number) => KnownJobs

  constructor(book: RecordedJobRegistry, knownAt: (atMs: number) => KnownJobs) {
    this.#book = book
    this.#knownAt = knownAt
  }

  get all(): Iterable<JobRead> {
    return this.#book.jobs
  }

  get size(): number {
    return this.#book.size
  }

  find(jobId: string): JobRead | undefined {
    return this.#book.jobs[this.#book.slotOf(jobId)]
  }

  known(atMs: number): KnownJobs {
    return this.#knownAt(atMs)
  }

  colour(top: readonly string[]): void {
    this.#book.colour(top)
  }
}
