/**
 * The job_stats of one emulated target: counters per job, formatted as by the target's release.
 *
 * Source: spec/lustre 4.1-4.4, measured A1, A6. An entry's text is cached until one of its counters changes, because a console
 * reads the table ten times a second while most jobs are idle.
 */
import { NS_PER_S, NS_PER_US } from '../base/units.ts'
import { formatEntry, joinEntries, MDT_COUNTERS, OST_COUNTERS } from '../lustre/job-stats-print.ts'
import { profile, type Profile } from '../lustre/profile.ts'
import { LiveCounter } from './live-counter.ts'

/** Default seconds until an idle entry is dropped. */
const CLEANUP_SECONDS = 600

export interface JobStatsOptions {
  /** Target type, which determines its counters. */
  readonly target?: 'ost' | 'mdt'
  readonly profile?: Profile
  /** Virtual ns; without it entries never expire. */
  readonly clock?: () => number
}

interface Entry {
  readonly startNs: number
  updatedNs: number
  readonly counters: Map<string, LiveCounter>
  text: string | undefined
}

export class JobStatsTable {
  readonly #entries = new Map<string, Entry>()
  readonly #epochSeconds: number
  readonly #profile: Profile
  readonly #names: readonly string[]
  readonly #known: ReadonlySet<string>
  readonly #clock: () => number
  #showsStart = true
  #idleSeconds = CLEANUP_SECONDS
  #swept = 0

  /** @param epochSeconds  Unix time at virtual time 0. */
  constructor(epochSeconds: number, options: JobStatsOptions = {}) {
    this.#epochSeconds = epochSeconds
    this.#profile = options.profile ?? profile('dev')
    this.#names = (options.target === 'mdt' ? MDT_COUNTERS : OST_COUNTERS)(this.#profile)
    this.#known = new Set(this.#names)
    this.#clock = options.clock ?? (() => 0)
  }

  /** job_cleanup_interval, s; 0 = never. Odd numbers read back as the even one below (measured, js-cleanup). */
  get cleanupSeconds(): number {
    return this.#idleSeconds
  }

  set cleanupSeconds(seconds: number) {
    this.#idleSeconds = 2 * Math.floor(seconds / 2)
  }

  /** True if entries show start_time and elapsed_time (enable_stats_header). */
  get showsStart(): boolean {
    return this.#showsStart
  }

  set showsStart(shown: boolean) {
    if (shown !== this.#showsStart) for (const e of this.#entries.values()) e.text = undefined
    this.#showsStart = shown
  }

  /** Jobs with an entry, in output order. */
  get jobIds(): readonly string[] {
    return [...this.#entries.keys()]
  }

  /**
   * Counts one finished data RPC of a job.
   *
   * @param serviceNs  time from the service thread's start to the reply, without the wait in the NRS.
   */
  countIo(now: number, jobId: string, op: 'read' | 'write', bytes: number, serviceNs: number): void {
    this.#add(now, jobId, op === 'read' ? 'read_bytes' : 'write_bytes', bytes)
    this.count(now, jobId, op, serviceNs)
  }

  /** Counts one finished operation of a job; counters that the release does not have are ignored. */
  count(now: number, jobId: string, counter: string, serviceNs: number): void {
    this.#add(now, jobId, counter, Math.round(serviceNs / NS_PER_US))
  }

  #add(now: number, jobId: string, name: string, value: number): void {
    if (jobId === '') return // no entry is made for an empty job id
    if (!this.#known.has(name)) return
    let e = this.#entries.get(jobId)
    if (!e) {
      e = { startNs: now, updatedNs: now, counters: new Map(), text: undefined }
      this.#entries.set(jobId, e)
    }
    e.updatedNs = now
    e.text = undefined
    let c = e.counters.get(name)
    if (!c) {
      c = new LiveCounter()
      e.counters.set(name, c)
    }
    c.add(value, name.endsWith('_bytes'))
  }

  /** Drops all entries. */
  clear(): void {
    this.#entries.clear()
  }

  /** Drops one entry; false if it does not exist. */
  drop(jobId: string): boolean {
    return this.#entries.delete(jobId)
  }

  /** Value of job_stats. Reading drops expired entries, as closing the file does on servers. */
  read(): string {
    const texts: string[] = []
    for (const [jobId, e] of this.#entries) texts.push((e.text ??= this.#print(jobId, e)))
    const value = joinEntries(texts, this.#profile.text.jobStats)
    this.#sweep()
    return value
  }

  /** Servers sweep idle entries at most every half interval. */
  #sweep(): void {
    const now = this.#clock()
    const idleNs = this.#idleSeconds * NS_PER_S
    if (idleNs === 0 || now - this.#swept < idleNs / 2) return
    this.#swept = now
    for (const [jobId, e] of this.#entries) if (now - e.updatedNs > idleNs) this.#entries.delete(jobId)
  }

  #print(jobId: string, e: Entry): string {
    const { hasStartTime, jobStats } = this.#profile.text
    const times = { snapshot: this.#time(e.updatedNs) }
    const since = { start: this.#time(e.startNs), elapsed: seconds(e.updatedNs - e.startNs) }
    return formatEntry(
      { jobId, times: hasStartTime && this.#showsStart ? { ...times, ...since } : times, counters: e.counters },
      this.#names,
      jobStats,
    )
  }

  #time(ns: number): string {
    const wholeSeconds = Math.floor(ns / NS_PER_S)
    return seconds(ns - wholeSeconds * NS_PER_S, this.#epochSeconds + wholeSeconds)
  }
}

/** Formats a duration, or an offset from whole seconds, as `secs.nsecs`. */
function seconds(ns: number, base = 0): string {
  const wholeSeconds = Math.floor(ns / NS_PER_S)
  return `${base + wholeSeconds}.${String(ns - wholeSeconds * NS_PER_S).padStart(9, '0')}`
}
