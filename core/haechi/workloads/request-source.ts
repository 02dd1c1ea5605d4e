/**
 * Arrival times of a client's requests: the paper's burst and constant rate, and backlogged, Poisson and on/off clients.
 *
 * Times are exact whole ns. A source is polled for its next time; requests are not scheduled as events.
 */
import type { RandomStream } from '../../base/random.ts'
import { NS_PER_S } from '../../base/units.ts'

export type Workload =
  /** All requests of a period at its start. Without `carry`, requests left at the next start are dropped (A17). */
  | { readonly kind: 'burst'; readonly perPeriod: number; readonly carry: boolean }
  /** The requests of a period at equal intervals. */
  | { readonly kind: 'constant'; readonly perPeriod: number; readonly carry: boolean }
  /** There is always a request waiting. */
  | { readonly kind: 'backlogged' }
  | { readonly kind: 'poisson'; readonly perSecond: number }
  /** Equal intervals while on, none while off. */
  | { readonly kind: 'on-off'; readonly onNs: number; readonly offNs: number; readonly perSecond: number }
  | { readonly kind: 'idle' }

/** More than any client serves in a period. */
const ENDLESS = 2 ** 29

export interface SourceTimes {
  /** Start of polling, ns. */
  readonly nowNs: number
  readonly periodNs: number
  /** Offset of the client's periods from the node's, ns: it starts when it has received T1. */
  readonly phaseNs: number
}

export class RequestSource {
  /** Time of the next requests, whole ns; Infinity if none. */
  nextAt = Infinity
  /** True if the last `take` began a period and the requests of the previous one are dropped. */
  drops = false
  readonly #workload: Workload
  readonly #random: RandomStream
  readonly #cycleNs: number
  /** Requests a cycle. */
  readonly #perCycle: number
  #base: number
  #index = 0
  #exact: number

  constructor(workload: Workload, random: RandomStream, { nowNs, periodNs, phaseNs }: SourceTimes) {
    this.#workload = workload
    this.#random = random
    this.#cycleNs = periodNs
    this.#base = Math.ceil(Math.max(0, nowNs - phaseNs) / periodNs) * periodNs + phaseNs
    this.#exact = nowNs
    this.#perCycle = 0
    if (workload.kind === 'on-off') {
      this.#cycleNs = workload.onNs + workload.offNs
      this.#base = nowNs
      this.#perCycle = Math.ceil((workload.perSecond * workload.onNs) / NS_PER_S)
    } else if (workload.kind === 'burst' || workload.kind === 'constant') this.#perCycle = workload.perPeriod
    else if (workload.kind === 'backlogged') this.#perCycle = ENDLESS
    if (workload.kind === 'poisson') this.#nextPoisson(workload.perSecond)
    else if (this.#perCycle > 0) this.nextAt = this.#base
  }

  /** Takes the requests of `nextAt` and advances; returns their number. */
  take(): number {
    const { kind } = this.#workload
    if (kind === 'burst' || kind === 'backlogged') {
      this.drops = kind === 'backlogged' || !this.#workload.carry
      this.#base += this.#cycleNs
      this.nextAt = this.#base
      return this.#perCycle
    }
    if (kind === 'poisson') {
      this.#nextPoisson(this.#workload.perSecond)
      return 1
    }
    this.drops = this.#index === 0 && kind === 'constant' && !this.#workload.carry
    if (++this.#index === this.#perCycle) {
      this.#index = 0
      this.#base += this.#cycleNs
    }
    this.nextAt = this.#base + this.#offset()
    return 1
  }

  #offset(): number {
    if (this.#workload.kind === 'on-off') return Math.floor((this.#index * NS_PER_S) / this.#workload.perSecond)
    return Math.floor((this.#index * this.#cycleNs) / this.#perCycle)
  }

  #nextPoisson(perSecond: number): void {
    this.#exact = perSecond > 0 ? this.#exact + this.#random.exponential(NS_PER_S / perSecond) : Infinity
    this.nextAt = Math.ceil(this.#exact)
  }
}
