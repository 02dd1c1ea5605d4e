/**
 * Time of readings on the console's clock. The middle of an exchange is wrong by up to half of its duration, which on a slow network is
 * longer than a reading. The streaming reader reports the server's uptime, which limits the error: both clocks are monotonic, so their
 * difference is the same in all exchanges, and the quickest exchanges determine it.
 *
 * Source: RFC 5905, clock filter. Deviations: bounds instead of an estimate; the drift of the clocks over the window is neglected.
 */
import { NS_PER_MS } from '#core/base/units.ts'
import type { StreamTimes } from '../probes/reading.ts'

/** Exchanges that determine the difference of the clocks: half a minute at 500 ms, in which clocks drift by about 1 ms. */
const WINDOW = 64
/** Step of the server's uptime, ns: it is rounded down to 10 ms. */
const STEP_NS = 10 * NS_PER_MS

/** Bounds of the console's time less the server's uptime, ns. */
interface Bounds {
  readonly leastNs: number
  readonly mostNs: number
}

export class ServerClock {
  readonly #exchanges: Bounds[] = []
  #uptimeMs = 0

  /**
   * Returns the time of a reading on the console's clock, ns: the middle of its duration on the server.
   *
   * @param fromNs  time of sending the request.
   * @param toNs    time of the last byte of the answer.
   */
  timeOf({ uptimeMs, tookMs }: Pick<StreamTimes, 'uptimeMs' | 'tookMs'>, fromNs: number, toNs: number): number {
    // The server was restarted: its uptime begins again.
    if (uptimeMs < this.#uptimeMs) this.#exchanges.length = 0
    this.#uptimeMs = uptimeMs
    const uptimeNs = uptimeMs * NS_PER_MS
    // The reading began after the request was sent, and so long before the answer arrived as it took. Its duration is a difference of
    // two rounded times: it may have been shorter by a step.
    const latestNs = Math.max(fromNs, toNs - Math.max(0, tookMs * NS_PER_MS - STEP_NS))
    this.#exchanges.push({ leastNs: fromNs - uptimeNs - STEP_NS, mostNs: latestNs - uptimeNs })
    if (this.#exchanges.length > WINDOW) this.#exchanges.shift()
    const leastNs = Math.max(...this.#exchanges.map((e) => e.leastNs))
    const mostNs = Math.min(...this.#exchanges.map((e) => e.mostNs))
    // A clock that was stepped, or a server that was suspended: only this exchange counts.
    if (leastNs > mostNs) this.#exchanges.splice(0, this.#exchanges.length - 1)
    const isConsistent = leastNs <= mostNs
    const beganFromNs = isConsistent ? Math.max(fromNs, uptimeNs + leastNs) : fromNs
    const beganToNs = isConsistent ? Math.min(latestNs, uptimeNs + STEP_NS + mostNs) : latestNs
    const middleNs = (beganFromNs + beganToNs) / 2 + Math.min(tookMs * NS_PER_MS, toNs - fromNs) / 2
    return Math.round(Math.min(toNs, middleNs))
  }

  /** Discards all exchanges, after a gap: the server may be another one. */
  reset(): void {
    this.#exchanges.length = 0
    this.#uptimeMs = 0
  }
}
