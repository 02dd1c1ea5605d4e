/**
 * Repeated reading of one server, never twice at once: a reading starts when the previous one has arrived, and is used
 * by the next sample. A server with its own clock is read by that, and a sample gets the sum of its readings.
 */
import type { NodeCollector } from './collector.ts'
import { ReadingSum } from './reading-sum.ts'
import type { ReadTimeouts } from './timeouts.ts'
import type { NodeReading, Reading } from '../probes/reading.ts'
import type { ReadingTime } from './sampling-period.ts'

/** Readings of a server for one sample, one per role. */
export interface TakenReadings {
  readonly ok: true
  readonly readings: readonly NodeReading[]
  /** Those on which no period of the server's own clock has decided. */
  readonly undecided: readonly NodeReading[]
}

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
  /** Readings by the server's own clock since the last sample. */
  readonly #sum = new ReadingSum()
  /** Set while the server is read by its own clock instead of by samples. */
  hasOwnClock = false

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
    if (this.hasOwnClock || this.#running || (this.#ready && isInStep)) return undefined
    const reading = this.collector.begin(atNs)
    if (!reading) return undefined
    this.#running = this.#run(reading).then(({ read, time }) => {
      // A server is read once, whatever its roles.
      if (read.ok) this.#times.push(time)
      if (!this.#isGivenUp) this.#arrived = read
    })
    return this.#ready ? undefined : this.#running
  }

  /**
   * Reads for one period of the server's own clock.
   *
   * @param periodNs  length of the period.
   * @returns         undefined if a reading is pending, nothing is due, or the samples gave up on it.
   */
  async readPeriod(atNs: number, periodNs: number): Promise<{ read: Reading; time: ReadingTime } | undefined> {
    if (this.#running) return undefined
    const reading = this.collector.begin(atNs, periodNs)
    if (!reading) return undefined
    const ran = this.#run(reading)
    this.#running = ran.then(({ read }) => {
      if (this.#isGivenUp) return
      if (read.ok) this.#sum.add(read.readings)
      else this.#arrived = read
    })
    await this.#running
    return this.#isGivenUp ? undefined : await ran
  }

  async #run(reading: Promise<Reading>): Promise<{ read: Reading; time: ReadingTime }> {
    this.#sinceMs = performance.now()
    this.#isGivenUp = false
    const read = await reading.catch((e: unknown): Reading => ({
      ok: false,
      reason: e instanceof Error ? e.message : String(e),
    }))
    this.#running = undefined
    const tookMs = performance.now() - this.#sinceMs
    this.#tookMs = tookMs
    // Its result is outdated by now.
    if (this.#isGivenUp) this.collector.forgetBase()
    return { read, time: { tookMs, cpuMs: read.ok ? read.readings[0]?.cpuMs : undefined } }
  }

  /** Times of the readings that arrived since the last call, also of those too late to be used. */
  takeTimes(): readonly ReadingTime[] {
    const times = this.#times
    this.#times = []
    return times
  }

  /** Readings that arrived since the last call; 'late' while one is pending, 'idle' if the server was not read. */
  take({ waitMs, silentMs }: ReadTimeouts): TakenReadings | Extract<Reading, { ok: false }> | 'late' | 'idle' {
    const arrived = this.#ready ?? this.#arrived
    if (!this.#sum.isEmpty && !arrived?.ok) {
      // A failure after them belongs to the next sample.
      return { ok: true, readings: this.#sum.take(), undecided: [] }
    }
    if (this.#ready) this.#ready = undefined
    else this.#arrived = undefined
    if (arrived?.ok && !this.#sum.isEmpty) {
      this.#sum.add(arrived.readings)
      return { ok: true, readings: this.#sum.take(), undecided: arrived.readings }
    }
    if (arrived) return arrived.ok ? { ...arrived, undecided: arrived.readings } : arrived
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
