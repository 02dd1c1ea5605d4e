/**
 * The job_stats of one emulated target: counters per job, printed as the development line of Lustre prints them.
 *
 * Source: spec/lustre 4.1, 4.3, 4.4. An entry's text is kept until one of its counters moves, because a console reads the
 * table ten times a second while most jobs are idle.
 */
import { NS_PER_S, NS_PER_US } from '../base/units.ts'
import { formatCounter, formatEntryHead, OST_COUNTERS, type OstCounter } from '../lustre/job-stats-print.ts'
import { LiveCounter } from './live-counter.ts'

const EMPTY_LINES = new Map(OST_COUNTERS.map((name) => [name, formatCounter(name, undefined)]))

interface Entry {
  readonly startNs: number
  updatedNs: number
  readonly counters: Map<OstCounter, LiveCounter>
  text: string | undefined
}

export class JobStatsTable {
  readonly #entries = new Map<string, Entry>()
  readonly #epochSeconds: number

  /** @param epochSeconds  Unix time at virtual time 0. */
  constructor(epochSeconds: number) {
    this.#epochSeconds = epochSeconds
  }

  /**
   * Counts one finished data RPC of a job.
   *
   * @param serviceNs  time from the service thread's start to the reply; the wait in the NRS is not part of it.
   */
  countIo(now: number, jobId: string, op: 'read' | 'write', bytes: number, serviceNs: number): void {
    if (jobId === '') return // no entry is made for an empty job id
    let e = this.#entries.get(jobId)
    if (!e) {
      e = { startNs: now, updatedNs: now, counters: new Map(), text: undefined }
      this.#entries.set(jobId, e)
    }
    e.updatedNs = now
    e.text = undefined
    this.#counter(e, op === 'read' ? 'read_bytes' : 'write_bytes').add(bytes, true)
    this.#counter(e, op).add(Math.round(serviceNs / NS_PER_US), false)
  }

  #counter(e: Entry, name: OstCounter): LiveCounter {
    let c = e.counters.get(name)
    if (!c) {
      c = new LiveCounter()
      e.counters.set(name, c)
    }
    return c
  }

  /** Drops all entries (`clear`) or one; false when there is no such job. */
  drop(jobId: string): boolean {
    if (jobId !== 'clear') return this.#entries.delete(jobId)
    this.#entries.clear()
    return true
  }

  /** Value of job_stats; no bytes at all while no job was seen. */
  read(): string {
    if (this.#entries.size === 0) return ''
    const parts = ['job_stats:\n']
    for (const [jobId, e] of this.#entries) parts.push((e.text ??= this.#print(jobId, e)))
    // Joined, not added up: a string of a thousand additions is flattened slowly by whoever reads it.
    return parts.join('')
  }

  #print(jobId: string, e: Entry): string {
    const parts = [
      formatEntryHead(jobId, this.#time(e.updatedNs), this.#time(e.startNs), seconds(e.updatedNs - e.startNs)),
    ]
    for (const name of OST_COUNTERS) {
      const c = e.counters.get(name)
      parts.push(c ? formatCounter(name, c) : (EMPTY_LINES.get(name) as string))
    }
    return parts.join('')
  }

  #time(ns: number): string {
    const whole = Math.floor(ns / NS_PER_S)
    return seconds(ns - whole * NS_PER_S, this.#epochSeconds + whole)
  }
}

/** `secs.nsecs` of a duration or of an offset from whole seconds. */
function seconds(ns: number, base = 0): string {
  const whole = Math.floor(ns / NS_PER_S)
  return `${base + whole}.${String(ns - whole * NS_PER_S).padStart(9, '0')}`
}
