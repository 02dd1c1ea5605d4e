/**
 * One server that is read again and again, never twice at once: a reading is begun when the one before has come, and taken by
 * whichever sample comes after it.
 */
import type { NodeCollector } from './collector.ts'
import type { Patience } from './patience.ts'
import type { Reading } from '../probes/reading.ts'
import type { ReadingTime } from './sampling-period.ts'

export class Asked {
  readonly collector: NodeCollector
  #running: Promise<void> | undefined
  /** Wall ms of the question that runs. */
  #sinceMs = 0
  #tookMs = 0
  /** Of readings that nobody has asked for yet. */
  #times: ReadingTime[] = []
  /** The sample that began it was given up on. */
  #isGivenUp = false
  #arrived: Reading | undefined
  /** What an earlier sample asked for, for the one at hand. */
  #ready: Reading | undefined

  constructor(collector: NodeCollector) {
    this.collector = collector
  }

  /** Whether a question is under way. */
  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** For how long a question has been under way, wall ms. */
  get runningMs(): number | undefined {
    return this.#running && performance.now() - this.#sinceMs
  }

  /**
   * Asks, unless a question is under way or nothing is due. A server that answers within the sample is asked in step with it; one that
   * was slower is asked again at once when it has answered, so that every sample has a reading of it, a period old.
   *
   * @returns  when it is answered; undefined where this sample need not wait for it.
   */
  ask(atNs: number, { waitMs }: Patience): Promise<void> | undefined {
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
        // What it read is old by now.
        else this.collector.forgetBase()
      })
    return this.#ready ? undefined : this.#running
  }

  /** What readings took that have come since the last call, also those that came too late to be used. */
  takeTimes(): readonly ReadingTime[] {
    const times = this.#times
    this.#times = []
    return times
  }

  /** What has come since the last call; 'late' while it is waited for, 'idle' when it was not asked. */
  take({ waitMs, silentMs }: Patience): Reading | 'late' | 'idle' {
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
      ? 'an earlier reading is not answered'
      : `no answer for ${Math.round(Math.max(waitedMs, silentMs) / 1000)} s`
    this.#isGivenUp = true
    return { ok: false, reason }
  }
}
