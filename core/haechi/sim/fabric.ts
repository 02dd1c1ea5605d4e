/**
 * Network and NICs between clients and a data node: delays, and the station that serves operations.
 *
 * All clients are equally far away, a client NIC issues one operation per 1/C_L, and the node's NIC is one FIFO server with 1/C_G an
 * operation, data I/O or FAA; the cost of an 8-byte report is negligible beside 4 KB (spec/haechi 1).
 */
import { NS_PER_S } from '../../base/units.ts'

export interface Fabric {
  /** One-way delay of a verb, ns. */
  readonly delayNs: number
  /** Delay of a two-sided SEND, and additional delay of each further client's in a row, ns. */
  readonly sendNs: number
  readonly sendEachNs: number
  /** NIC time of a FAA as a share of a data I/O's; below 1 where one simulated I/O represents several. */
  readonly faaShare: number
  /** Time from a check of the monitor to the CAS of its conversion, ns. */
  readonly conversionNs: number
}

export const PAPER_FABRIC: Fabric = { delayNs: 1000, sendNs: 3000, sendEachNs: 200, faaShare: 1, conversionNs: 1000 }

/** Service times in whole ns whose mean is exactly 1/rate: the remainder is carried over. */
export class ServiceTimes {
  #wholeNs = 0
  #restNs = 0
  #rate = 1
  #carry = 0

  constructor(ratePerS: number) {
    this.setRate(ratePerS)
  }

  get rate(): number {
    return this.#rate
  }

  /** @param ratePerS  operations a second, whole, >= 1. */
  setRate(ratePerS: number): void {
    this.#rate = Math.max(1, Math.round(ratePerS))
    this.#wholeNs = Math.floor(NS_PER_S / this.#rate)
    this.#restNs = NS_PER_S % this.#rate
    this.#carry = 0
  }

  /** Service time of a FAA that takes `share` of an operation's. */
  nextFaa(share: number): number {
    return share === 1 ? this.next() : Math.round((share * NS_PER_S) / this.#rate)
  }

  next(): number {
    this.#carry += this.#restNs
    if (this.#carry < this.#rate) return this.#wholeNs
    this.#carry -= this.#rate
    return this.#wholeNs + 1
  }
}

/** The node's NIC: a FIFO server that gets arrivals in order and returns completion times. */
export class FifoStation {
  readonly times: ServiceTimes
  /** [0]: time at which it is free; an array so that writing it allocates nothing. */
  readonly #freeAt = new Float64Array(1)

  constructor(ratePerS: number) {
    this.times = new ServiceTimes(ratePerS)
  }

  /** Returns the completion time of an arrival, ns. It is served at the rate in force when it arrives. */
  serve(arrival: number): number {
    const free = this.#freeAt[0] as number
    const done = (free > arrival ? free : arrival) + this.times.next()
    this.#freeAt[0] = done
    return done
  }

  /** The same for a FAA. */
  serveFaa(arrival: number, share: number): number {
    const free = this.#freeAt[0] as number
    const done = (free > arrival ? free : arrival) + this.times.nextFaa(share)
    this.#freeAt[0] = done
    return done
  }
}
