/**
 * Repeated reading of one server, never twice at once: a reading starts when the previous one has arrived, and is used
 * by the next sample.
 */
import type { NodeCollector } from './collector.ts'
import type { ReadTimeouts } from './timeouts.ts'
import type { Reading } from '../probes/reading.ts'
import type { ReadingTime } from './sampling-period.ts'

export class ServerReader {
  readonly collector: NodeCollector
  #running: Promise<void> | undefined
  /** Start of the pending reading, wall ms. */
  #sinceMs = 0
  #tookMs = 0
  /** Times of readings not taken yet. */
  #times: ReadingTime[] = []
  /** Set if the sample that started the reading gave up on it. */
  #isGivenUp = false
  #arrived: Reading | undefined
  /** Reading requested by an earlier sample, for the current one. */
  #ready: Reading | undefined

  constructor(collector: NodeCollector) {
    this.collector = collector
  }

  /** True while a reading is pending. */
  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Duration of the pending reading so far, wall ms. */
  get runningMs(): number | undefined {
    return this.#running && performance.now() - this.#sinceMs
  }

  /**
   * Starts a reading, unless one is pending or nothing is due. A server that answers within the sample is read in step
   * with it; a slower one is read again as soon as it has answered, so that every sample has a reading of it, a period
   * old.
   *
   * @returns  resolves with the answer; undefined if this sample need not wait for it.
   */
  start(atNs: number, { waitMs }: ReadTimeouts): Promise<void> | undefined {
    this.#ready = this.#arrived
    this.#arrived = undefined
    const isInStep = this.#tookMs <= waitMs
    if (this.#running || (this.#ready && isInStep)) return undefined
    const reading = this.collector.begin(atNs)
    if (!reading) return undefined
    this.#sinceMs = performance.now()
    this.#isGivenUp = false
    this.#running = reading
      .catch((e: unknown): Reading => ({ ok: false, reason: e instanceof Error ? e.message : String(e) }))
      .then((r) => {
        this.#running = undefined
        const tookMs = performance.now() - this.#sinceMs
        this.#tookMs = tookMs
        // A server is read once, whatever its roles.
        if (r.ok) this.#times.push({ tookMs, cpuMs: r.readings[0]?.cpuMs })
        if (!this.#isGivenUp) this.#arrived = r
        // Its result is outdated by now.
        else this.collector.forgetBase()
      })
    return this.#ready ? undefined : this.#running
  }

  /** Times of the readings that arrived since the last call, also of those too late to be used. */
  takeTimes(): readonly ReadingTime[] {
    const times = this.#times
    this.#times = []
    return times
  }

  /** Reading that arrived since the last call; 'late' while it is pending, 'idle' if the server was not read. */
  take({ waitMs, silentMs }: ReadTimeouts): Reading | 'late' | 'idle' {
    const ready = this.#ready
    this.#ready = undefined
    if (ready) return ready
    const arrived = this.#arrived
    this.#arrived = undefined
    if (arrived) return arrived
    if (!this.#running) return 'idle'
    const waitedMs = performance.now() - this.#sinceMs
    if (!this.#isGivenUp && waitMs < silentMs && waitedMs < silentMs) return 'late'
    const reason = this.#isGivenUp
      ? 'an earlier reading is still pending'
      : `no answer for ${Math.round(Math.max(waitedMs, silentMs) / 1000)} s`
    this.#isGivenUp = true
    return { ok: false, reason }
  }
}
